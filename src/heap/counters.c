/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/charge.h"

#include <errno.h>

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
		change = mew_charge_live(s, n->late_bytes);
		mew_charge_node(s, n, &change, n->late_bytes, n->late_blocks);
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

int mew_counters_take(struct mew_counters *c, uint64_t addr, struct mew_live_block *ret_old)
{
	return mew_live_remove(mew_live_at(&c->live, addr), addr, ret_old);
}

void mew_counters_restore(struct mew_counters *c, const struct mew_live_block *old)
{
	if (mew_charge_track(c, mew_live_at(&c->live, old->addr), old))
		return;
	mew_counters_lose(c->segment);
	mew_counters_untrack(c, old);
}

void mew_counters_untrack(struct mew_counters *c, const struct mew_live_block *old)
{
	if (old)
		mew_charge_end(c, old, 0, 0);
}

void mew_counters_released(struct mew_counters *c, struct mew_counters_thread *t,
			   const struct mew_live_block *old)
{
	mew_charge_freed(c, t, old);
}

void mew_counters_foreign(struct mew_counters *c, const struct mew_live_shard *at)
{
	c->segment->shards[at - c->live.shards].foreign_frees++;
}

void mew_counters_lose(struct mew_segment *segment)
{
	__atomic_fetch_add(&segment->lost, 1, __ATOMIC_RELAXED);
}
