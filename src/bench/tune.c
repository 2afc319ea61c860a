/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/tune.h"

/* Real time of a round, in multiples of the measured time that is wanted. */
#define REAL_LIMIT 10.0
/* Aim beyond the goal, so that the next round is the last one though it runs a little faster. */
#define OVERSHOOT 1.4
#define GROWTH_MAX 10.0

uint64_t mew_tune_next(uint64_t n, double measured_s, double real_s, double min_s)
{
	double growth = GROWTH_MAX, next;

	if (measured_s >= min_s || real_s >= REAL_LIMIT * min_s || n >= MEW_TUNE_MAX)
		return 0;
	/* A round far too short says little about the time of an iteration. */
	if (measured_s * GROWTH_MAX > min_s)
		growth = OVERSHOOT * min_s / measured_s;
	if (real_s * growth > REAL_LIMIT * min_s)
		growth = REAL_LIMIT * min_s / real_s;
	next = (double)n * growth;
	if (next >= (double)MEW_TUNE_MAX)
		return MEW_TUNE_MAX;
	return (uint64_t)next > n ? (uint64_t)next : n + 1;
}
