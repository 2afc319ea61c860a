/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h: how many iterations a plain round takes to be long enough. Arithmetic alone. */
#ifndef MEW_BENCH_TUNE_H
#define MEW_BENCH_TUNE_H

#include <stdint.h>

#define MEW_TUNE_MAX UINT64_C(1000000000000) /* iterations of a round at most */

/*
 * After a round of n iterations (1 or more) that took measured_s without its pauses and real_s with
 * them: 0 when it is long enough for min_s, else the number for the next one, above n. A round
 * whose pauses are dear is long enough at 10 min_s of real time, and none is asked for that would
 * take longer than that.
 */
uint64_t mew_tune_next(uint64_t n, double measured_s, double real_s, double min_s);

#endif
