/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/live.h"

#include <errno.h>

#define FIRST_ENTRIES 128u /* of a shard, in a page */

_Static_assert(MEW_SEGMENT_SHARDS == 256, "8 bits choose the shard");

static size_t bytes_of(size_t cap)
{
	return cap * sizeof(struct mew_live_entry) + cap / MEW_LIVE_BUCKET;
}

/* One block more, or less, has passed the buckets from `from` up to `to`. */
static void pass(const struct mew_live_shard *s, size_t from, size_t to, int by)
{
	for (; from != to; from = (from + MEW_LIVE_BUCKET) & (s->cap - 1)) {
		uint8_t *passed = mew_live_passed(s, from);

		if (*passed != UINT8_MAX)
			*passed = (uint8_t)(*passed + by);
	}
}

struct mew_live_entry *mew_live_find_beyond(const struct mew_live_shard *s, uint64_t addr,
					    size_t home)
{
	const uint64_t key = mew_live_key(addr);

	for (size_t at = home, n = MEW_LIVE_BUCKET; *mew_live_passed(s, at) && n < s->cap;
	     n += MEW_LIVE_BUCKET) {
		struct mew_live_entry *e;

		at = (at + MEW_LIVE_BUCKET) & (s->cap - 1);
		e = mew_live_choose(s->entries + at, key, MEW_LIVE_SERIALS);
		if (mew_live_is(e, key, MEW_LIVE_SERIALS))
			return e;
	}
	return NULL;
}

struct mew_live_entry *mew_live_place_beyond(const struct mew_live_shard *s, size_t home)
{
	struct mew_live_entry *e;
	size_t at = home;

	do {
		at = (at + MEW_LIVE_BUCKET) & (s->cap - 1);
		e = mew_live_choose(s->entries + at, 0, 1);
	} while (e->key);
	pass(s, home, at, 1);
	return e;
}

void mew_live_clear_beyond(const struct mew_live_shard *s, size_t home,
			   const struct mew_live_entry *e)
{
	pass(s, home, (size_t)(e - s->entries) & ~(size_t)(MEW_LIVE_BUCKET - 1), -1);
}

int mew_live_grow(struct mew_live *live, struct mew_live_shard *s)
{
	struct mew_live_shard bigger = {.cap = s->cap ? s->cap * 2 : FIRST_ENTRIES};

	bigger.entries = mew_pages_map(live->pages, bytes_of(bigger.cap));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++)
		if (s->entries[i].key)
			*mew_live_place(&bigger, mew_live_home(mew_live_addr(&s->entries[i]),
							       bigger.cap)) = s->entries[i];
	mew_pages_unmap(live->pages, s->entries, bytes_of(s->cap));
	__atomic_store_n(&s->entries, bigger.entries, __ATOMIC_RELAXED);
	__atomic_store_n(&s->cap, bigger.cap, __ATOMIC_RELAXED);
	return 0;
}

void mew_live_init(struct mew_live *live, struct mew_pages *pages)
{
	*live = (struct mew_live){.pages = pages};
}

void mew_live_done(struct mew_live *live)
{
	if (!live)
		return;
	for (uint32_t i = 0; i < MEW_SEGMENT_SHARDS; i++) {
		struct mew_live_shard *s = &live->shards[i];

		mew_pages_unmap(live->pages, s->entries, bytes_of(s->cap));
		s->entries = NULL;
		s->n = s->cap = 0;
	}
}

void mew_live_lock(struct mew_live *live)
{
	for (uint32_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		mew_lock_acquire(&live->shards[i].lock);
}

void mew_live_unlock(struct mew_live *live)
{
	for (uint32_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		mew_lock_release(&live->shards[i].lock);
}

int mew_live_any(const struct mew_live *live)
{
	for (uint32_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		if (__atomic_load_n(&live->shards[i].n, __ATOMIC_RELAXED))
			return 1;
	return 0;
}
