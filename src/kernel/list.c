/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "kernel/event.h"
#include "kernel/pfm.h"
#include "kernel/spec.h"
#include "kernel/tracepoint.h"

struct list {
	const char *glob;
	mew_event_name_fn fn;
	void *arg;
};

/* Whether this machine has the event. A right that is missing is no answer: it is listed. */
static int is_there(const struct mew_spec *spec)
{
	struct perf_event_attr attr = spec->what;
	int fd;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	attr.sample_period = 1 << 20;
	fd = mew_event_open(&attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM || fd == -ENOSYS;
}

static void list_perf(void *arg, const char *name)
{
	const struct list *l = arg;
	struct mew_spec spec;

	if ((l->glob && fnmatch(l->glob, name, 0)) ||
	    mew_spec_parse(name, NULL, NULL, &spec, NULL) || !is_there(&spec))
		return;
	l->fn(l->arg, name,
	      spec.what.type == PERF_TYPE_SOFTWARE   ? "software event"
	      : spec.what.type == PERF_TYPE_HW_CACHE ? "hardware cache event"
						     : "hardware event");
}

int mew_event_list(const char *glob, mew_event_name_fn fn, void *arg, struct mew_error *error)
{
	struct list l = {glob, fn, arg};
	int rc;

	mew_spec_each(list_perf, &l);
	rc = mew_pfm_list(glob, fn, arg, error);
	if (rc)
		return rc;
	rc = mew_tracepoint_list(glob, fn, arg, error);
	/* Without tracefs there is nothing to list, and that is no failure. */
	return rc == -ENOENT || rc == -EACCES ? 0 : rc;
}
