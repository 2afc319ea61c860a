/* SPDX-License-Identifier: Apache-2.0 */
/* statistic.h: mean, median and spread of a few values. No libm. */
#ifndef MEW_BENCH_STATISTIC_H
#define MEW_BENCH_STATISTIC_H

#include <stddef.h>

struct mew_statistic {
	double median, mean;
	double stddev; /* of the sample (n - 1); 0 for one value */
	double cv;     /* stddev / mean; 0 when the mean is 0 */
};

/* Of n values, 1 or more; sorts them. */
struct mew_statistic mew_statistic_of(double *values, size_t n);

#endif
