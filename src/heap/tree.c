/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/tree.h"

#include <errno.h>

#include "base/hash.h"

#define FIRST_SLOTS 4096u

/* What tells a node from its siblings. Only a leaf has flags and an entry, so a call site that is
 * both a leaf and a caller has two nodes. */
struct key {
	uint64_t pc;
	uint32_t parent;
	uint32_t flags;
	uint32_t entry;
};

static uint64_t key_hash(const struct key *k)
{
	return mew_hash_u64(k->pc + (((uint64_t)k->parent << 8) ^ (k->flags << 4) ^ k->entry) *
					    0x9e3779b97f4a7c15u);
}

static int node_is(const struct mew_segment_node *n, const struct key *k)
{
	return n->pc == k->pc && n->parent == k->parent && n->flags == k->flags &&
	       n->entry == k->entry;
}

/* Addresses in the tree are looked up at pc - 1. */
static uint64_t stack_pc(const struct mew_tree_stack *stack, uint32_t i)
{
	return stack->pcs[i] + ((stack->exact[i / 64] >> (i % 64)) & 1);
}

static uint32_t *find_slot(uint32_t *slots, uint32_t n_slots, const struct mew_segment *segment,
			   const struct key *k)
{
	uint32_t i = (uint32_t)key_hash(k) & (n_slots - 1);

	while (slots[i] && !node_is(&segment->nodes[slots[i]], k))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

/* At three quarters: twice as many. Without memory the index fills up to its last empty slot. */
static int make_room(struct mew_tree *tree)
{
	struct mew_segment *segment = tree->segment;
	uint32_t n_used = segment->n_nodes - 2;
	uint32_t n_slots = tree->n_slots * 2;
	uint32_t *slots;

	if (segment->n_nodes >= tree->cap_nodes)
		return -ENOSPC;
	if (n_used < tree->n_slots / 4 * 3)
		return 0;
	slots = mew_pages_map(tree->pages, n_slots * sizeof(*slots));
	if (!slots)
		return n_used + 1 < tree->n_slots ? 0 : -ENOMEM;
	for (uint32_t i = 2; i < segment->n_nodes; i++) {
		const struct mew_segment_node *n = &segment->nodes[i];
		struct key k = {n->pc, n->parent, n->flags, n->entry};

		*find_slot(slots, n_slots, segment, &k) = i;
	}
	mew_pages_unmap(tree->pages, tree->slots, tree->n_slots * sizeof(*slots));
	tree->slots = slots;
	tree->n_slots = n_slots;
	return 0;
}

static uint32_t child(struct mew_tree *tree, const struct key *k)
{
	struct mew_segment *segment = tree->segment;
	uint32_t *slot = find_slot(tree->slots, tree->n_slots, segment, k);
	struct mew_segment_node *n;
	uint32_t id;

	if (*slot)
		return *slot;
	if (make_room(tree))
		return MEW_TREE_LOST;
	id = segment->n_nodes;
	n = &segment->nodes[id];
	n->parent = k->parent;
	n->flags = k->flags;
	n->pc = k->pc;
	n->entry = k->entry;
	*find_slot(tree->slots, tree->n_slots, segment, k) = id;
	__atomic_store_n(&segment->n_nodes, id + 1, __ATOMIC_RELEASE);
	return id;
}

int mew_tree_init(struct mew_tree *tree, struct mew_segment *segment, uint64_t segment_bytes,
		  struct mew_pages *pages)
{
	uint64_t room;

	*tree = (struct mew_tree){.segment = segment, .pages = pages, .n_slots = FIRST_SLOTS};
	if (segment_bytes < sizeof(*segment))
		return -EINVAL;
	room = (segment_bytes - sizeof(*segment)) / sizeof(segment->nodes[0]);
	if (room <= 2)
		return -EINVAL;
	tree->cap_nodes = room < MEW_SEGMENT_NODES ? (uint32_t)room : MEW_SEGMENT_NODES;
	tree->slots = mew_pages_map(pages, FIRST_SLOTS * sizeof(*tree->slots));
	if (!tree->slots)
		return -ENOMEM;
	segment->cap_nodes = tree->cap_nodes;
	segment->n_nodes = 2;
	return 0;
}

void mew_tree_done(struct mew_tree *tree)
{
	if (!tree || !tree->slots)
		return;
	mew_pages_unmap(tree->pages, tree->slots, tree->n_slots * sizeof(*tree->slots));
	tree->slots = NULL;
}

uint32_t mew_tree_intern(struct mew_tree *tree, const struct mew_tree_stack *stack)
{
	uint32_t node = MEW_TREE_ROOT;

	for (uint32_t i = stack->n; i-- > 0;) {
		struct key k = {.pc = stack_pc(stack, i), .parent = node};

		if (i == 0) {
			k.flags = stack->flags;
			k.entry = stack->entry;
		}
		node = child(tree, &k);
		if (node == MEW_TREE_LOST)
			return MEW_TREE_LOST;
	}
	return node == MEW_TREE_ROOT ? MEW_TREE_LOST : node;
}

int mew_tree_matches(const struct mew_tree *tree, uint32_t node, const struct mew_tree_stack *stack)
{
	const struct mew_segment_node *nodes = tree->segment->nodes;

	if (node <= MEW_TREE_LOST || nodes[node].flags != stack->flags ||
	    nodes[node].entry != stack->entry)
		return 0;
	for (uint32_t i = 0; i < stack->n; i++) {
		if (node == MEW_TREE_ROOT || nodes[node].pc != stack_pc(stack, i))
			return 0;
		node = nodes[node].parent;
	}
	return node == MEW_TREE_ROOT;
}
