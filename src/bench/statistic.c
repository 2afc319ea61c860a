/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/statistic.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Newton's steps from above fall until they have arrived. What is not above 0 stays. */
static double square_root(double x)
{
	double root = x > 1 ? x : 1, next;

	if (!(x > 0))
		return x;
	for (;;) {
		next = (root + x / root) / 2;
		if (!(next < root))
			return root;
		root = next;
	}
}

struct mew_statistic mew_statistic_of(double *values, size_t n)
{
	struct mew_statistic s = {0, 0, 0, 0};
	double sum = 0, squares = 0;
	size_t i;

	qsort(values, n, sizeof(values[0]), compare_doubles);
	s.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
	for (i = 0; i < n; i++)
		sum += values[i];
	s.mean = sum / (double)n;
	for (i = 0; i < n; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (n > 1)
		s.stddev = square_root(squares / (double)(n - 1));
	if (s.mean != 0)
		s.cv = s.stddev / s.mean;
	return s;
}
