/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/live.h"

#include <errno.h>

#define FIRST_BLOCKS 4096u

/* Blocks are 16 bytes apart at least; neighbours in memory become neighbours here. */
static size_t home(const struct mew_live *live, uint64_t addr)
{
	return (size_t)((addr >> 4) * 0x9e3779b97f4a7c15u >> 20) & (live->cap - 1);
}

static struct mew_live_block *find(const struct mew_live *live, uint64_t addr)
{
	size_t i = home(live, addr);

	while (live->blocks[i].addr && live->blocks[i].addr != addr)
		i = (i + 1) & (live->cap - 1);
	return &live->blocks[i];
}

static int grow(struct mew_live *live)
{
	struct mew_live bigger = {.pages = live->pages, .cap = live->cap * 2, .n = live->n};

	bigger.blocks = mew_pages_map(live->pages, bigger.cap * sizeof(*bigger.blocks));
	if (!bigger.blocks)
		return -ENOMEM;
	for (size_t i = 0; i < live->cap; i++)
		if (live->blocks[i].addr)
			*find(&bigger, live->blocks[i].addr) = live->blocks[i];
	mew_live_done(live);
	*live = bigger;
	return 0;
}

int mew_live_init(struct mew_live *live, struct mew_pages *pages)
{
	*live = (struct mew_live){.pages = pages, .cap = FIRST_BLOCKS};
	live->blocks = mew_pages_map(pages, FIRST_BLOCKS * sizeof(*live->blocks));
	return live->blocks ? 0 : -ENOMEM;
}

void mew_live_done(struct mew_live *live)
{
	if (!live || !live->blocks)
		return;
	mew_pages_unmap(live->pages, live->blocks, live->cap * sizeof(*live->blocks));
	live->blocks = NULL;
}

int mew_live_insert(struct mew_live *live, const struct mew_live_block *block)
{
	/* Half full it grows; without memory it fills to fifteen sixteenths: searches get slow, but
	 * they end. */
	if (live->n >= live->cap / 2 && grow(live) && live->n >= live->cap / 16 * 15)
		return -ENOMEM;
	*find(live, block->addr) = *block;
	live->n++;
	return 0;
}

int mew_live_remove(struct mew_live *live, uint64_t addr, struct mew_live_block *ret_block)
{
	size_t mask = live->cap - 1;
	struct mew_live_block *block = find(live, addr);
	size_t hole = (size_t)(block - live->blocks);

	if (!block->addr)
		return 0;
	*ret_block = *block;
	live->n--;
	/* Close the hole: an entry moves back when its home is not between the hole and itself. */
	for (size_t i = (hole + 1) & mask; live->blocks[i].addr; i = (i + 1) & mask) {
		size_t want = home(live, live->blocks[i].addr);

		if (((i - want) & mask) >= ((i - hole) & mask)) {
			live->blocks[hole] = live->blocks[i];
			hole = i;
		}
	}
	live->blocks[hole].addr = 0;
	return 1;
}
