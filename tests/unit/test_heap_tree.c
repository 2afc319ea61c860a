/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/tree.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap_pages.h"

struct fixture {
	struct mew_pages pages;
	struct mew_tree tree;
	struct mew_segment *segment;
};

static void start(struct fixture *f, uint32_t cap_nodes)
{
	uint64_t bytes = sizeof(*f->segment) + cap_nodes * sizeof(f->segment->nodes[0]);

	f->pages = heap_pages(UINT32_MAX);
	f->segment = calloc(1, bytes);
	assert_non_null(f->segment);
	assert_int_equal(mew_tree_init(&f->tree, f->segment, bytes, &f->pages), 0);
}

static void stop(struct fixture *f)
{
	mew_tree_done(&f->tree);
	assert_int_equal(heap_pages_bytes, 0);
	free(f->segment);
}

/* Return addresses, innermost first. */
struct stack {
	const uint64_t *pcs;
	uint32_t n;
	uint16_t entry, flags;
};

static struct stack stack_of(const uint64_t *pcs, uint32_t n)
{
	return (struct stack){.pcs = pcs, .n = n, .flags = MEW_NODE_ROOTED};
}

static uint32_t intern(struct fixture *f, const struct stack *stack)
{
	struct mew_tree_key key = {.parent = MEW_TREE_ROOT};

	for (uint32_t i = stack->n; i-- > 0;) {
		key.pc = stack->pcs[i];
		if (i == 0) {
			key.flags = stack->flags;
			key.entry = stack->entry;
		}
		key.parent = mew_tree_child(&f->tree, &key);
	}
	return key.parent;
}

static void a_new_tree_has_the_root_and_the_lost(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 10);
	assert_int_equal(f.segment->n_nodes, 2);
	assert_int_equal(f.segment->cap_nodes, 10);
	stop(&f);
}

static void a_stack_is_a_path_from_its_outermost_frame(void **state)
{
	const uint64_t pcs[] = {30, 20, 10};
	struct stack s = stack_of(pcs, 3);
	struct fixture f;
	uint32_t leaf;

	(void)state;
	start(&f, 10);
	s.entry = 7;
	leaf = intern(&f, &s);
	assert_int_equal(leaf, 4);
	assert_int_equal(f.segment->n_nodes, 5);
	assert_int_equal(f.segment->nodes[4].pc, 30);
	assert_int_equal(f.segment->nodes[4].parent, 3);
	assert_int_equal(f.segment->nodes[4].entry, 7);
	assert_int_equal(f.segment->nodes[4].flags, MEW_NODE_ROOTED);
	assert_int_equal(f.segment->nodes[3].pc, 20);
	assert_int_equal(f.segment->nodes[3].flags, 0);
	assert_int_equal(f.segment->nodes[2].pc, 10);
	assert_int_equal(f.segment->nodes[2].parent, MEW_TREE_ROOT);
	stop(&f);
}

static void the_same_stack_has_the_same_leaf_and_others_share_its_path(void **state)
{
	const uint64_t a[] = {30, 20, 10}, b[] = {31, 20, 10};
	struct stack sa = stack_of(a, 3), sb = stack_of(b, 3);
	struct fixture f;
	uint32_t leaf;

	(void)state;
	start(&f, 10);
	leaf = intern(&f, &sa);
	assert_int_equal(intern(&f, &sa), leaf);
	assert_int_equal(intern(&f, &sb), leaf + 1);
	assert_int_equal(f.segment->nodes[leaf + 1].parent, f.segment->nodes[leaf].parent);
	assert_int_equal(f.segment->n_nodes, 6);
	stop(&f);
}

static void entry_point_and_completeness_tell_leaves_apart(void **state)
{
	const uint64_t pcs[] = {20, 10};
	struct stack s = stack_of(pcs, 2);
	struct fixture f;
	uint32_t leaf;

	(void)state;
	start(&f, 10);
	leaf = intern(&f, &s);
	s.entry = 1;
	assert_int_equal(intern(&f, &s), leaf + 1);
	s.flags = MEW_NODE_BROKEN;
	assert_int_equal(intern(&f, &s), leaf + 2);
	stop(&f);
}

