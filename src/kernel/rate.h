/* SPDX-License-Identifier: Apache-2.0 */
/* rate.h: how fast an event counts here, measured by counting it over a short spin, and the period
 * that follows. */
#ifndef MEW_KERNEL_RATE_H
#define MEW_KERNEL_RATE_H

#include <linux/perf_event.h>
#include <stdint.h>

/*
 * Occurrences of the event a second of CPU time in *ret_hz, over 10 ms of mixed work (arithmetic,
 * unpredictable branches, memory larger than the caches near the core). 0 Hz: it opens but does not
 * count. 0, or -errno of opening it. Only type, config* and exclude_* of what matter.
 */
int mew_rate_measure(const struct perf_event_attr *what, double *ret_hz);

/* The next prime at rate_hz times interval_s, 1 at least: a period that shares no divisor with a
 * loop. */
uint64_t mew_rate_period(double rate_hz, double interval_s);

#endif
