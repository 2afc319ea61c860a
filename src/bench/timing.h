/* SPDX-License-Identifier: Apache-2.0 */
/* timing.h: the timing table of a plain run, as text and as CSV. Writes into buffers alone. */
#ifndef MEW_BENCH_TIMING_H
#define MEW_BENCH_TIMING_H

#include "base/buffer.h"
#include "base/table.h"
#include "bench/result.h"

/* Both return 0 or -ENOMEM, the buffer's sticky error. */

/* One row a case; with several repetitions four: their median, mean, stddev and cv. */
int mew_timing_text(struct mew_result *const *results, size_t n,
		    const struct mew_table_style *style, struct mew_buffer *out);

/*
 * One header row; then a row a repetition, numbered from 1, and with several of them the four rows
 * as above. Times in s an iteration. A case without figures has one row with its status and reason.
 */
int mew_timing_csv(struct mew_result *const *results, size_t n, struct mew_buffer *out);

#endif
