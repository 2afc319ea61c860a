/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h: what each heap event does to the figures in the segment (channel/segment.h): of
 * stacks, live, peak, the curve, the marks of iterations, sizes. Fed by events, so it needs no
 * process. Any thread at any time: an event is told between mew_counters_enter() and
 * mew_counters_leave() with the shard of its address, mew_live_at(). What is told when it is inside
 * is in the window and outside a pause. The events that are most of all are in charge.h.
 *
 * All changes of live have one order (peak.h), and the stack's lock is held while its change takes
 * its place in it. The composition of the peak is kept by epoch: a new peak raises the segment's,
 * and a node writes down its live bytes only when it changes for the first time after a peak.
 */
#ifndef MEW_HEAP_COUNTERS_H
#define MEW_HEAP_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/live.h"
#include "heap/lock.h"
#include "heap/pages.h"

/* Of one thread, zeroed to start. */
struct mew_counters_thread {
	uint64_t last_addr; /* what it allocated last in the window, 0: none */
	uint32_t last_serial;
	uint32_t number; /* from 1 in the order of their first allocations, 0: none yet */
};

struct mew_counters {
	struct mew_segment *segment; /* borrowed */
	struct mew_live live;
	int is_open; /* changes when all locks of live are held */
};

/* For a zeroed segment in which a tree was started. */
void mew_counters_init(struct mew_counters *c, struct mew_segment *segment,
		       struct mew_pages *pages);
void mew_counters_done(struct mew_counters *c);

/* The window opens and closes; it may do so again. The caller holds all locks of live. Once it is
 * closed the figures stay as they are; what is freed then counts when it opens again. */
void mew_counters_open(struct mew_counters *c);
void mew_counters_close(struct mew_counters *c);

/* An iteration of the loop has ended, and the next one begins. One thread at a time. */
void mew_counters_iterate(struct mew_counters *c);

/* Nobody else enters with that shard, and the window neither opens nor closes. n_calls more have
 * come by the hook. */
static inline void mew_counters_enter(struct mew_counters *c, struct mew_live_shard *at,
				      uint64_t n_calls)
{
	mew_lock_acquire(&at->lock);
	c->segment->shards[at - c->live.shards].n_hooked += n_calls;
}

static inline void mew_counters_leave(struct mew_live_shard *at)
{
	mew_lock_release(&at->lock);
}

/*
 * A realloc in three steps. Before the real call the block is taken out, so that another thread may
 * get its address: 1 and *ret_old when it was tracked, else 0; no figure changes. After the call
 * one of the others follows, or mew_counters_resize(), with the new address, or the old one if
 * there is none, and with old NULL when it was not tracked.
 */
int mew_counters_take(struct mew_counters *c, uint64_t addr, struct mew_live_block *ret_old);
/* It failed: as if it had not been called. */
void mew_counters_restore(struct mew_counters *c, const struct mew_live_block *old);
/* It gave a block outside, which is foreign. */
void mew_counters_untrack(struct mew_counters *c, const struct mew_live_block *old);
/* It freed the block that was tracked. */
void mew_counters_released(struct mew_counters *c, struct mew_counters_thread *t,
			   const struct mew_live_block *old);

/* A block that is not tracked was freed inside. at: the shard of its address. */
void mew_counters_foreign(struct mew_counters *c, const struct mew_live_shard *at);

/* An allocation that cannot be told. At any time. */
void mew_counters_lose(struct mew_segment *segment);

#endif
