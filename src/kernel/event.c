/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/nearest.h"
#include "kernel/pfm.h"
#include "kernel/pmu.h"
#include "kernel/rate.h"
#include "kernel/regs.h"
#include "kernel/ring.h"
#include "kernel/spec.h"
#include "kernel/sysctl.h"
#include "kernel/tracepoint.h"

/* Linux 6.0 and later; an older header does not know it. */
#define FORMAT_LOST (1u << 4)

#define COMPANION_PERIOD_NS 1000000

int mew_event_open(const struct perf_event_attr *attr, int pid, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* 0 when the event opens on ourselves, or -errno. */
static int try_open(const struct perf_event_attr *attr)
{
	int fd = mew_event_open(attr, 0, -1, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int read_sysfs(void *arg, const char *path, char *buf, size_t cap)
{
	char full[512];
	int n = snprintf(full, sizeof(full), MEW_PMU_DIR "/%s", path);

	(void)arg;
	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENAMETOOLONG;
	return mew_sysfs_read(full, buf, cap);
}

/* What all of ours share: they are disabled, and their time is the clock of the window. */
static void fill_common(struct perf_event_attr *attr, uint64_t sample_type, uint32_t ring_bytes)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->sample_type = sample_type;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = ring_bytes / 8;
}

static void fill_counted(struct perf_event_attr *attr, uint64_t sample_type)
{
	fill_common(attr, sample_type | PERF_SAMPLE_READ, MEW_RING_BYTES);
	attr->read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | FORMAT_LOST;
}

static void fill_sampling(struct perf_event_attr *attr, const struct perf_event_attr *what,
			  uint64_t period, uint32_t stack_bytes)
{
	*attr = *what;
	fill_counted(attr, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr->sample_period = period;
	attr->sample_regs_user = MEW_REGS_MASK;
	attr->sample_stack_user = stack_bytes;
}

/* The kernel's frames, of who asked for the kernel's side; the program's are walked by us. */
static void add_kernel_frames(struct perf_event_attr *attr, const struct mew_spec *spec)
{
	if (!spec->side_given || spec->what.exclude_kernel)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = 1;
}

static void fill_dummy(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	fill_common(attr, PERF_SAMPLE_TID | PERF_SAMPLE_TIME, MEW_RING_DUMMY_BYTES);
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->context_switch = 1;
	attr->task = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
}

static void fill_companion(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	fill_counted(attr, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	attr->sample_period = COMPANION_PERIOD_NS;
}

static enum mew_event_kind kind_of(const struct mew_spec *spec)
{
	const struct perf_event_attr *what = &spec->what;

	if (what->type == PERF_TYPE_SOFTWARE)
		return what->config == PERF_COUNT_SW_CPU_CLOCK ||
				       what->config == PERF_COUNT_SW_TASK_CLOCK
			       ? MEW_EVENT_CLOCK
			       : MEW_EVENT_OTHER;
	if (what->type == PERF_TYPE_TRACEPOINT || what->type == PERF_TYPE_BREAKPOINT ||
	    !strncmp(spec->shown, "uprobe/", 7) || !strncmp(spec->shown, "kprobe/", 7))
		return MEW_EVENT_OTHER;
	return MEW_EVENT_HARDWARE;
}

/* system:event[:modifiers] */
static int find_tracepoint(const char *name, struct mew_spec *ret, struct mew_error *error)
{
	char system[MEW_SPEC_NAME_BYTES];
	struct mew_spec spec = {.what = {.type = PERF_TYPE_TRACEPOINT}};
	char *event, *modifiers;
	uint64_t id;
	int rc;

	snprintf(system, sizeof(system), "%s", name); /* mew_spec_parse has seen that it fits */
	event = strchr(system, ':');
	if (!event)
		return mew_error_set(error, -ENXIO, "no event is called '%s'", name);
	*event++ = '\0';
	modifiers = strchr(event, ':');
	if (modifiers)
		*modifiers++ = '\0';
	rc = mew_tracepoint_find(system, event, &id, error);
	if (rc == -ENOENT || rc == -EACCES)
		mew_error_prefix(error, "no event is called '%s' without tracefs, and ", name);
	if (rc)
		return rc;
	spec.what.config = id;
	rc = mew_spec_modify(modifiers ? modifiers : "", &spec, error);
	if (!rc)
		rc = mew_spec_show(&spec, name, (size_t)(event - system) + strlen(event), ":",
				   modifiers ? modifiers : "", error);
	if (!rc)
		rc = mew_spec_settle(&spec, error);
	if (!rc)
		*ret = spec;
	return rc;
}

/* perf's names, then libpfm4's, then tracepoints. */
static int find(const char *name, struct mew_spec *ret, struct mew_error *error)
{
	char nearest[MEW_SPEC_NAME_BYTES];
	int rc = mew_spec_parse(name, read_sysfs, NULL, ret, error);

	if (rc == -ENOENT)
		rc = mew_pfm_find(name, ret, error);
	if (rc == -ENOENT && !mew_event_nearest(name, nearest, sizeof(nearest)))
		return mew_error_set(error, -ENXIO, "no event is called '%s'; did you mean '%s'?",
				     name, nearest);
	if (rc == -ENOENT || (!rc && ret->what.type == PERF_TYPE_TRACEPOINT))
		rc = find_tracepoint(name, ret, error);
	return rc;
}

/* cycles where the machine really counts them, on every kind of core; else the clock. */
static int find_default(struct mew_spec *ret, struct mew_error *error)
{
	struct mew_spec cycles;
	double hz = 0;

	if (!mew_spec_parse("cycles", read_sysfs, NULL, &cycles, NULL) &&
	    !mew_spec_hybrid(&cycles, read_sysfs, NULL) && !mew_rate_measure(&cycles.what, &hz) &&
	    hz > 0) {
		*ret = cycles;
		return 0;
	}
	return mew_spec_parse("cpu-clock", read_sysfs, NULL, ret, error);
}

/* Events of which even the shortest spin has some. */
static int never_rests(const struct perf_event_attr *what)
{
	return what->type == PERF_TYPE_HARDWARE && !what->exclude_user &&
	       ((uint32_t)what->config == PERF_COUNT_HW_CPU_CYCLES ||
		(uint32_t)what->config == PERF_COUNT_HW_INSTRUCTIONS);
}

static int hardware_period(const struct mew_spec *spec, double interval_s, struct mew_event *e,
			   uint64_t *ret, struct mew_error *error)
{
	double hz = 0;
	int rc = mew_rate_measure(&spec->what, &hz);

	if (rc) {
		mew_event_explain(rc, spec->shown, error);
		return rc;
	}
	if (hz <= 0 && never_rests(&spec->what))
		return mew_error_set(error, -ENOENT,
				     "event '%s' is not counting on this machine (it opens, and "
				     "stays at 0)",
				     spec->shown);
	e->rate_hz = hz;
	*ret = mew_rate_period(hz, interval_s);
	return 0;
}

static int clock_period(double interval_s, uint64_t count, uint64_t *ret, struct mew_error *error)
{
	double ns = count ? (double)count : interval_s * 1e9;

	if (ns + 0.5 < MEW_CLOCK_PERIOD_MIN_NS)
		return mew_error_set(error, -EINVAL,
				     "the interval is shorter than the kernel's clocks sample: "
				     "%d us",
				     MEW_CLOCK_PERIOD_MIN_NS / 1000);
	*ret = count ? count : (uint64_t)(ns + 0.5);
	return 0;
}

static int find_period(struct mew_event *e, const struct mew_spec *spec, double interval_s,
		       uint64_t count, uint64_t *ret, struct mew_error *error)
{
	enum mew_event_kind kind = e->kind;

	if (!count)
		count = spec->what.sample_period; /* from the name */
	e->by_interval = !count && kind == MEW_EVENT_HARDWARE;
	if (!count && kind != MEW_EVENT_OTHER && !(interval_s > 0 && interval_s <= 3600))
		return mew_error_set(error, -EINVAL, "the interval is not between 0 and 3600 s");
	if (kind == MEW_EVENT_CLOCK)
		return clock_period(interval_s, count, ret, error);
	if (kind == MEW_EVENT_HARDWARE && !count)
		return hardware_period(spec, interval_s, e, ret, error);
	if (count >> 63)
		return mew_error_set(error, -EINVAL, "a period is below 2^63");
	*ret = count ? count : 1;
	return 0;
}

/* Open on trial, and leave out what this kernel does not know. */
static int settle_sampling(struct mew_event *e, int precise_max)
{
	int rc = -EINVAL;

	for (int precise = precise_max ? 3 : e->attr.precise_ip; precise >= 0; precise--) {
		e->attr.precise_ip = (unsigned)precise & 3;
		rc = try_open(&e->attr);
		if (!precise_max || (rc != -EINVAL && rc != -EOPNOTSUPP))
			break;
	}
	return rc;
}

static int settle(struct mew_event *e, int precise_max, struct mew_error *error)
{
	int rc = settle_sampling(e, precise_max);

	if (rc == -EINVAL) {
		e->attr.read_format &= ~(uint64_t)FORMAT_LOST;
		rc = settle_sampling(e, precise_max);
	}
	if (rc) {
		mew_event_explain(rc, e->name, error);
		return rc;
	}
	if (e->kind != MEW_EVENT_CLOCK) {
		fill_companion(&e->clock);
		e->clock.read_format = e->attr.read_format;
	}
	return 0;
}

int mew_event_resolve(const char *name, double interval_s, uint64_t count, uint32_t stack_bytes,
		      struct mew_event *ret, struct mew_error *error)
{
	struct mew_event e = {.kind = MEW_EVENT_CLOCK};
	struct mew_spec spec;
	uint64_t period = 0;
	int rc;

	if (!stack_bytes)
		stack_bytes = MEW_STACK_BYTES_DEFAULT;
	if (stack_bytes % 8 || stack_bytes >= 65535)
		return mew_error_set(error, -EINVAL,
				     "a stack copy of %u bytes is not a multiple of 8 below 64 KiB",
				     stack_bytes);
	rc = name ? find(name, &spec, error) : find_default(&spec, error);
	if (rc)
		return rc;
	if (name)
		mew_spec_hybrid(&spec, read_sysfs, NULL);
	e.kind = kind_of(&spec);
	rc = find_period(&e, &spec, interval_s, count, &period, error);
	if (rc)
		return rc;
	snprintf(e.name, sizeof(e.name), "%s", spec.shown);
	fill_sampling(&e.attr, &spec.what, period, stack_bytes);
	add_kernel_frames(&e.attr, &spec);
	fill_dummy(&e.dummy);
	rc = settle(&e, spec.precise_max, error);
	if (!rc)
		*ret = e;
	return rc;
}

int mew_event_permitted(struct mew_error *error)
{
	struct perf_event_attr attr;
	int rc;

	fill_companion(&attr);
	attr.read_format = 0;
	rc = try_open(&attr);
	if (rc)
		mew_event_explain(rc, "cpu-clock:u", error);
	return rc;
}
