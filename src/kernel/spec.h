/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.h: what an event's name says, in perf's spelling: which event, on which side (user, kernel).
 * Knows no sampling, and opens nothing: sysfs is read through a function of the caller's.
 */
#ifndef MEW_KERNEL_SPEC_H
#define MEW_KERNEL_SPEC_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/error.h"

#define MEW_SPEC_NAME_BYTES 128

struct mew_spec {
	/* Only type, config, config1, config2, exclude_*, precise_ip, pinned, exclusive, and
	 * sample_period (0: the name does not say). */
	struct perf_event_attr what;
	int side_given;  /* the name says user or kernel; else user alone was put in */
	int precise_max; /* modifier P: as precise as this machine can */
	char shown[MEW_SPEC_NAME_BYTES];
};

/* Text of a file below /sys/bus/event_source/devices ("cpu/type") into buf, without the last
 * newline, NUL-terminated. Its length, or -errno. */
typedef int (*mew_spec_read_fn)(void *arg, const char *path, char *buf, size_t cap);

/*
 * perf's spelling: cycles, L1-dcache-load-misses, rNNN, cpu/event=0x3c,umask=1/, each with
 * modifiers (cycles:u, cpu/.../u). User side alone unless the name says otherwise or the event
 * happens in the kernel alone. 0; -ENOENT: no such name in perf's spelling (another library may
 * know it); -EINVAL: it is one, with a fault that error names.
 */
int mew_spec_parse(const char *name, mew_spec_read_fn read, void *arg, struct mew_spec *ret,
		   struct mew_error *error);

/* Modifiers ("u", "pp", "") onto ret->what; ret->what's exclude_* are set in any case. 0, or
 * -EINVAL. */
int mew_spec_modify(const char *modifiers, struct mew_spec *ret, struct mew_error *error);

/*
 * An event that happens in the kernel alone (a context switch, a tracepoint) gets the kernel's side
 * unless the name says user: -EINVAL, for it would count nothing.
 */
int mew_spec_settle(struct mew_spec *spec, struct mew_error *error);

/* Set ret->shown: base, then sep and the modifiers, 'u' before them when it was put in. 0, -EINVAL
 * (too long). */
int mew_spec_show(struct mew_spec *spec, const char *base, size_t n_base, const char *sep,
		  const char *modifiers, struct mew_error *error);

/* The names above that have no parameter, one call each, in order. */
void mew_spec_each(void (*fn)(void *arg, const char *name), void *arg);

/*
 * A CPU with cores of several kinds has a PMU for each, and a generic name counts on one kind:
 * where that is so, spec names it (cpu_core/cycles/u). 1 when it did.
 */
int mew_spec_hybrid(struct mew_spec *spec, mew_spec_read_fn read, void *arg);

#endif