static void a_full_segment_sends_new_stacks_to_the_lost_and_keeps_old_ones(void **state)
{
	const uint64_t a[] = {20, 10}, b[] = {21, 10}, c[] = {22, 10};
	struct stack sa = stack_of(a, 2), sb = stack_of(b, 2), sc = stack_of(c, 2);
	struct fixture f;
	uint32_t leaf;

	(void)state;
	start(&f, 5);
	leaf = intern(&f, &sa);
	assert_int_equal(intern(&f, &sb), leaf + 1);
	assert_int_equal(intern(&f, &sc), MEW_TREE_LOST);
	assert_int_equal(intern(&f, &sa), leaf);
	assert_int_equal(f.segment->n_nodes, 5);
	stop(&f);
}

static void what_is_below_the_lost_is_lost(void **state)
{
	struct mew_tree_key key = {.pc = 10, .parent = MEW_TREE_LOST};
	struct fixture f;

	(void)state;
	start(&f, 5);
	assert_int_equal(mew_tree_child(&f.tree, &key), MEW_TREE_LOST);
	assert_int_equal(f.segment->n_nodes, 2);
	stop(&f);
}

static void the_index_grows_and_finds_everything(void **state)
{
	struct fixture f;
	uint32_t n = 20000;

	(void)state;
	start(&f, n + 2);
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < n; i++) {
			uint64_t pc = 0x400000 + i * 5;
			struct stack s = stack_of(&pc, 1);

			assert_int_equal(intern(&f, &s), 2 + i);
		}
	assert_true(f.tree.index->n_slots > n);
	stop(&f);
}

static void an_index_that_cannot_grow_fills_up_and_then_loses(void **state)
{
	struct fixture f;
	uint32_t n_lost = 0;

	(void)state;
	start(&f, 5002);
	heap_pages_left = 0;
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 5000; i++) {
			uint64_t pc = 0x400000 + i * 5;
			struct stack s = stack_of(&pc, 1);
			uint32_t leaf = intern(&f, &s);

			/* 1024 slots, one of which stays empty. */
			assert_int_equal(leaf, i < 1023 ? 2 + i : MEW_TREE_LOST);
			n_lost += leaf == MEW_TREE_LOST;
		}
	assert_int_equal(n_lost, 2 * (5000 - 1023));
	stop(&f);
}

static void a_tree_needs_room_and_memory(void **state)
{
	struct mew_segment *segment = calloc(1, sizeof(*segment) + 10 * sizeof(segment->nodes[0]));
	struct mew_pages pages = heap_pages(0);
	struct mew_tree tree;

	(void)state;
	assert_non_null(segment);
	assert_int_equal(mew_tree_init(&tree, segment, sizeof(*segment) - 1, &pages), -EINVAL);
	assert_int_equal(mew_tree_init(&tree, segment,
				       sizeof(*segment) + 2 * sizeof(segment->nodes[0]), &pages),
			 -EINVAL);
	assert_int_equal(mew_tree_init(&tree, segment,
				       sizeof(*segment) + 10 * sizeof(segment->nodes[0]), &pages),
			 -ENOMEM);
	mew_tree_done(&tree);
	free(segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_tree_has_the_root_and_the_lost),
		cmocka_unit_test(a_stack_is_a_path_from_its_outermost_frame),
		cmocka_unit_test(the_same_stack_has_the_same_leaf_and_others_share_its_path),
		cmocka_unit_test(entry_point_and_completeness_tell_leaves_apart),
		cmocka_unit_test(a_full_segment_sends_new_stacks_to_the_lost_and_keeps_old_ones),
		cmocka_unit_test(what_is_below_the_lost_is_lost),
		cmocka_unit_test(the_index_grows_and_finds_everything),
		cmocka_unit_test(an_index_that_cannot_grow_fills_up_and_then_loses),
		cmocka_unit_test(a_tree_needs_room_and_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
