/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/tree.h"

#include <errno.h>

#define FIRST_SLOTS 1024u

static size_t index_bytes(uint32_t n_slots)
{
	return sizeof(struct mew_tree_index) + n_slots * sizeof(uint32_t);
}

static struct mew_tree_index *index_new(struct mew_tree *tree, uint32_t n_slots)
{
	struct mew_tree_index *index = mew_pages_map(tree->pages, index_bytes(n_slots));

	if (index)
		index->n_slots = n_slots;
	return index;
}

/* At three quarters: twice as many. Without memory the index fills up to its last empty slot. */
static int make_room(struct mew_tree *tree)
{
	struct mew_segment *segment = tree->segment;
	struct mew_tree_index *old = tree->index, *index;
	uint32_t n_used = segment->n_nodes - 2;

	if (segment->n_nodes >= tree->cap_nodes)
		return -ENOSPC;
	if (n_used < old->n_slots / 4 * 3)
		return 0;
	index = index_new(tree, old->n_slots * 2);
	if (!index)
		return n_used + 1 < old->n_slots ? 0 : -ENOMEM;
	index->older = old;
	for (uint32_t i = 2; i < segment->n_nodes; i++) {
		const struct mew_segment_node *n = &segment->nodes[i];
		struct mew_tree_key k = {n->pc, n->parent, n->flags, n->entry};

		*mew_tree_slot(index, segment, &k) = i;
	}
	__atomic_store_n(&tree->index, index, __ATOMIC_RELEASE);
	return 0;
}

/* The caller holds the lock. */
static uint32_t add(struct mew_tree *tree, const struct mew_tree_key *k)
{
	struct mew_segment *segment = tree->segment;
	uint32_t *slot = mew_tree_slot(tree->index, segment, k), id = *slot;
	struct mew_segment_node *n;

	if (id)
		return id;
	if (make_room(tree))
		return MEW_TREE_LOST;
	id = segment->n_nodes;
	n = &segment->nodes[id];
	n->parent = k->parent;
	n->flags = k->flags;
	n->pc = k->pc;
	n->entry = k->entry;
	/* Before anybody counts there. */
	__atomic_store_n(&segment->n_nodes, id + 1, __ATOMIC_RELEASE);
	__atomic_store_n(mew_tree_slot(tree->index, segment, k), id, __ATOMIC_RELEASE);
	return id;
}

int mew_tree_init(struct mew_tree *tree, struct mew_segment *segment, uint64_t segment_bytes,
		  struct mew_pages *pages)
{
	uint64_t room;

	*tree = (struct mew_tree){.segment = segment, .pages = pages};
	if (segment_bytes < sizeof(*segment))
		return -EINVAL;
	room = (segment_bytes - sizeof(*segment)) / sizeof(segment->nodes[0]);
	if (room <= 2)
		return -EINVAL;
	tree->cap_nodes = room < MEW_SEGMENT_NODES ? (uint32_t)room : MEW_SEGMENT_NODES;
	tree->index = index_new(tree, FIRST_SLOTS);
	if (!tree->index)
		return -ENOMEM;
	segment->cap_nodes = tree->cap_nodes;
	segment->n_nodes = 2;
	return 0;
}

void mew_tree_done(struct mew_tree *tree)
{
	struct mew_tree_index *older;

	if (!tree)
		return;
	for (; tree->index; tree->index = older) {
		older = tree->index->older;
		mew_pages_unmap(tree->pages, tree->index, index_bytes(tree->index->n_slots));
	}
}

uint32_t mew_tree_add(struct mew_tree *tree, const struct mew_tree_key *k)
{
	uint32_t id;

	if (k->parent == MEW_TREE_LOST)
		return MEW_TREE_LOST;
	mew_lock_acquire(&tree->lock);
	id = add(tree, k);
	mew_lock_release(&tree->lock);
	return id;
}
