/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/counters.h"

#include <errno.h>

#include "heap/tree.h"

static void node_follow(struct mew_counters *c, uint32_t id)
{
	struct mew_segment_node *n = &c->segment->nodes[id];

	n->held_bytes = n->live_bytes;
	n->held_blocks = c->nodes[id].live_blocks;
	n->frees = c->nodes[id].frees;
	n->temporary = c->nodes[id].temporary;
}

static void total_follow(struct mew_counters *c)
{
	struct mew_segment *s = c->segment;

	s->held_bytes = s->live_bytes;
	s->held_blocks = s->live_blocks;
	s->frees = c->total.frees;
	s->temporary = c->total.temporary;
}

/* Live changes by bytes and blocks, charged to node id. */
static void charge(struct mew_counters *c, uint32_t id, int64_t bytes, int64_t blocks)
{
	struct mew_segment *s = c->segment;
	struct mew_segment_node *n = &s->nodes[id];

	if (n->epoch != s->epoch) {
		n->peak_bytes = n->live_bytes;
		n->epoch = s->epoch;
	}
	n->live_bytes += bytes;
	c->nodes[id].live_blocks += blocks;
	s->live_bytes += bytes;
	s->live_blocks += blocks;
	c->total.live_blocks += blocks;
	if (c->is_open) {
		node_follow(c, id);
		total_follow(c);
	}
}

static void count_call(struct mew_counters *c, struct mew_counters_thread *t, uint32_t id,
		       uint64_t addr, uint64_t bytes)
{
	struct mew_segment *s = c->segment;
	struct mew_segment_node *n = &s->nodes[id];

	s->total_allocations++;
	s->allocated_bytes += bytes;
	n->allocations++;
	n->bytes += bytes;
	mew_sizes_count(&s->sizes, 0, bytes);
	if (n->flags & MEW_NODE_BROKEN)
		s->broken++;
	if (id == MEW_TREE_LOST)
		mew_counters_lose(s);
	if (!t->is_counted) {
		t->is_counted = 1;
		s->n_threads++;
	}
	t->last_addr = addr;
	t->last_serial = ++c->serial;
}

static void look_at_peak(struct mew_segment *s)
{
	mew_iterations_note(&s->iterations, s->live_bytes);
	if (s->live_bytes > s->peak_bytes) {
		s->peak_bytes = s->live_bytes;
		s->epoch++;
	}
}

/* An address that is given out twice was freed where the hook could not see or record it. */
static void forget_stale(struct mew_counters *c, uint64_t addr)
{
	struct mew_live_block stale;

	if (!mew_live_remove(&c->live, addr, &stale))
		return;
	mew_counters_lose(c->segment);
	mew_counters_untrack(c, &stale);
}

int mew_counters_init(struct mew_counters *c, struct mew_segment *segment, struct mew_pages *pages)
{
	int rc;

	*c = (struct mew_counters){.segment = segment, .cap_nodes = segment->cap_nodes};
	rc = mew_live_init(&c->live, pages);
	if (rc)
		return rc;
	/* As sparse as the segment itself, and counted with its nodes. */
	c->nodes = pages->map(c->cap_nodes * sizeof(*c->nodes));
	if (!c->nodes) {
		mew_live_done(&c->live);
		return -ENOMEM;
	}
	segment->epoch = 1;
	return 0;
}

void mew_counters_done(struct mew_counters *c)
{
	if (!c || !c->nodes)
		return;
	c->live.pages->unmap(c->nodes, c->cap_nodes * sizeof(*c->nodes));
	c->nodes = NULL;
	mew_live_done(&c->live);
}

void mew_counters_open(struct mew_counters *c)
{
	for (uint32_t i = 0; i < c->segment->n_nodes; i++)
		node_follow(c, i);
	total_follow(c);
	mew_iterations_begin(&c->segment->iterations, &c->segment->live_bytes);
	c->is_open = 1;
	c->segment->closed = 0;
}

void mew_counters_close(struct mew_counters *c)
{
	c->is_open = 0;
	c->segment->closed = 1;
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
	struct mew_segment *s = c->segment;
	uint64_t serial = s->total_allocations;

	mew_curve_note(&s->curve, serial, s->live_bytes);
	forget_stale(c, addr);
	count_call(c, t, node, addr, bytes);
	block.serial = t->last_serial;
	if (old)
		charge(c, old->node, -(int64_t)old->bytes, -1);
	if (mew_live_insert(&c->live, &block)) {
		/* Its free could not be seen, so it never becomes live. */
		mew_counters_lose(s);
		return;
	}
	charge(c, node, (int64_t)bytes, 1);
	mew_curve_note(&s->curve, serial, s->live_bytes);
	look_at_peak(s);
}

int mew_counters_take(struct mew_counters *c, uint64_t addr, struct mew_live_block *ret_old)
{
	return mew_live_remove(&c->live, addr, ret_old);
}

void mew_counters_restore(struct mew_counters *c, const struct mew_live_block *old)
{
	if (!mew_live_insert(&c->live, old))
		return;
	mew_counters_lose(c->segment);
	mew_counters_untrack(c, old);
}

void mew_counters_untrack(struct mew_counters *c, const struct mew_live_block *old)
{
	if (old)
		charge(c, old->node, -(int64_t)old->bytes, -1);
}

void mew_counters_released(struct mew_counters *c, struct mew_counters_thread *t,
			   const struct mew_live_block *old, int inside)
{
	if (!old) {
		c->segment->foreign_frees += inside != 0;
		return;
	}
	c->total.frees++;
	c->nodes[old->node].frees++;
	if (t->last_addr == old->addr && t->last_serial == old->serial) {
		t->last_addr = 0;
		c->total.temporary++;
		c->nodes[old->node].temporary++;
	}
	charge(c, old->node, -(int64_t)old->bytes, -1);
}

void mew_counters_free(struct mew_counters *c, struct mew_counters_thread *t, uint64_t addr,
		       int inside)
{
	struct mew_live_block old;

	mew_counters_released(c, t, mew_live_remove(&c->live, addr, &old) ? &old : NULL, inside);
}

void mew_counters_lose(struct mew_segment *segment)
{
	__atomic_fetch_add(&segment->lost, 1, __ATOMIC_RELAXED);
}
