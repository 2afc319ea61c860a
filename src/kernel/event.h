/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h: from an event's name (perf's spelling, libpfm4's, or a tracepoint) to a struct
 * perf_event_attr, and the attrs that a run needs. Opens events for whole programs; a benchmark
 * opens its own. libpfm4, libtraceevent and perf_event_open are named in this part only.
 */
#ifndef MEW_KERNEL_EVENT_H
#define MEW_KERNEL_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>
#include "base/error.h"

enum mew_event_kind {
	MEW_EVENT_CLOCK,    /* cpu-clock, task-clock: the period is ns of CPU time; a weight is the
			       period */
	MEW_EVENT_HARDWARE, /* counts stop in the kernel: needs the companion clock for kernel_time;
			       DISABLE in pauses */
	MEW_EVENT_OTHER,    /* other software events, tracepoints: a sample is an occurrence */
};

struct mew_event {
	enum mew_event_kind kind;
	char name[128];  /* as shown: "cpu-clock:u", "cycles:u", "sched:sched_switch" */
	int by_interval; /* HARDWARE: no count was given, the period follows from the time between
			    samples and the rate */
	double rate_hz;  /* then: occurrences a second of CPU time, measured on ourselves */
	struct perf_event_attr
		attr; /* sampling: regs, stack copy, TID, TIME, READ, CLOCK_MONOTONIC; disabled.
			 With the kernel's frames (CALLCHAIN) if the name has the modifier k */
	struct perf_event_attr
		dummy; /* SWITCH, FORK/EXIT, MMAP2, COMM records; never disabled by a pause */
	struct perf_event_attr clock; /* HARDWARE and OTHER: companion cpu-clock:u, sampling without
					 stack copy; else .size is 0 */
};

#define MEW_STACK_BYTES_DEFAULT 8192
#define MEW_CLOCK_PERIOD_MIN_NS 10000 /* the kernel samples its clocks no faster */

/*
 * Fill ret for the event named name; NULL: cycles:u where the machine counts them (tried by opening
 * one), else cpu-clock:u. A name that is given never falls back: error says why it cannot be
 * sampled here. interval_s: time between samples, converted to the event's period (HARDWARE: by a
 * frequency measured or estimated; OTHER: every occurrence, or the count given). count: 0, or the
 * exact period (wins over interval). stack_bytes: of the user stack copy, a multiple of 8 below 64
 * KiB; 0: MEW_STACK_BYTES_DEFAULT. Errors: -ENXIO no event of that name, -EINVAL a fault in it,
 * -ENOENT not on this machine, -EACCES/-EPERM not permitted (the text names
 * kernel.perf_event_paranoid and its present value), -ENOSYS.
 */
int mew_event_resolve(const char *name, double interval_s, uint64_t count, uint32_t stack_bytes,
		      struct mew_event *ret, struct mew_error *error);

/* May an ordinary event be opened at all (cpu-clock:u on ourselves)? 0, or -errno with the sysctl
 * and its value, the container hint. */
int mew_event_permitted(struct mew_error *error);

/* List event names that match glob (NULL: all), one call each: tracepoints included where tracefs
 * can be read. */
typedef void (*mew_event_name_fn)(void *arg, const char *name, const char *summary);
int mew_event_list(const char *glob, mew_event_name_fn fn, void *arg, struct mew_error *error);

/* perf_event_open, close-on-exec, as is. The descriptor or -errno. */
int mew_event_open(const struct perf_event_attr *attr, int pid, int cpu, int group_fd);

/* What a failed open of an event means: err is its errno (of either sign), name as in struct
 * mew_event (NULL: cpu-clock:u). One line, sysctl and value named. */
void mew_event_explain(int err, const char *name, struct mew_error *error);

#endif
