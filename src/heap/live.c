/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/live.h"

#include <errno.h>

#define FIRST_BLOCKS 128u /* of a shard: a page */

_Static_assert(MEW_SEGMENT_SHARDS == 256, "8 bits choose the shard");

/* Blocks are 16 bytes apart at least. */
static size_t place(uint64_t addr)
{
	return (size_t)((addr >> 4) * 0x9e3779b97f4a7c15u >> 20);
}

static size_t home(const struct mew_live_shard *s, uint64_t addr)
{
	return place(addr) & (s->cap - 1);
}

static struct mew_live_block *find(const struct mew_live_shard *s, uint64_t addr)
{
	size_t i = home(s, addr);

	while (s->blocks[i].addr && s->blocks[i].addr != addr)
		i = (i + 1) & (s->cap - 1);
	return &s->blocks[i];
}

static int grow(struct mew_live *live, struct mew_live_shard *s)
{
	struct mew_live_shard bigger = {.cap = s->cap ? s->cap * 2 : FIRST_BLOCKS};

	bigger.blocks = mew_pages_map(live->pages, bigger.cap * sizeof(*bigger.blocks));
	if (!bigger.blocks)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++)
		if (s->blocks[i].addr)
			*find(&bigger, s->blocks[i].addr) = s->blocks[i];
	mew_pages_unmap(live->pages, s->blocks, s->cap * sizeof(*s->blocks));
	__atomic_store_n(&s->blocks, bigger.blocks, __ATOMIC_RELAXED);
	__atomic_store_n(&s->cap, bigger.cap, __ATOMIC_RELAXED);
	return 0;
}

static void set_n(struct mew_live_shard *s, size_t n)
{
	__atomic_store_n(&s->n, n, __ATOMIC_RELAXED);
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

		mew_pages_unmap(live->pages, s->blocks, s->cap * sizeof(*s->blocks));
		s->blocks = NULL;
		s->n = s->cap = 0;
	}
}

int mew_live_insert(struct mew_live *live, const struct mew_live_block *block,
		    struct mew_live_block *ret_old)
{
	struct mew_live_shard *s = mew_live_at(live, block->addr);
	struct mew_live_block *at;

	/* At three quarters it grows; without memory it fills to fifteen sixteenths: searches get
	 * slow, but they end. */
	if (s->n >= s->cap / 4 * 3 && grow(live, s) && s->n >= s->cap / 16 * 15)
		return -ENOMEM;
	at = find(s, block->addr);
	if (at->addr) {
		*ret_old = *at;
		*at = *block;
		return 1;
	}
	*at = *block;
	set_n(s, s->n + 1);
	return 0;
}

int mew_live_remove(struct mew_live *live, uint64_t addr, struct mew_live_block *ret_block)
{
	struct mew_live_shard *s = mew_live_at(live, addr);
	size_t mask = s->cap - 1, hole;
	struct mew_live_block *block;

	if (!s->n)
		return 0;
	block = find(s, addr);
	if (!block->addr)
		return 0;
	*ret_block = *block;
	set_n(s, s->n - 1);
	hole = (size_t)(block - s->blocks);
	/* Close the hole: an entry moves back when its home is not between the hole and itself. */
	for (size_t i = (hole + 1) & mask; s->blocks[i].addr; i = (i + 1) & mask) {
		size_t want = home(s, s->blocks[i].addr);

		if (((i - want) & mask) >= ((i - hole) & mask)) {
			s->blocks[hole] = s->blocks[i];
			hole = i;
		}
	}
	s->blocks[hole].addr = 0;
	return 1;
}

void mew_live_expect(const struct mew_live *live, uint64_t addr)
{
	const struct mew_live_shard *s = mew_live_at((struct mew_live *)(uintptr_t)live, addr);
	const struct mew_live_block *blocks = __atomic_load_n(&s->blocks, __ATOMIC_RELAXED);
	size_t cap = __atomic_load_n(&s->cap, __ATOMIC_RELAXED);

	/* Of a table that is being replaced: then nothing is gained. */
	__builtin_prefetch(blocks + (place(addr) & (cap - 1)), 1);
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
