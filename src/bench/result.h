/* SPDX-License-Identifier: Apache-2.0 */
/* result.h: what a plain run of a case measured, in memory that the case's process shares. */
#ifndef MEW_BENCH_RESULT_H
#define MEW_BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/run.h"

struct mew_result_counter {
	char name[MEW_COUNTER_NAME_BYTES];
	double value; /* as shown: divided by iterations or seconds */
	bool is_rate; /* a second */
};

struct mew_result {
	const struct mew_case *c; /* borrowed */
	bool ended;               /* the case's function returned; false: its process died */
	enum mew_case_status status;
	bool left_early;
	char text[MEW_TEXT_BYTES]; /* the reason; "" when OK */
	char label[MEW_LABEL_BYTES];
	double bytes, items; /* an iteration; 0: not told */
	uint64_t pause_ns;   /* what a pause pair costs */
	unsigned n_counters;
	struct mew_result_counter counters[MEW_RUN_COUNTERS];
	unsigned n_repetitions;         /* measured rounds, finished */
	struct mew_round repetitions[]; /* room for as many as were asked for */
};

/* Whether its pauses cost more than a tenth of the time that is left without that cost. */
static inline bool mew_result_pauses_dominate(const struct mew_result *r)
{
	return r->n_repetitions > 0 && r->repetitions[0].cost_ns > r->repetitions[0].loop_ns / 10;
}

#endif
