/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak.h: how far live is below its high-water mark, and the number of that mark, in one word: so
 * that all changes of live, by whatever thread, have one order, and each knows which peak it came
 * after. The layout of the word is in channel/segment.h. Takes no lock.
 */
#ifndef MEW_HEAP_PEAK_H
#define MEW_HEAP_PEAK_H

#include <stdint.h>

#include "channel/segment.h"
#include "heap/lock.h"

/* What a change of live did. */
struct mew_peak_change {
	uint64_t growth; /* the peak rose by so much: it is live now */
	uint64_t below;  /* live is so much below the peak now */
	uint64_t epoch;  /* low bits of the number of the peak that it came after */
};

#define MEW_PEAK_BYTES ((uint64_t)1 << 40) /* a larger block is not for the word */

/* What a change by d does to the word, and the word then. */
static inline struct mew_peak_change mew_peak_next(uint64_t word, int64_t d, uint64_t *ret_word)
{
	struct mew_peak_change c = {.below = word & MEW_SEGMENT_BELOW,
				    .epoch = word >> MEW_SEGMENT_EPOCH_SHIFT};

	if (d > 0 && (uint64_t)d > c.below) {
		c.growth = (uint64_t)d - c.below;
		c.below = 0;
		*ret_word = (c.epoch + 1) << MEW_SEGMENT_EPOCH_SHIFT;
	} else {
		c.below -= (uint64_t)d;
		*ret_word = word - (uint64_t)d;
	}
	return c;
}

/* Live changes by d, MEW_PEAK_BYTES at most. The peak must stay below 2^MEW_SEGMENT_EPOCH_SHIFT. */
static inline struct mew_peak_change mew_peak_change(uint64_t *word, int64_t d)
{
	uint64_t seen, next;
	struct mew_peak_change c;

	if (mew_lock_alone())
		return mew_peak_next(*word, d, word);
	/* What falls cannot be a peak. */
	if (d <= 0)
		return mew_peak_next(__atomic_fetch_add(word, (uint64_t)-d, __ATOMIC_SEQ_CST), d,
				     &next);
	seen = __atomic_load_n(word, __ATOMIC_RELAXED);
	do
		c = mew_peak_next(seen, d, &next);
	while (!__atomic_compare_exchange_n(word, &seen, next, 1, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED));
	return c;
}

#endif
