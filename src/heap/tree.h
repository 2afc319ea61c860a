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
 * both a leaf and a caller has two nodes, and more with the stripes of a leaf. */
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

/* A child that was found lately, never LOST; children stay what they are: it never gets old. pc 0:
 * none. */
struct mew_tree_memo {
	uint64_t pc, rest; /* of the key */
	uint32_t id;
};

#define MEW_TREE_MEMO_BITS 8

/* Starts a tree in a zeroed segment of segment_bytes. -EINVAL: no room for a node; -ENOMEM. */
int mew_tree_init(struct mew_tree *tree, struct mew_segment *segment, uint64_t segment_bytes,
		  struct mew_pages *pages);
void mew_tree_done(struct mew_tree *tree);

/* Its upper half is good. */
static inline uint64_t mew_tree_hash(const struct mew_tree_key *k)
{
	uint64_t rest = (uint64_t)k->parent << 20 ^ (uint64_t)k->flags << 8 ^ k->entry;

	return (rest ^ rest << 27 ^ k->pc) * 0x9e3779b97f4a7c15u;
}

static inline int mew_tree_is(const struct mew_segment_node *n, const struct mew_tree_key *k)
{
	return n->pc == k->pc && n->parent == k->parent && n->flags == k->flags &&
	       n->entry == k->entry;
}

/* The slot of the key, or the empty one where it belongs. A slot changes once, from empty. */
static inline uint32_t *mew_tree_slot(struct mew_tree_index *index,
				      const struct mew_segment *segment,
				      const struct mew_tree_key *k)
{
	uint32_t mask = index->n_slots - 1, i = (uint32_t)(mew_tree_hash(k) >> 32) & mask, id;

	while ((id = __atomic_load_n(&index->slots[i], __ATOMIC_ACQUIRE)) &&
	       !mew_tree_is(&segment->nodes[id], k))
		i = (i + 1) & mask;
	return &index->slots[i];
}

/* Of one that is not in the index, or was not yet. */
uint32_t mew_tree_add(struct mew_tree *tree, const struct mew_tree_key *key);

/* The child of key->parent, made when it is new; MEW_TREE_LOST when there is no room, or when the
 * parent is that. */
static inline uint32_t mew_tree_child(struct mew_tree *tree, const struct mew_tree_key *key)
{
	struct mew_tree_index *index = __atomic_load_n(&tree->index, __ATOMIC_ACQUIRE);
	uint32_t id = __atomic_load_n(mew_tree_slot(index, tree->segment, key), __ATOMIC_ACQUIRE);

	return id ? id : mew_tree_add(tree, key);
}

/* The same by way of 2^MEW_TREE_MEMO_BITS memos of the caller alone, zeroed to start. What comes of
 * the parent is short: the parent was looked up just before, and the CPU waits for it. */
static inline uint32_t mew_tree_child_again(struct mew_tree *tree, struct mew_tree_memo *memos,
					    struct mew_tree_key k)
{
	uint64_t of_pc = (k.pc + k.entry) * 0x9e3779b97f4a7c15u >> 32;
	struct mew_tree_memo *memo = &memos[(of_pc + k.parent) % (1u << MEW_TREE_MEMO_BITS)];
	uint64_t rest = k.parent | (uint64_t)k.flags << 32 | (uint64_t)k.entry << 48;
	uint32_t id;

	if (memo->pc == k.pc && memo->rest == rest)
		return memo->id;
	id = mew_tree_child(tree, &k);
	if (id != MEW_TREE_LOST)
		*memo = (struct mew_tree_memo){k.pc, rest, id};
	return id;
}

#endif
