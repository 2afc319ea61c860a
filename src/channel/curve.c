/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/curve.h"

#include <sched.h>

static uint64_t pack(uint64_t level, uint64_t high)
{
	return level << MEW_CURVE_LEVEL_SHIFT | high;
}

static uint64_t level_of(uint64_t slice)
{
	return (slice & ~MEW_CURVE_FROZEN) >> MEW_CURVE_LEVEL_SHIFT;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Each two slices become one. A frozen slice is not changed by anyone else. They are written from
 * the first one on, so that a reader who finds some of both levels knows which cover what.
 */
static void halve(struct mew_curve *c, uint64_t level)
{
	uint64_t a, b;

	for (unsigned i = 0; i < MEW_CURVE_SLICES; i++)
		__atomic_fetch_or(&c->slices[i], MEW_CURVE_FROZEN, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < MEW_CURVE_SLICES / 2; i++) {
		a = __atomic_load_n(&c->slices[2 * i], __ATOMIC_RELAXED) & MEW_CURVE_HIGH;
		b = __atomic_load_n(&c->slices[2 * i + 1], __ATOMIC_RELAXED) & MEW_CURVE_HIGH;
		__atomic_store_n(&c->slices[i], pack(level + 1, max_of(a, b)), __ATOMIC_RELEASE);
	}
	for (unsigned i = MEW_CURVE_SLICES / 2; i < MEW_CURVE_SLICES; i++)
		__atomic_store_n(&c->slices[i], pack(level + 1, 0), __ATOMIC_RELEASE);
}

/* The level was `level`: it is another one afterwards. */
static void raise_level(struct mew_curve *c, uint64_t level)
{
	while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	if (__atomic_load_n(&c->level, __ATOMIC_RELAXED) == level) {
		halve(c, level);
		__atomic_store_n(&c->level, (uint32_t)level + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
}

void mew_curve_note_slowly(struct mew_curve *c, uint64_t serial, int64_t high)
{
	uint64_t want = high < 0 ? 1 : (uint64_t)high + 1, level, slice, i;

	if (want > MEW_CURVE_HIGH)
		want = MEW_CURVE_HIGH;
	for (;;) {
		level = __atomic_load_n(&c->level, __ATOMIC_ACQUIRE);
		i = serial >> level;
		if (i >= MEW_CURVE_SLICES) {
			if (level >= MEW_CURVE_LEVEL_MAX)
				return;
			raise_level(c, level);
			continue;
		}
		slice = __atomic_load_n(&c->slices[i], __ATOMIC_RELAXED);
		/* Somebody is at it: the slice is another one in a moment. */
		if (slice & MEW_CURVE_FROZEN || level_of(slice) != level) {
			sched_yield();
			continue;
		}
		if ((slice & MEW_CURVE_HIGH) >= want ||
		    __atomic_compare_exchange_n(&c->slices[i], &slice, pack(level, want), 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

unsigned mew_curve_read(const struct mew_curve *c, int64_t ret[MEW_CURVE_SLICES],
			uint64_t *ret_width)
{
	uint64_t slices[MEW_CURVE_SLICES], high[MEW_CURVE_SLICES] = {0}, top = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < MEW_CURVE_SLICES; i++) {
		slices[i] = __atomic_load_n(&c->slices[i], __ATOMIC_ACQUIRE);
		if (level_of(slices[i]) <= MEW_CURVE_LEVEL_MAX && slices[i] & MEW_CURVE_HIGH)
			top = max_of(top, level_of(slices[i]));
	}
	for (unsigned i = 0; i < MEW_CURVE_SLICES; i++) {
		uint64_t level = level_of(slices[i]);
		unsigned at;

		if (level > MEW_CURVE_LEVEL_MAX || !(slices[i] & MEW_CURVE_HIGH))
			continue;
		at = i >> (top - level);
		high[at] = max_of(high[at], slices[i] & MEW_CURVE_HIGH);
		n = at + 1 > n ? at + 1 : n;
	}
	/* A number that was given out and never came back: nothing new is known of its slice. */
	for (unsigned i = 0; i < n; i++)
		ret[i] = high[i] ? (int64_t)(high[i] - 1) : i ? ret[i - 1] : 0;
	*ret_width = 1ull << top;
	return n;
}
