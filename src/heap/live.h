/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h: the tracked blocks that are not freed yet, by address, in shards with a lock each. Knows
 * no counters. A shard holds whole regions of memory: an allocator gives each thread regions of its
 * own, so threads seldom meet at a lock, and a thread stays with a few shards.
 */
#ifndef MEW_HEAP_LIVE_H
#define MEW_HEAP_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/lock.h"
#include "heap/pages.h"

struct mew_live_block {
	uint64_t addr;   /* never 0 */
	uint64_t bytes;  /* as asked for */
	uint32_t node;   /* the stack that it is charged to */
	uint32_t serial; /* number of its allocation in its shard, modulo 2^32 */
};

struct mew_live_shard {
	struct mew_lock lock;          /* of what follows */
	uint32_t serial;               /* of the newest allocation */
	struct mew_live_block *blocks; /* open addressing, addr 0: empty; no tombstones */
	size_t cap;                    /* a power of two, or 0 */
	size_t n;
} __attribute__((aligned(64)));

struct mew_live {
	struct mew_pages *pages; /* borrowed */
	struct mew_live_shard shards[MEW_SEGMENT_SHARDS];
};

void mew_live_init(struct mew_live *live, struct mew_pages *pages);
void mew_live_done(struct mew_live *live);

/* The shard of an address. */
static inline struct mew_live_shard *mew_live_at(struct mew_live *live, uint64_t addr)
{
	return &live->shards[(addr >> 18) * 0x9e3779b97f4a7c15u >> 56];
}

/* 0; or 1 and *ret_old: what was known at block->addr, in whose place it is now. The caller holds
 * the lock of its shard. -ENOMEM: there is no room and none to be had. */
int mew_live_insert(struct mew_live *live, const struct mew_live_block *block,
		    struct mew_live_block *ret_old);

/* 1 and *ret_block when addr was there, else 0. The caller holds the lock of its shard. */
int mew_live_remove(struct mew_live *live, uint64_t addr, struct mew_live_block *ret_block);

/* The caller will ask for addr soon. At any time. */
void mew_live_expect(const struct mew_live *live, uint64_t addr);

/* All locks at once: nothing is in between. */
void mew_live_lock(struct mew_live *live);
void mew_live_unlock(struct mew_live *live);

/* Whether there is any block. Takes no lock. */
int mew_live_any(const struct mew_live *live);

#endif
