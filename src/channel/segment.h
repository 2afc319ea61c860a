/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h: what the heap hook has counted, in memory shared with mew-perf, so that the figures
 * survive every end of the program. The hook writes under its own lock; mew-perf reads once the
 * process has ended (or at the loop's end). Indices, never pointers. mew-perf checks every index
 * before use.
 */
#ifndef MEW_CHANNEL_SEGMENT_H
#define MEW_CHANNEL_SEGMENT_H

#include <stdint.h>

#include "channel/curve.h"
#include "channel/iterations.h"
#include "channel/sizes.h"

#define MEW_SEGMENT_MAGIC 0x3150414548574557ull
#define MEW_SEGMENT_NODES (1u << 20) /* stack tree nodes at most; the memfd is sparse */

enum mew_segment_flags {
	MEW_NODE_ROOTED = 1, /* a stack that ends here reached the case (or the thread's start) */
	MEW_NODE_BROKEN = 2, /* a stack that ends here was cut: no table for a pc, or memory that
				cannot be read */
};

/* An operator new of the program's own file, which the hook cannot stand in for. */
enum mew_segment_new {
	MEW_NEW_HOOKED = 0,  /* there is none, or it was seen to call malloc */
	MEW_NEW_GOES_BY = 1, /* it was seen not to: what C++ allocates is not in the figures */
	MEW_NEW_UNKNOWN = 2, /* it was not tried: some stack of malloc goes through it, or none */
};

/*
 * A node of the stack tree: a return address below its parent, the root being the outermost frame.
 * Node 0 is the root (pc 0); node 1 collects what found no room ("lost"). The counters are of the
 * allocations whose innermost frame is this node: the return address of the call of malloc (or what
 * it is) is the leaf.
 */
struct mew_segment_node {
	uint32_t parent;
	uint32_t flags;
	uint64_t pc;          /* return address: look up pc - 1 */
	uint64_t allocations; /* calls in the window */
	uint64_t bytes;       /* requested, cumulative; a realloc counts with its full new size */
	uint64_t frees;
	uint64_t temporary;
	int64_t live_bytes; /* now */
	int64_t peak_bytes; /* live at the high-water mark, if epoch equals the segment's; else
			       live_bytes is that */
	int64_t held_bytes; /* live at the window's end; while it is open, now */
	int64_t held_blocks;
	uint64_t epoch;
	uint32_t entry; /* index of the entry point in hooks.def that was called: its name heads the
			   stack */
	uint32_t pad;
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
};

struct mew_segment {
	uint64_t magic;
	uint32_t n_nodes; /* in use, 2 at least; grows only */
	uint32_t cap_nodes;
	uint64_t epoch;    /* raised at every new peak */
	uint64_t n_hooked; /* calls of any entry point that the hook saw, tracked or not, of threads
			      that allocated in the window: the proof that it is in place */

	uint64_t total_allocations;
	uint64_t allocated_bytes;
	uint64_t frees; /* of tracked blocks, up to the window's end, in pauses too */
	uint64_t temporary;
	uint64_t foreign_frees; /* in the window */
	uint64_t first_iteration_allocations;
	int64_t live_bytes;
	int64_t live_blocks;
	int64_t peak_bytes;
	int64_t held_bytes; /* at the window's end: leaked_bytes */
	int64_t held_blocks;
	uint64_t lost; /* allocations whose stack found no room (node 1) or whose block could not be
			  remembered */
	uint64_t broken;    /* allocations whose stack did not reach its root */
	uint64_t n_threads; /* that allocated in the window */
	uint32_t closed; /* the window was closed: held_ is a snapshot. 0: the process ended inside
			    (live_ is the rest) */
	uint32_t forked; /* children that the process forked in the window (they record nothing) */
	uint64_t own_bytes;   /* the tracker's own memory */
	uint32_t new_goes_by; /* enum mew_segment_new */
	uint32_t pad;
	uint64_t reserved[7];
	struct mew_segment_mapped mapped;
	struct mew_sizes sizes;           /* of the allocations in the window */
	struct mew_curve curve;           /* live over the window; marks of its allocations */
	struct mew_iterations iterations; /* of a benchmark's loop: their high-water marks */
	struct mew_segment_node nodes[];
};

/* Live bytes of node at the segment's high-water mark. */
static inline int64_t mew_segment_at_peak(const struct mew_segment *s,
					  const struct mew_segment_node *n)
{
	return n->epoch == s->epoch ? n->peak_bytes : n->live_bytes;
}

#endif
