/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.h: the live heap over the measured loop, in a bounded number of slices of equal width, in
 * memory shared with mew-perf: the hook writes it, mew-perf reads it, also when the process was
 * killed in the middle of a change. A slice holds the high-water mark of a number of allocations in
 * a row; when all slices are used each two become one. So the highest slice is the peak.
 *
 * Allocations are the axis, not time: they cost no reading of a clock, and each run of the same
 * program gives the same curve. Knows nothing of blocks.
 */
#ifndef MEW_CHANNEL_CURVE_H
#define MEW_CHANNEL_CURVE_H

#include <stdint.h>

#define MEW_CURVE_SLICES 256u

/* A slice: its high-water mark + 1, 0: none yet; the level it was made at; and the mark of a change
 * that is under way. A slice of level l is of 2^l allocations. */
#define MEW_CURVE_HIGH ((1ull << 56) - 1)
#define MEW_CURVE_LEVEL_SHIFT 56
#define MEW_CURVE_LEVEL_MAX 48
#define MEW_CURVE_FROZEN (1ull << 63)

/* Zeroed to start. */
struct mew_curve {
	uint32_t level; /* of the slices; raised when the last one is used */
	uint32_t lock;  /* of raising it */
	uint64_t pad[7];
	uint64_t slices[MEW_CURVE_SLICES];
};

void mew_curve_note_slowly(struct mew_curve *c, uint64_t serial, int64_t high);

/*
 * The allocation number serial (from 0, in the order of the loop as far as there is one) was made,
 * and just before or after it high bytes were live at most. Any thread, without a lock. Threads may
 * hold numbers that others have overtaken: their slice is then the one of their number.
 */
static inline void mew_curve_note(struct mew_curve *c, uint64_t serial, int64_t high)
{
	uint64_t level = __atomic_load_n(&c->level, __ATOMIC_ACQUIRE), slice;

	if (serial >> level < MEW_CURVE_SLICES) {
		slice = __atomic_load_n(&c->slices[serial >> level], __ATOMIC_RELAXED);
		if (slice >> MEW_CURVE_LEVEL_SHIFT == level &&
		    (slice & MEW_CURVE_HIGH) > (uint64_t)high)
			return;
	}
	mew_curve_note_slowly(c, serial, high);
}

/*
 * The points so far, in order: ret[i] is the high-water mark of allocations i * *ret_width to (i +
 * 1) * *ret_width - 1, the last ones as far as they came. Returns their number, 0 without any.
 * Whatever the memory holds, the numbers stay in bounds.
 */
unsigned mew_curve_read(const struct mew_curve *c, int64_t ret[MEW_CURVE_SLICES],
			uint64_t *ret_width);

#endif
