/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.h: the high-water mark of the live heap within each measured iteration, as a bounded
 * distribution in memory shared with mew-perf: least, median, most. The hook writes it, mew-perf
 * reads it. Knows nothing of blocks.
 *
 * Iterations are those of one thread: with several in the loop, of its first one; the live heap is
 * the whole process's all the same.
 */
#ifndef MEW_CHANNEL_ITERATIONS_H
#define MEW_CHANNEL_ITERATIONS_H

#include <stdint.h>

/* Marks below 128 have a bucket each; above, each power of two has 64: their width is at most 1/64
 * of the mark. */
#define MEW_ITERATIONS_BUCKETS (128u + 56u * 64u)

struct mew_iterations_bucket {
	uint64_t n;
	uint64_t above; /* by how much they are above the least of the bucket, summed */
};

/* Zeroed to start. */
struct mew_iterations {
	int64_t mark; /* of the iteration under way */
	uint64_t pad[7];
	uint64_t n; /* that have ended */
	int64_t least, most;
	struct mew_iterations_bucket buckets[MEW_ITERATIONS_BUCKETS];
};

/* live bytes are live now. Any thread, without a lock. */
static inline void mew_iterations_note(struct mew_iterations *it, int64_t live)
{
	int64_t mark = __atomic_load_n(&it->mark, __ATOMIC_RELAXED);

	while (live > mark && !__atomic_compare_exchange_n(&it->mark, &mark, live, 0,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* The next note is the first of an iteration, which begins with live bytes. One thread at a time,
 * as the next one; after both, what other threads have added meanwhile is noted. */
static inline void mew_iterations_begin(struct mew_iterations *it, int64_t live)
{
	__atomic_store_n(&it->mark, live, __ATOMIC_SEQ_CST);
}

/* The iteration has ended; another one begins with live bytes. */
void mew_iterations_next(struct mew_iterations *it, int64_t live);

/*
 * The median: the mean of the marks in its bucket, so exact when they are equal, else off by less
 * than 1/64; of an even number the lower of the two in the middle. 0 without iterations.
 */
int64_t mew_iterations_median(const struct mew_iterations *it);

#endif
