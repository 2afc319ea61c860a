/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h: stacks as a tree in the segment that mew-perf reads: a stack is the id of its leaf. Knows
 * no counters. Nodes are never changed or moved once they are there; the index that finds a child
 * is the tracker's own. The caller holds the lock, but for mew_tree_matches().
 */
#ifndef MEW_HEAP_TREE_H
#define MEW_HEAP_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/pages.h"

#define MEW_TREE_ROOT 0u
#define MEW_TREE_LOST 1u /* collects the stacks that found no room */

/* A stack to look up: return addresses, innermost first, as mew_walk() gives them. */
struct mew_tree_stack {
	const uint64_t *pcs;
	const uint64_t *exact; /* bit i: pcs[i] is where a signal interrupted, no return address */
	uint32_t n;
	uint32_t entry; /* enum mew_entry */
	uint32_t flags; /* MEW_NODE_ROOTED or MEW_NODE_BROKEN */
};

struct mew_tree {
	struct mew_segment *segment; /* borrowed */
	struct mew_pages *pages;     /* borrowed */
	uint32_t cap_nodes;
	uint32_t *slots;  /* node ids, 0: empty; open addressing */
	uint32_t n_slots; /* a power of two */
};

/* Starts a tree in a zeroed segment of segment_bytes. -EINVAL: no room for a node; -ENOMEM. */
int mew_tree_init(struct mew_tree *tree, struct mew_segment *segment, uint64_t segment_bytes,
		  struct mew_pages *pages);
void mew_tree_done(struct mew_tree *tree);

/* The leaf of stack, made when it is new; MEW_TREE_LOST when there is no room. */
uint32_t mew_tree_intern(struct mew_tree *tree, const struct mew_tree_stack *stack);

/* Whether node is the leaf of stack. Takes no lock: nodes do not change. */
int mew_tree_matches(const struct mew_tree *tree, uint32_t node,
		     const struct mew_tree_stack *stack);

#endif
