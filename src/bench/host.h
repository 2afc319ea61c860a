/* SPDX-License-Identifier: Apache-2.0 */
/* host.h: what makes times doubtful on this machine. */
#ifndef MEW_BENCH_HOST_H
#define MEW_BENCH_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define MEW_GOVERNOR_BYTES 64

/*
 * Reads the frequency governor of a CPU into text (MEW_GOVERNOR_BYTES, without the newline). 0, or
 * -errno: there is none.
 */
typedef int (*mew_governor_fn)(void *arg, unsigned cpu, char *text);

/* As sysfs has it; arg is not used. */
int mew_governor_read(void *arg, unsigned cpu, char *text);

/*
 * Whether one of n_cpus CPUs is clocked by a governor other than `performance`, which goes to ret.
 * False where there are no governors.
 */
bool mew_host_scales(mew_governor_fn read, void *arg, unsigned n_cpus, char *ret);

#endif
