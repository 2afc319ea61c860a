/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/tracepoint.h"

#include <errno.h>
#include <event-parse.h>
#include <fnmatch.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "base/buffer.h"

/* Its files are for root and one group. */
static int denied(const char *dir, struct mew_error *error)
{
	return mew_error_set(error, -EACCES,
			     "cannot read tracefs at '%s' (allow it by: sudo mount -o "
			     "remount,mode=750,gid=$(id -g) '%s')",
			     dir, dir);
}

/*
 * Where tracefs is mounted. libtracefs would mount it when it is not, so that a listing changed the
 * machine: it is told the place instead.
 */
static int find_dir(char *buf, size_t cap, struct mew_error *error)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	char line[4096], events[2048];
	struct mntent m;
	int n = -1;

	while (f && getmntent_r(f, &m, line, sizeof(line))) {
		if (strcmp(m.mnt_type, "tracefs"))
			continue;
		n = snprintf(buf, cap, "%s", m.mnt_dir);
		break;
	}
	if (f)
		endmntent(f);
	if (n < 0 || (size_t)n >= cap)
		return mew_error_set(error, -ENOENT,
				     "tracefs is not mounted (mount it by: sudo mount -t tracefs "
				     "tracefs /sys/kernel/tracing)");
	snprintf(events, sizeof(events), "%s/events", buf);
	return access(events, R_OK | X_OK) ? denied(buf, error) : 0;
}

/* The event with its fields, in a handle that the caller frees by tep_free. NULL when its format
 * cannot be read. */
static struct tep_event *read_event(const char *system, const char *event,
				    struct tep_handle **ret_tep)
{
	struct tep_event *found = NULL;
	struct tep_handle *tep;
	int len = 0;
	char *text = tracefs_event_file_read(NULL, system, event, "format", &len);

	tep = text ? tep_alloc() : NULL;
	if (tep) {
		tep_set_loglevel(TEP_LOG_NONE);
		tep_parse_event(tep, text, (unsigned long)len, system);
		found = tep_find_event_by_name(tep, system, event);
	}
	free(text);
	if (found)
		*ret_tep = tep;
	else
		tep_free(tep);
	return found;
}

/* Both are pieces of a path. */
static int is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

int mew_tracepoint_find(const char *system, const char *event, uint64_t *ret_id,
			struct mew_error *error)
{
	struct tep_handle *tep;
	struct tep_event *e;
	char dir[1024], format[2048];
	int rc = find_dir(dir, sizeof(dir), error);

	if (rc)
		return rc;
	tracefs_set_loglevel(TEP_LOG_NONE);
	if (!is_name(system) || !is_name(event) || tracefs_set_tracing_dir(dir))
		return mew_error_set(error, -ENXIO, "no event is called '%s:%s'", system, event);
	e = read_event(system, event, &tep);
	if (!e) {
		snprintf(format, sizeof(format), "%s/events/%s/%s/format", dir, system, event);
		if (access(format, R_OK) && errno == EACCES)
			return denied(dir, error);
		return mew_error_set(error, -ENXIO, "no event is called '%s:%s'", system, event);
	}
	*ret_id = (uint64_t)e->id;
	tep_free(tep);
	return 0;
}

/* "tracepoint: prev_comm prev_pid next_comm" */
static void summarise(const struct tep_event *e, struct mew_buffer *out)
{
	mew_buffer_reset(out);
	mew_buffer_puts(out, e->format.fields ? "tracepoint:" : "tracepoint");
	for (const struct tep_format_field *f = e->format.fields; f; f = f->next)
		mew_buffer_printf(out, " %s", f->name);
}

static int list_event(const char *glob, const char *system, const char *event,
		      struct mew_buffer *summary, mew_event_name_fn fn, void *arg)
{
	struct tep_handle *tep;
	struct tep_event *e;
	char name[512];
	int n = snprintf(name, sizeof(name), "%s:%s", system, event);

	if (n < 0 || (size_t)n >= sizeof(name) || (glob && fnmatch(glob, name, 0)))
		return 0;
	e = read_event(system, event, &tep);
	if (!e) /* no event: the system's filter files */
		return 0;
	summarise(e, summary);
	if (!summary->error)
		fn(arg, name, summary->data);
	tep_free(tep);
	return summary->error;
}

int mew_tracepoint_list(const char *glob, mew_event_name_fn fn, void *arg, struct mew_error *error)
{
	struct mew_buffer summary = MEW_BUFFER_INIT;
	char dir[1024], **systems, **events;
	int rc = find_dir(dir, sizeof(dir), error);

	if (rc)
		return rc;
	tracefs_set_loglevel(TEP_LOG_NONE);
	if (tracefs_set_tracing_dir(dir) || !(systems = tracefs_event_systems(NULL)))
		return mew_error_set(error, -EACCES, "cannot read tracefs at '%s'", dir);
	for (char **s = systems; *s && !rc; s++) {
		events = tracefs_system_events(NULL, *s);
		for (char **e = events; e && *e && !rc; e++)
			rc = list_event(glob, *s, *e, &summary, fn, arg);
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	mew_buffer_done(&summary);
	return rc ? mew_error_errno(error, rc, "cannot list tracepoints") : 0;
}
