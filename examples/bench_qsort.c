/* SPDX-License-Identifier: Apache-2.0 */
/* qsort of the C library: where does it spend its time, and from which size on does it allocate? */
#include <mew/mew.h>
#include <stdint.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* A small generator of our own: rand() takes a lock. */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

MEW_BENCHMARK_VALUES(qsort_ints, state, "n", 100, 1000, 100000)
{
	size_t n = (size_t)mew_value(state);
	int *v = malloc(n * sizeof(*v)); /* set-up: in no figure */
	uint32_t seed = 2463534242u;

	if (!v) {
		mew_fail(state, "no memory for %zu numbers", n);
		return;
	}
	MEW_LOOP(state) {
		MEW_PAUSE(state) { /* new input each time: in no figure */
			for (size_t i = 0; i < n; i++)
				v[i] = (int)next_random(&seed);
		}
		qsort(v, n, sizeof(*v), by_value);
		MEW_CLOBBER();
	}
	mew_items_per_iteration(state, (double)n);
	free(v);
}

MEW_MAIN();
