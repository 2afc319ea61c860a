/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/counters.h"

#include <errno.h>

#include "heap/peak.h"
#include "heap/tree.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- live ---- */

static ALWAYS_INLINE struct mew_lock *lock_of(struct mew_counters *c, uint32_t id)
{
	return (struct mew_lock *)&c->segment->nodes[id].lock;
}

static ALWAYS_INLINE void lock_node(struct mew_counters *c, uint32_t id)
{
	mew_lock_acquire(lock_of(c, id));
}

static ALWAYS_INLINE void unlock_node(struct mew_counters *c, uint32_t id)
{
	mew_lock_release(lock_of(c, id));
}

/* The lower one first, so that two threads do not wait for each other. */
static ALWAYS_INLINE void lock_nodes(struct mew_counters *c, uint32_t a, uint32_t b)
{
	lock_node(c, a < b ? a : b);
	if (a != b)
		lock_node(c, a < b ? b : a);
}

static ALWAYS_INLINE void unlock_nodes(struct mew_counters *c, uint32_t a, uint32_t b)
{
	unlock_node(c, a);
	if (a != b)
		unlock_node(c, b);
}

/* Live changes by d in all. The locks of the nodes that it is charged to are held. */
static ALWAYS_INLINE struct mew_peak_change change_live(struct mew_segment *s, int64_t d)
{
	struct mew_peak_change change = mew_peak_change(&s->below, d);

	if (change.growth) {
		mew_lock_add((uint64_t *)&s->peak_bytes, change.growth);
		mew_lock_add(&s->epoch, 1);
	}
	return change;
}

/* The allocation of that number has changed live by d; it is live now. */
static ALWAYS_INLINE void draw(struct mew_segment *s, uint64_t serial, int64_t live, int64_t d)
{
	mew_curve_note(&s->curve, serial, d < 0 ? live - d : live);
	mew_iterations_note(&s->iterations, live);
}

