/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charge.h: of the events of counters.h those that nearly all are. Inlined into who tells them: a
 * program that does little else than allocate feels each call here, and each look for the shard
 * that the caller has in hand.
 */
#ifndef MEW_HEAP_CHARGE_H
#define MEW_HEAP_CHARGE_H

#include "heap/counters.h"
#include "heap/peak.h"
#include "heap/tree.h"

#define MEW_CHARGE_INLINE static inline __attribute__((always_inline))

MEW_CHARGE_INLINE struct mew_lock *mew_charge_lock_of(struct mew_counters *c, uint32_t id)
{
	return (struct mew_lock *)&c->segment->nodes[id].lock;
}

MEW_CHARGE_INLINE void mew_charge_lock(struct mew_counters *c, uint32_t id)
{
	mew_lock_acquire(mew_charge_lock_of(c, id));
}

MEW_CHARGE_INLINE void mew_charge_unlock(struct mew_counters *c, uint32_t id)
{
	mew_lock_release(mew_charge_lock_of(c, id));
}

/* The lower one first, so that two threads do not wait for each other. */
MEW_CHARGE_INLINE void mew_charge_lock_both(struct mew_counters *c, uint32_t a, uint32_t b)
{
	mew_charge_lock(c, a < b ? a : b);
	if (a != b)
		mew_charge_lock(c, a < b ? b : a);
}

MEW_CHARGE_INLINE void mew_charge_unlock_both(struct mew_counters *c, uint32_t a, uint32_t b)
{
	mew_charge_unlock(c, a);
	if (a != b)
		mew_charge_unlock(c, b);
}

/* Live changes by d in all. The locks of the nodes that it is charged to are held. */
MEW_CHARGE_INLINE struct mew_peak_change mew_charge_live(struct mew_segment *s, int64_t d)
{
	struct mew_peak_change change = mew_peak_change(&s->below, d);

	if (change.growth) {
		mew_lock_add((uint64_t *)&s->peak_bytes, change.growth);
		mew_lock_add(&s->epoch, 1);
	}
	return change;
}

/* The allocation of that number has changed live by d; it is live now. */
MEW_CHARGE_INLINE void mew_charge_draw(struct mew_segment *s, uint64_t serial, int64_t live,
				       int64_t d)
{
	mew_curve_note(&s->curve, serial, d < 0 ? live - d : live);
	mew_iterations_note(&s->iterations, live);
}

/* Charges node n with its share in a change. */
MEW_CHARGE_INLINE void mew_charge_node(struct mew_segment *s, struct mew_segment_node *n,
				       const struct mew_peak_change *change, int64_t bytes,
				       int64_t blocks)
{
	uint64_t epoch = mew_segment_epoch(s, change->epoch);

	/* After a peak for the first time; but what makes a peak is a part of it. */
	if (!change->growth && n->epoch != epoch) {
		n->peak_bytes = n->live_bytes;
		n->epoch = epoch;
	}
	n->live_bytes += bytes;
	n->live_blocks += blocks;
}

/* A block is live no more. How it ended is counted too. */
MEW_CHARGE_INLINE void mew_charge_end(struct mew_counters *c, const struct mew_live_block *old,
				      int is_freed, int is_temporary)
{
	struct mew_segment_node *n = &c->segment->nodes[old->node];
	struct mew_peak_change change;

	mew_charge_lock(c, old->node);
	if (c->is_open) {
		change = mew_charge_live(c->segment, -(int64_t)old->bytes);
		mew_charge_node(c->segment, n, &change, -(int64_t)old->bytes, -1);
		n->frees += is_freed != 0;
		n->temporary += is_temporary != 0;
	} else {
		n->late_bytes -= (int64_t)old->bytes;
		n->late_blocks--;
		n->late_frees += is_freed != 0;
		n->late_temporary += is_temporary != 0;
		mew_lock_add(&c->segment->late_bytes, old->bytes);
		mew_lock_add(&c->segment->late_blocks, 1);
	}
	mew_charge_unlock(c, old->node);
}

/* Puts a block into the table. 0: there is no room; its free could not be seen, so it must not
 * become live. */
