/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h: the tracked blocks that are not freed yet, by address, in shards with a lock each. Knows
 * no counters. A shard holds whole regions of memory: an allocator gives each thread regions of its
 * own, so threads seldom meet at a lock, and a thread stays with a few shards.
 */
#ifndef MEW_HEAP_LIVE_H
#define MEW_HEAP_LIVE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/lock.h"
#include "heap/pages.h"

struct mew_live_block {
	uint64_t addr;   /* never 0 */
	uint64_t bytes;  /* as asked for */
	uint32_t node;   /* the stack that it is charged to */
	uint32_t serial; /* number of its allocation in its shard, modulo 2^MEW_LIVE_SERIAL_BITS */
};

/*
 * A block as the table has it, in two words so that a look-up meets one line of memory. A block
 * that they cannot hold is refused: no allocator of 64-bit Linux gives out odd addresses or those
 * beyond 2^48, and what is larger is not for peak.h either.
 */
struct mew_live_entry {
	uint64_t key;   /* addr / 8, above the serial; 0: empty */
	uint64_t value; /* bytes, above the node */
};

/* Buckets are lines of memory of their own. A block is in the bucket that its address says or, when
 * that was full, in the next one with room; each bucket knows how many have passed it by. */
#define MEW_LIVE_BUCKET 4u

#define MEW_LIVE_SERIAL_BITS 19
#define MEW_LIVE_NODE_BITS 23
#define MEW_LIVE_SERIALS ((uint64_t)1 << MEW_LIVE_SERIAL_BITS)
#define MEW_LIVE_ADDR_MAX (((uint64_t)1 << 48) - 8) /* all the bits that an address may have */
#define MEW_LIVE_BYTES_MAX (((uint64_t)1 << 41) - 1)

_Static_assert(MEW_SEGMENT_NODES <= 1u << MEW_LIVE_NODE_BITS, "an entry holds any node");

struct mew_live_shard {
	struct mew_lock lock;           /* of what follows */
	uint32_t serial;                /* of the newest allocation */
	struct mew_live_entry *entries; /* cap of them, then a byte a bucket: how many have passed
					 * it; UINT8_MAX: so many or more, for ever */
	size_t cap;                     /* a power of two, or 0 */
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
	struct mew_live_shard *s = &live->shards[(addr >> 18) * 0x9e3779b97f4a7c15u >> 56];

	/* In a register from here on: else the compiler works it out anew for each field. */
	__asm__("" : "+r"(s));
	return s;
}

/* The first entry of the bucket of addr, of cap entries. Blocks are 16 bytes apart, nearly always.
 */
static inline size_t mew_live_home(uint64_t addr, size_t cap)
{
	return (size_t)((addr >> 4) * 0x9e3779b97f4a7c15u >> 20) & (cap - MEW_LIVE_BUCKET);
}

static inline uint8_t *mew_live_passed(const struct mew_live_shard *s, size_t bucket)
{
	return (uint8_t *)(s->entries + s->cap) + bucket / MEW_LIVE_BUCKET;
}

/* The least key of a block at addr, which an entry can hold. */
static inline uint64_t mew_live_key(uint64_t addr)
{
	return addr << (MEW_LIVE_SERIAL_BITS - 3);
}

static inline uint64_t mew_live_addr(const struct mew_live_entry *e)
{
	return e->key >> MEW_LIVE_SERIAL_BITS << 3;
}

static inline struct mew_live_entry mew_live_pack(const struct mew_live_block *b)
{
	return (struct mew_live_entry){mew_live_key(b->addr) | (b->serial & (MEW_LIVE_SERIALS - 1)),
				       b->bytes << MEW_LIVE_NODE_BITS | b->node};
}

static inline void mew_live_unpack(const struct mew_live_entry *e, struct mew_live_block *ret)
{
	ret->addr = mew_live_addr(e);
	ret->bytes = e->value >> MEW_LIVE_NODE_BITS;
	ret->node = (uint32_t)e->value & ((1u << MEW_LIVE_NODE_BITS) - 1);
	ret->serial = (uint32_t)e->key & (MEW_LIVE_SERIALS - 1);
}

_Static_assert(MEW_LIVE_BUCKET == 4, "what follows looks at four entries");

/* Whether the key of e is one of the n from first on. */
static inline int mew_live_is(const struct mew_live_entry *e, uint64_t first, uint64_t n)
{
	return e->key - first < n;
}

/* The entry of the bucket whose key is one of the n from first on; another one: there is none. A
 * choice each and no branch, so that nothing is to be guessed. */
static inline struct mew_live_entry *mew_live_choose(struct mew_live_entry *bucket, uint64_t first,
						     uint64_t n)
{
	struct mew_live_entry *at = bucket;

	at = mew_live_is(bucket + 1, first, n) ? bucket + 1 : at;
	at = mew_live_is(bucket + 2, first, n) ? bucket + 2 : at;
	at = mew_live_is(bucket + 3, first, n) ? bucket + 3 : at;
	/* The compiler, too, is not to know which one it is: it would branch by that. */
	__asm__("" : "+r"(at));
	return at;
}

