/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stackcopy.h: how many bytes of the stack are copied with each sample of a case. A start that
 * serves most; the most there can be as soon as stacks are longer; then as much as these were seen
 * to need. Knows no event.
 */
#ifndef MEW_PROFILE_STACKCOPY_H
#define MEW_PROFILE_STACKCOPY_H

#include <stdint.h>

#define MEW_STACKCOPY_MAX 65528u /* PERF_SAMPLE_STACK_USER has 16 bits: a multiple of 8 */

struct mew_stackcopy {
	uint32_t start, bytes; /* at first, and now */
	int exact;             /* the user chose it */
	int fitted;            /* it was made smaller again, or cannot be */
};

/* Of so many samples, too many have a longer stack than was copied. */
int mew_stackcopy_cuts(uint64_t samples, uint64_t cut);

/*
 * Of so many samples, all whole, that needed need_bytes at most, `ended` got less than was asked
 * for, since the stack ended there: the kernel has a fault then, dearer than all that is copied.
 * Would a copy of small_bytes, that does not get that far, serve, with as much to spare again?
 */
int mew_stackcopy_shrinks(uint64_t samples, uint64_t ended, uint64_t need_bytes,
			  uint32_t small_bytes);

void mew_stackcopy_init(struct mew_stackcopy *s, uint32_t bytes, int exact);

/*
 * A round has ended with so many samples, of which `cut` had a longer stack than was copied; whole
 * ones needed need_bytes at most. The size for the next rounds, or 0: as it is.
 */
uint32_t mew_stackcopy_next(struct mew_stackcopy *s, uint64_t samples, uint64_t cut,
			    uint64_t need_bytes);

#endif
