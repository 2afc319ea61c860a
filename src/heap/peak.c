/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/peak.h"

#include "channel/segment.h"
#include "heap/lock.h"

static struct mew_peak_change change(uint64_t word, int64_t d, uint64_t *ret_word)
{
	struct mew_peak_change c = {.below = word & MEW_SEGMENT_BELOW,
				    .epoch = (uint32_t)(word >> MEW_SEGMENT_EPOCH_SHIFT)};

	if (d > 0 && (uint64_t)d > c.below) {
		c.growth = (uint64_t)d - c.below;
		c.below = 0;
		*ret_word = (uint64_t)(c.epoch + 1) << MEW_SEGMENT_EPOCH_SHIFT;
	} else {
		c.below -= (uint64_t)d;
		*ret_word = word - (uint64_t)d;
	}
	return c;
}

struct mew_peak_change mew_peak_change(uint64_t *word, int64_t d)
{
	uint64_t seen, next;
	struct mew_peak_change c;

	if (mew_lock_alone())
		return change(*word, d, word);
	/* What falls cannot be a peak. */
	if (d <= 0)
		return change(__atomic_fetch_add(word, (uint64_t)-d, __ATOMIC_SEQ_CST), d, &next);
	seen = __atomic_load_n(word, __ATOMIC_RELAXED);
	do
		c = change(seen, d, &next);
	while (!__atomic_compare_exchange_n(word, &seen, next, 1, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED));
	return c;
}
