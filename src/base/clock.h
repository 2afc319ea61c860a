/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: the time that records of perf and processes' marks have: ns of CLOCK_MONOTONIC. */
#ifndef MEW_BASE_CLOCK_H
#define MEW_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t mew_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
