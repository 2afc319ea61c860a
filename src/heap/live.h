/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h: the tracked blocks that are not freed yet, by address. Knows no counters. The caller
 * holds the lock.
 */
#ifndef MEW_HEAP_LIVE_H
#define MEW_HEAP_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "heap/pages.h"

struct mew_live_block {
	uint64_t addr;   /* never 0 */
	uint64_t bytes;  /* as asked for */
	uint32_t node;   /* the stack that it is charged to */
	uint32_t serial; /* number of its allocation, modulo 2^32 */
};

struct mew_live {
	struct mew_pages *pages;       /* borrowed */
	struct mew_live_block *blocks; /* open addressing, addr 0: empty; no tombstones */
	size_t cap;                    /* a power of two */
	size_t n;
};

/* -ENOMEM. */
int mew_live_init(struct mew_live *live, struct mew_pages *pages);
void mew_live_done(struct mew_live *live);

/* block->addr must not be there yet. -ENOMEM: there is no room and none to be had. */
int mew_live_insert(struct mew_live *live, const struct mew_live_block *block);

/* 1 and *ret_block when addr was there, else 0. */
int mew_live_remove(struct mew_live *live, uint64_t addr, struct mew_live_block *ret_block);

#endif