MEW_CHARGE_INLINE int mew_charge_track(struct mew_counters *c, struct mew_live_shard *at,
				       const struct mew_live_block *block)
{
	struct mew_live_block stale;
	int rc = -ENOMEM, is_live;

	/* The peak, whose number shares a word with what is live, must stay below this. */
	if (block->bytes <= MEW_PEAK_BYTES &&
	    __atomic_load_n(&c->segment->peak_bytes, __ATOMIC_RELAXED) < MEW_SEGMENT_PEAK_MAX)
		rc = mew_live_insert(&c->live, at, block, &stale);
	is_live = rc >= 0;
	if (!is_live)
		rc = mew_live_remove(at, block->addr, &stale);
	/* An address that is given out twice was freed where the hook could not see or record it.
	 */
	if (rc > 0) {
		mew_counters_lose(c->segment);
		mew_charge_end(c, &stale, 0, 0);
	}
	return is_live;
}

/* The first threads have a place each; all others share one. */
MEW_CHARGE_INLINE void mew_charge_size(struct mew_segment *s, uint32_t thread, uint64_t bytes)
{
	uint64_t *n = mew_sizes_at(&s->sizes, thread, bytes);

	if (mew_sizes_is_own(thread))
		__atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
	else
		mew_lock_add(n, 1);
}

/* A block of bytes at addr was allocated, inside. node: mew_tree_child()'s. old: it was resized,
 * and mew_counters_take() gave that; or NULL. */
MEW_CHARGE_INLINE void mew_counters_resize(struct mew_counters *c, struct mew_counters_thread *t,
					   struct mew_live_shard *at,
					   const struct mew_live_block *old, uint32_t node,
					   uint64_t addr, uint64_t bytes)
{
	struct mew_live_block block = {.addr = addr, .bytes = bytes, .node = node};
	struct mew_segment_node *n = &c->segment->nodes[node];
	uint32_t other = old ? old->node : node;
	int64_t d = old ? -(int64_t)old->bytes : 0;
	struct mew_peak_change change;
	uint64_t serial;
	int64_t live;
	int is_live;

	block.serial = ++at->serial & (MEW_LIVE_SERIALS - 1);
	t->last_addr = addr;
	t->last_serial = block.serial;
	if (!t->number)
		t->number = 1 + (uint32_t)mew_lock_add(&c->segment->n_threads, 1);
	mew_charge_size(c->segment, t->number, bytes);
	is_live = mew_charge_track(c, at, &block);
	if (!is_live || node == MEW_TREE_LOST)
		mew_counters_lose(c->segment);
	if (is_live)
		d += (int64_t)bytes;

	mew_charge_lock_both(c, node, other);
	n->allocations++;
	n->bytes += bytes;
	/* One after the other: these three are in a line of memory that all threads write. */
	serial = mew_lock_add(&c->segment->n_allocations, 1);
	change = mew_charge_live(c->segment, d);
	live = __atomic_load_n(&c->segment->peak_bytes, __ATOMIC_RELAXED) - (int64_t)change.below;
	if (old)
		mew_charge_node(c->segment, &c->segment->nodes[other], &change,
				-(int64_t)old->bytes, -1);
	if (is_live)
		mew_charge_node(c->segment, n, &change, (int64_t)bytes, 1);
	mew_charge_unlock_both(c, node, other);
	mew_charge_draw(c->segment, serial, live, d);
}

/* The block is freed by that thread, which may have allocated it just before. */
MEW_CHARGE_INLINE void mew_charge_freed(struct mew_counters *c, struct mew_counters_thread *t,
					const struct mew_live_block *old)
{
	int is_temporary = t->last_addr == old->addr && t->last_serial == old->serial;

	if (is_temporary)
		t->last_addr = 0;
	mew_charge_end(c, old, 1, is_temporary);
}

/* The block at addr, whose shard is at, is about to be freed. 0: there is none, it is foreign. */
MEW_CHARGE_INLINE int mew_counters_free(struct mew_counters *c, struct mew_counters_thread *t,
					struct mew_live_shard *at, uint64_t addr)
{
	struct mew_live_block old;

	if (!mew_live_remove(at, addr, &old))
		return 0;
	mew_charge_freed(c, t, &old);
	return 1;
}

#endif
