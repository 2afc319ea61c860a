/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h: what the heap hook has counted, in memory shared with mew-perf, so that the figures
 * survive every end of the program. The hook's threads write at the same time; mew-perf reads once
 * the process has ended (or at the loop's end): a process that was killed may have left the events
 * in hand half counted. Indices, never pointers. mew-perf checks every index before use.
 */
#ifndef MEW_CHANNEL_SEGMENT_H
#define MEW_CHANNEL_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "channel/curve.h"
#include "channel/iterations.h"
#include "channel/sizes.h"

#define MEW_SEGMENT_MAGIC 0x3250414548574557ull
#define MEW_SEGMENT_NODES (1u << 20) /* stack tree nodes at most; the memfd is sparse */
#define MEW_SEGMENT_SHARDS 256u

enum mew_segment_flags {
	MEW_NODE_ROOTED = 1, /* a stack that ends here reached the case (or the thread's start) */
	MEW_NODE_BROKEN = 2, /* a stack that ends here was cut: no table for a pc, or memory that
				cannot be read */
	MEW_NODE_BY_FP = 4,  /* code without unwind information was left by its frame pointer */
	MEW_NODE_EPOCH = 8,  /* no frame: pcs of the stacks that hang here are of the epoch (see
				unwind/table.h) whose number pc is; those that do not, of 0 */
	MEW_NODE_COROUTINE = 16, /* rooted, but not in the case: a loop's thread ran on a stack that
				    somebody made (makecontext) */
};

/* Threads that allocate from the same stack count in different leaves, up to so many, so that they
 * do not take the memory from each other: which one is in the flags, from this bit on. mew-perf
 * adds them up, as all nodes of one stack. */
#define MEW_NODE_STRIPE 5
#define MEW_NODE_STRIPES 4u

#define MEW_NODE_WHY 8 /* flags of a broken stack: from this bit on, how the walk ended */

_Static_assert(1 << MEW_NODE_STRIPE > MEW_NODE_COROUTINE &&
		       MEW_NODE_STRIPES << MEW_NODE_STRIPE <= 1u << MEW_NODE_WHY,
	       "bits of their own");

/* An operator new of the program's own file, which the hook cannot stand in for. */
enum mew_segment_new {
	MEW_NEW_HOOKED = 0,  /* there is none, or it was seen to call malloc */
	MEW_NEW_GOES_BY = 1, /* it was seen not to: what C++ allocates is not in the figures */
	MEW_NEW_UNKNOWN = 2, /* it was not tried: some stack of malloc goes through it, or none */
};

/*
 * A node of the stack tree: a return address below its parent, the outermost frame below the root.
 * Node 0 is the root (pc 0); node 1 collects what found no room ("lost"). The counters are of the
 * allocations whose innermost frame is this node: the return address of the call of malloc (or what
 * it is) is the leaf. They change as long as the window is open; once it is closed they stay as
 * they are, until it opens again.
 *
 * Threads that share a stack take its memory from each other: an event writes to the second line of
 * it alone, nearly always.
 */
struct mew_segment_node {
	uint64_t pc; /* return address: look up pc - 1 */
	uint32_t parent;
	uint16_t flags;
	uint16_t entry; /* index of the entry point in hooks.def that was called: its name
			   heads the stack */
	uint64_t temporary;
	/* The hook's own: what has happened since the window was closed. */
	int64_t late_bytes, late_blocks;
	uint64_t late_frees, late_temporary;
	uint64_t reserved;

	uint32_t lock; /* the hook's own: of the counters */
	uint32_t reserved_too;
	uint64_t allocations; /* calls in the window */
	uint64_t bytes;       /* requested, cumulative; a realloc counts with its full new size */
	int64_t live_bytes;
	int64_t live_blocks;
	uint64_t epoch;
	int64_t peak_bytes; /* live at the high-water mark, if epoch is the segment's; else
			       live_bytes is that */
	uint64_t frees;     /* of tracked blocks, up to the window's end, in pauses too */
};

_Static_assert(offsetof(struct mew_segment_node, lock) == 64 &&
		       sizeof(struct mew_segment_node) == 128,
	       "two lines");

/* What no node has, in parts so that threads seldom meet. */
struct mew_segment_shard {
	uint64_t n_hooked; /* calls of any entry point that the hook saw, tracked or not, of threads
			      that allocated in the window: the proof that it is in place */
	uint64_t foreign_frees; /* in the window */
	uint64_t pad[6];
};

/* What the program maps by itself, under MEW_HEAP_MMAP: whole pages, of files and of nothing alike,
 * used or not. */
struct mew_segment_mapped {
	uint64_t calls; /* of mmap and mremap in the window */
	uint64_t bytes; /* that they mapped, cumulative */
	int64_t live_bytes;
	int64_t peak_bytes;
	int64_t held_bytes; /* at the window's end */
	uint64_t lost;      /* mappings that could not be remembered */
	uint64_t pad[2];
};

struct mew_segment {
	uint64_t magic;
	uint32_t n_nodes; /* in use, 2 at least; grows only */
	uint32_t cap_nodes;
	uint64_t first_iteration_allocations;
	uint64_t lost; /* allocations whose stack found no room (node 1) or whose block could not be
			  remembered */
	uint64_t n_threads; /* that allocated in the window */
	uint32_t closed;    /* the window was closed. 0: the process ended inside */
	uint32_t forked; /* children that the process forked in the window (they record nothing) */
	uint64_t own_bytes;   /* the tracker's own memory, but for the nodes */
	uint32_t new_goes_by; /* enum mew_segment_new */
	uint32_t leaving;     /* an exec was on its way when the segment was written last */

	/* A cache line that all threads write. */
	int64_t peak_bytes;
	uint64_t epoch; /* number of the peak, from 1; lags while a thread raises it */
	uint64_t below; /* peak less live, and the low bits of the epoch: those that count */
	uint64_t n_allocations; /* in the window: the number of the next one, for the curve */
	/* Of tracked blocks that ended since the window was closed: not in the nodes. */
	uint64_t late_bytes, late_blocks;
	uint64_t reserved[2];

	struct mew_segment_shard shards[MEW_SEGMENT_SHARDS];
	struct mew_segment_mapped mapped;
	struct mew_sizes sizes;           /* of the allocations in the window */
	struct mew_curve curve;           /* live over the window; marks of its allocations */
	struct mew_iterations iterations; /* of a benchmark's loop: their high-water marks */
	uint64_t pad[5];
	struct mew_segment_node nodes[];
};

_Static_assert(offsetof(struct mew_segment, shards) % 64 == 0 &&
		       offsetof(struct mew_segment, nodes) % 128 == 0,
	       "cache lines of their own");

#define MEW_SEGMENT_EPOCH_SHIFT 42 /* of `below`: 4 TiB, and 22 bits of the epoch */
/* A peak below it fits into `below` with the largest block more. */
#define MEW_SEGMENT_PEAK_MAX ((int64_t)1 << 41)
#define MEW_SEGMENT_BELOW (((uint64_t)1 << MEW_SEGMENT_EPOCH_SHIFT) - 1)

/* The number of a peak from its low bits: the nearest to the one that the segment tells. */
static inline uint64_t mew_segment_epoch(const struct mew_segment *s, uint64_t low)
{
	uint64_t told = __atomic_load_n(&s->epoch, __ATOMIC_RELAXED);
	uint64_t ahead = (low - told) << MEW_SEGMENT_EPOCH_SHIFT;

	return told + (uint64_t)((int64_t)ahead >> MEW_SEGMENT_EPOCH_SHIFT);
}

/* Live bytes of node at the segment's high-water mark. */
static inline int64_t mew_segment_at_peak(const struct mew_segment *s,
					  const struct mew_segment_node *n)
{
	uint64_t low = s->below >> MEW_SEGMENT_EPOCH_SHIFT;

	return n->epoch == mew_segment_epoch(s, low) ? n->peak_bytes : n->live_bytes;
}

/* What is live. While threads change it: a value that it had, or about to have with their peak. */
static inline int64_t mew_segment_live(const struct mew_segment *s)
{
	int64_t below = (int64_t)(__atomic_load_n(&s->below, __ATOMIC_SEQ_CST) & MEW_SEGMENT_BELOW);

	return __atomic_load_n(&s->peak_bytes, __ATOMIC_SEQ_CST) - below;
}

/* The tracker's own memory, as far as it has been touched. */
static inline uint64_t mew_segment_own_bytes(const struct mew_segment *s)
{
	return __atomic_load_n(&s->own_bytes, __ATOMIC_RELAXED) +
	       (uint64_t)__atomic_load_n(&s->n_nodes, __ATOMIC_RELAXED) * sizeof(s->nodes[0]);
}

/* Over all nodes and shards. */
struct mew_segment_sum {
	uint64_t allocations, bytes, frees, temporary;
	int64_t live_bytes, live_blocks; /* at the window's end, or now: leaked */
	uint64_t broken;                 /* allocations whose stack did not reach its root */
	uint64_t foreign_frees;
};

struct mew_segment_sum mew_segment_sum(const struct mew_segment *s);

static inline uint64_t mew_segment_n_hooked(const struct mew_segment *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		n += __atomic_load_n(&s->shards[i].n_hooked, __ATOMIC_RELAXED);
	return n;
}

#endif
