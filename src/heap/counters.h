/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h: what each heap event does to the figures in the segment (channel/segment.h): totals,
 * live, peak, the curve and the marks of the iterations, the sizes, what is held when the window
 * closes. Fed by events, so it needs no process. The
 * caller holds the lock and says whether the event is inside: in the window and outside a pause.
 *
 * The composition of the peak is kept by epoch: a new peak raises the segment's, and a node writes
 * down its live bytes only when it changes for the first time after a peak.
 */
#ifndef MEW_HEAP_COUNTERS_H
#define MEW_HEAP_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/live.h"
#include "heap/pages.h"

/* Of one thread, zeroed to start. */
struct mew_counters_thread {
	uint64_t last_addr; /* what it allocated last in the window, 0: none */
	uint32_t last_serial;
	uint32_t is_counted; /* in n_threads */
};

/* Of one node, running on when the window is closed. */
struct mew_counters_node {
	int64_t live_blocks;
	uint64_t frees;
	uint64_t temporary;
};

struct mew_counters {
	struct mew_segment *segment; /* borrowed */
	struct mew_live live;
	struct mew_counters_node *nodes; /* cap_nodes of them */
	uint32_t cap_nodes;
	uint32_t serial;
	int is_open;
	/* Of the whole; the segment's follow while the window is open. */
	struct mew_counters_node total;
};

/* For a segment in which a tree was started (cap_nodes is set). -ENOMEM. */
int mew_counters_init(struct mew_counters *c, struct mew_segment *segment, struct mew_pages *pages);
void mew_counters_done(struct mew_counters *c);

/* The window opens and closes; it may do so again. While it is open the segment's held_ and frees
 * follow each event; once it is closed they stay as they are. */
void mew_counters_open(struct mew_counters *c);
void mew_counters_close(struct mew_counters *c);

/* A block of bytes at addr was allocated, inside. node: mew_tree_intern()'s. */
void mew_counters_allocate(struct mew_counters *c, struct mew_counters_thread *t, uint32_t node,
			   uint64_t addr, uint64_t bytes);

/* The block at addr is about to be freed. */
void mew_counters_free(struct mew_counters *c, struct mew_counters_thread *t, uint64_t addr,
		       int inside);

/*
 * A realloc in three steps. Before the real call the block is taken out, so that another thread may
 * get its address: 1 and *ret_old when it was tracked, else 0; no figure changes. After the call
 * one of the others follows, with old NULL when it was not tracked.
 */
int mew_counters_take(struct mew_counters *c, uint64_t addr, struct mew_live_block *ret_old);
/* It failed: as if it had not been called. */
void mew_counters_restore(struct mew_counters *c, const struct mew_live_block *old);
/* It gave bytes at addr, inside: one allocation, charged to node. */
void mew_counters_resize(struct mew_counters *c, struct mew_counters_thread *t,
			 const struct mew_live_block *old, uint32_t node, uint64_t addr,
			 uint64_t bytes);
/* It gave a block outside, which is foreign. */
void mew_counters_untrack(struct mew_counters *c, const struct mew_live_block *old);
/* It freed the block. */
void mew_counters_released(struct mew_counters *c, struct mew_counters_thread *t,
			   const struct mew_live_block *old, int inside);

/* An allocation that cannot be told. Takes no lock. */
void mew_counters_lose(struct mew_segment *segment);

#endif