/* What the three below do in the buckets after home, which is full or was. */
struct mew_live_entry *mew_live_find_beyond(const struct mew_live_shard *s, uint64_t addr,
					    size_t home);
struct mew_live_entry *mew_live_place_beyond(const struct mew_live_shard *s, size_t home);
void mew_live_clear_beyond(const struct mew_live_shard *s, size_t home,
			   const struct mew_live_entry *e);

/* The entry of addr, whose home is at `home`; NULL: there is none. */
static inline struct mew_live_entry *mew_live_find(const struct mew_live_shard *s, uint64_t addr,
						   size_t home)
{
	struct mew_live_entry *e =
		mew_live_choose(s->entries + home, mew_live_key(addr), MEW_LIVE_SERIALS);

	if (mew_live_is(e, mew_live_key(addr), MEW_LIVE_SERIALS))
		return e;
	return __builtin_expect(*mew_live_passed(s, home) == 0, 1)
		       ? NULL
		       : mew_live_find_beyond(s, addr, home);
}

/* A place for a block of that home, which is not in the shard: there is room. */
static inline struct mew_live_entry *mew_live_place(const struct mew_live_shard *s, size_t home)
{
	struct mew_live_entry *e = mew_live_choose(s->entries + home, 0, 1);

	return __builtin_expect(e->key != 0, 0) ? mew_live_place_beyond(s, home) : e;
}

/* Empties the entry of a block of that home. */
static inline void mew_live_clear(const struct mew_live_shard *s, size_t home,
				  struct mew_live_entry *e)
{
	e->key = 0;
	if (__builtin_expect((size_t)(e - s->entries) / MEW_LIVE_BUCKET != home / MEW_LIVE_BUCKET,
			     0))
		mew_live_clear_beyond(s, home, e);
}

/* Twice the room. 0 or -ENOMEM: nothing has changed. */
int mew_live_grow(struct mew_live *live, struct mew_live_shard *shard);

/* 0; or 1 and *ret_old: what was known at block->addr, in whose place it is now. s: its shard,
 * whose lock the caller holds. -ENOMEM: there is no room and none to be had; -ERANGE: no entry can
 * hold it. */
static inline __attribute__((always_inline)) int mew_live_insert(struct mew_live *live,
								 struct mew_live_shard *s,
								 const struct mew_live_block *block,
								 struct mew_live_block *ret_old)
{
	struct mew_live_entry *at;
	size_t home;

	if (block->addr & ~MEW_LIVE_ADDR_MAX || block->bytes > MEW_LIVE_BYTES_MAX)
		return -ERANGE;
	/* At half it grows; without memory it fills to fifteen sixteenths: searches get slow, but
	 * they end. */
	if (s->n >= s->cap / 2 && mew_live_grow(live, s) && s->n >= s->cap / 16 * 15)
		return -ENOMEM;
	home = mew_live_home(block->addr, s->cap);
	at = mew_live_find(s, block->addr, home);
	if (__builtin_expect(at != NULL, 0)) {
		mew_live_unpack(at, ret_old);
		*at = mew_live_pack(block);
		return 1;
	}
	*mew_live_place(s, home) = mew_live_pack(block);
	__atomic_store_n(&s->n, s->n + 1, __ATOMIC_RELAXED);
	return 0;
}

/* 1 and *ret_block when addr was there, else 0. s: its shard, whose lock the caller holds. */
static inline __attribute__((always_inline)) int
mew_live_remove(struct mew_live_shard *s, uint64_t addr, struct mew_live_block *ret_block)
{
	struct mew_live_entry *at;
	size_t home;

	if (!s->n || addr & ~MEW_LIVE_ADDR_MAX)
		return 0;
	home = mew_live_home(addr, s->cap);
	at = mew_live_find(s, addr, home);
	if (__builtin_expect(!at, 0))
		return 0;
	mew_live_unpack(at, ret_block);
	mew_live_clear(s, home, at);
	__atomic_store_n(&s->n, s->n - 1, __ATOMIC_RELAXED);
	return 1;
}

/* The caller will ask for addr soon. At any time. */
static inline void mew_live_expect(const struct mew_live_shard *s, uint64_t addr)
{
	const struct mew_live_entry *entries = __atomic_load_n(&s->entries, __ATOMIC_RELAXED);
	size_t cap = __atomic_load_n(&s->cap, __ATOMIC_RELAXED);

	/* Of a table that is being replaced: then nothing is gained. */
	__builtin_prefetch(entries + mew_live_home(addr, cap), 1);
}

/* All locks at once: nothing is in between. */
void mew_live_lock(struct mew_live *live);
void mew_live_unlock(struct mew_live *live);

/* Whether there is any block. Takes no lock. */
int mew_live_any(const struct mew_live *live);

#endif
