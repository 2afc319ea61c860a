/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sizes.h: how many allocations were of which size, by powers of two, in memory shared with
 * mew-perf. The hook writes it, mew-perf reads it.
 */
#ifndef MEW_CHANNEL_SIZES_H
#define MEW_CHANNEL_SIZES_H

#include <stdint.h>

/* Class 0 is of 0 bytes; class k is of those up to 2^(k-1) that no class before it is of: 1; 2; 3
 * and 4; 5 to 8; ... The last one is of all that are larger than 2^61. */
#define MEW_SIZES_CLASSES 64u

/* Threads count in several places, so that they do not take the memory from each other: those
 * numbered below this in one of their own, all others in the first one. */
#define MEW_SIZES_PLACES 16u

/* Zeroed to start. */
struct mew_sizes {
	uint64_t counts[MEW_SIZES_PLACES][MEW_SIZES_CLASSES];
};

/* The class of a size. */
static inline unsigned mew_sizes_class(uint64_t bytes)
{
	unsigned class = bytes < 2 ? (unsigned)bytes : 65 - (unsigned)__builtin_clzll(bytes - 1);

	return class < MEW_SIZES_CLASSES ? class : MEW_SIZES_CLASSES - 1;
}

/* The largest size of a class; INT64_MAX of the last one. */
static inline uint64_t mew_sizes_most(unsigned class)
{
	return class == 0 ? 0 : class > 62 ? INT64_MAX : 1ull << (class - 1);
}

/* Whether a thread counts in a place that no other thread writes to. Numbers are given once,
 * from 1.
 */
static inline int mew_sizes_is_own(uint32_t thread)
{
	return thread > 0 && thread < MEW_SIZES_PLACES;
}

/* Where an allocation of bytes by a thread is counted. */
static inline uint64_t *mew_sizes_at(struct mew_sizes *s, uint32_t thread, uint64_t bytes)
{
	return &s->counts[mew_sizes_is_own(thread) ? thread : 0][mew_sizes_class(bytes)];
}

/* Of all threads. */
static inline uint64_t mew_sizes_of(const struct mew_sizes *s, unsigned class)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < MEW_SIZES_PLACES; i++)
		n += __atomic_load_n(&s->counts[i][class], __ATOMIC_RELAXED);
	return n;
}

#endif
