/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak.h: how far live is below its high-water mark, and the number of that mark, in one word: so
 * that all changes of live, by whatever thread, have one order, and each knows which peak it came
 * after. The layout of the word is in channel/segment.h. Takes no lock.
 */
#ifndef MEW_HEAP_PEAK_H
#define MEW_HEAP_PEAK_H

#include <stdint.h>

/* What a change of live did. */
struct mew_peak_change {
	uint64_t growth; /* the peak rose by so much: it is live now */
	uint64_t below;  /* live is so much below the peak now */
	uint32_t epoch;  /* low bits of the number of the peak that it came after */
};

#define MEW_PEAK_BYTES ((uint64_t)1 << 40) /* a larger block is not for the word */

/* Live changes by d, MEW_PEAK_BYTES at most. The peak must stay below 2^MEW_SEGMENT_EPOCH_SHIFT. */
struct mew_peak_change mew_peak_change(uint64_t *word, int64_t d);

#endif