/* Charges node n with its share in a change. */
static ALWAYS_INLINE void charge(struct mew_segment *s, struct mew_segment_node *n,
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
static ALWAYS_INLINE void end(struct mew_counters *c, const struct mew_live_block *old,
			      int is_freed, int is_temporary)
{
	struct mew_segment_node *n = &c->segment->nodes[old->node];
	struct mew_peak_change change;

	lock_node(c, old->node);
	if (c->is_open) {
		change = change_live(c->segment, -(int64_t)old->bytes);
		charge(c->segment, n, &change, -(int64_t)old->bytes, -1);
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
	unlock_node(c, old->node);
}

/* Puts a block into the table. 0: there is no room; its free could not be seen, so it must not
 * become live. */
static ALWAYS_INLINE int track(struct mew_counters *c, const struct mew_live_block *block)
{
	struct mew_live_block stale;
	int rc = -ENOMEM, is_live;

	if (block->bytes <= MEW_PEAK_BYTES)
		rc = mew_live_insert(&c->live, block, &stale);
	is_live = rc >= 0;
	if (!is_live)
		rc = mew_live_remove(&c->live, block->addr, &stale);
	/* An address that is given out twice was freed where the hook could not see or record it.
	 */
	if (rc > 0) {
		mew_counters_lose(c->segment);
		end(c, &stale, 0, 0);
	}
	return is_live;
}

/* ---- state ---- */

void mew_counters_init(struct mew_counters *c, struct mew_segment *segment, struct mew_pages *pages)
{
	c->segment = segment;
	c->is_open = 0;
	mew_live_init(&c->live, pages);
	segment->epoch = 1;
	segment->below = segment->epoch << MEW_SEGMENT_EPOCH_SHIFT;
}

void mew_counters_done(struct mew_counters *c)
{
	if (c)
		mew_live_done(&c->live);
}

void mew_counters_open(struct mew_counters *c)
{
	struct mew_segment *s = c->segment;
	/* Others may add nodes meanwhile, in which nothing is late. */
	uint32_t n_nodes = __atomic_load_n(&s->n_nodes, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n_nodes; i++) {
		struct mew_segment_node *n = &s->nodes[i];
		struct mew_peak_change change;

		/* Whether anything is late is asked first: most nodes need not be written. */
		if (!n->late_blocks)
			continue;
		change = change_live(s, n->late_bytes);
		charge(s, n, &change, n->late_bytes, n->late_blocks);
		n->frees += n->late_frees;
		n->temporary += n->late_temporary;
		n->late_bytes = n->late_blocks = 0;
		n->late_frees = n->late_temporary = 0;
	}
	s->late_bytes = s->late_blocks = 0;
	mew_iterations_begin(&s->iterations, mew_segment_live(s));
	c->is_open = 1;
	s->closed = 0;
}

void mew_counters_close(struct mew_counters *c)
{
	c->is_open = 0;
	c->segment->closed = 1;
}

void mew_counters_iterate(struct mew_counters *c)
{
	struct mew_segment *s = c->segment;

	mew_iterations_next(&s->iterations, mew_segment_live(s));
	mew_iterations_note(&s->iterations, mew_segment_live(s));
}

/* ---- events ---- */

/* The first threads have a place each; all others share one. */
static ALWAYS_INLINE void count_size(struct mew_segment *s, uint32_t thread, uint64_t bytes)
{
	uint64_t *n = mew_sizes_at(&s->sizes, thread, bytes);

	if (mew_sizes_is_own(thread))
		__atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
	else
		mew_lock_add(n, 1);
}

void mew_counters_allocate(struct mew_counters *c, struct mew_counters_thread *t, uint32_t node,
			   uint64_t addr, uint64_t bytes)
{
	mew_counters_resize(c, t, NULL, node, addr, bytes);
}

void mew_counters_resize(struct mew_counters *c, struct mew_counters_thread *t,
			 const struct mew_live_block *old, uint32_t node, uint64_t addr,
			 uint64_t bytes)
{
	struct mew_live_block block = {.addr = addr, .bytes = bytes, .node = node};
	struct mew_segment_node *n = &c->segment->nodes[node];
	uint32_t other = old ? old->node : node;
	int64_t d = old ? -(int64_t)old->bytes : 0;
	struct mew_peak_change change;
	uint64_t serial;
	int64_t live;
	int is_live;

	block.serial = ++mew_live_at(&c->live, addr)->serial & ((1u << MEW_LIVE_SERIAL_BITS) - 1);
	t->last_addr = addr;
	t->last_serial = block.serial;
	if (!t->number)
		t->number = 1 + (uint32_t)mew_lock_add(&c->segment->n_threads, 1);
	count_size(c->segment, t->number, bytes);
	is_live = track(c, &block);
	if (!is_live || node == MEW_TREE_LOST)
		mew_counters_lose(c->segment);
	if (is_live)
		d += (int64_t)bytes;

	lock_nodes(c, node, other);
	n->allocations++;
	n->bytes += bytes;
	/* One after the other: these three are in a line of memory that all threads write. */
	serial = mew_lock_add(&c->segment->n_allocations, 1);
	change = change_live(c->segment, d);
	live = __atomic_load_n(&c->segment->peak_bytes, __ATOMIC_RELAXED) - (int64_t)change.below;
	if (old)
		charge(c->segment, &c->segment->nodes[other], &change, -(int64_t)old->bytes, -1);
	if (is_live)
		charge(c->segment, n, &change, (int64_t)bytes, 1);
	unlock_nodes(c, node, other);
	draw(c->segment, serial, live, d);
}

int mew_counters_take(struct mew_counters *c, uint64_t addr, struct mew_live_block *ret_old)
{
	return mew_live_remove(&c->live, addr, ret_old);
}

void mew_counters_restore(struct mew_counters *c, const struct mew_live_block *old)
{
	if (track(c, old))
		return;
	mew_counters_lose(c->segment);
	mew_counters_untrack(c, old);
}

void mew_counters_untrack(struct mew_counters *c, const struct mew_live_block *old)
{
	if (old)
		end(c, old, 0, 0);
}

static ALWAYS_INLINE void released(struct mew_counters *c, struct mew_counters_thread *t,
				   const struct mew_live_block *old, uint64_t addr, int inside)
{
	int is_temporary;

	if (!old) {
		struct mew_live_shard *at = mew_live_at(&c->live, addr);

		c->segment->shards[at - c->live.shards].foreign_frees += inside != 0;
		return;
	}
	is_temporary = t->last_addr == old->addr && t->last_serial == old->serial;
	if (is_temporary)
		t->last_addr = 0;
	end(c, old, 1, is_temporary);
}

void mew_counters_released(struct mew_counters *c, struct mew_counters_thread *t,
			   const struct mew_live_block *old, uint64_t addr, int inside)
{
	released(c, t, old, addr, inside);
}

void mew_counters_free(struct mew_counters *c, struct mew_counters_thread *t, uint64_t addr,
		       int inside)
{
	struct mew_live_block old;

	released(c, t, mew_live_remove(&c->live, addr, &old) ? &old : NULL, addr, inside);
}

void mew_counters_lose(struct mew_segment *segment)
{
	__atomic_fetch_add(&segment->lost, 1, __ATOMIC_RELAXED);
}
