/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h: stacks as a tree in the segment that mew-perf reads: a stack is the id of its leaf. Knows
 * no counters. Nodes are never changed or moved once they are there; the index that finds a child
 * is the tracker's own. Any thread at any time: a look-up takes no lock, a new node does.
 */
#ifndef MEW_HEAP_TREE_H
#define MEW_HEAP_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/lock.h"
#include "heap/pages.h"

#define MEW_TREE_ROOT 0u
#define MEW_TREE_LOST 1u /* collects the stacks that found no room */

/* What tells a node from its siblings. Only a leaf has flags and an entry, so a call site that is
 * both a leaf and a caller has two nodes. */
struct mew_tree_key {
	uint64_t pc; /* a return address: it is looked up at pc - 1 */
	uint32_t parent;
	uint16_t flags; /* enum mew_segment_flags */
	uint16_t entry; /* enum mew_entry */
};

/* Node ids, 0: empty; open addressing. One that was outgrown stays: somebody may be reading it. */
struct mew_tree_index {
	struct mew_tree_index *older;
	uint32_t n_slots; /* a power of two */
	uint32_t slots[];
};

struct mew_tree {
	struct mew_segment *segment; /* borrowed */
	struct mew_pages *pages;     /* borrowed */
	struct mew_lock lock;        /* for those that add */
	uint32_t cap_nodes;
	struct mew_tree_index *index;
};

/* Starts a tree in a zeroed segment of segment_bytes. -EINVAL: no room for a node; -ENOMEM. */
int mew_tree_init(struct mew_tree *tree, struct mew_segment *segment, uint64_t segment_bytes,
		  struct mew_pages *pages);
void mew_tree_done(struct mew_tree *tree);

/* The child of key->parent, made when it is new; MEW_TREE_LOST when there is no room, or when the
 * parent is that. */
uint32_t mew_tree_child(struct mew_tree *tree, const struct mew_tree_key *key);

#endif
