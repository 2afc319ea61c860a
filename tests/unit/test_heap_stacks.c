/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>

#include "heap_stacks.h"

/* ---- whole stacks ---- */

static void a_whole_stack_is_a_path_whose_leaf_has_the_entry_point(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(A, 3), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id = leaf_in(f, &f->thread, pcs, 4, 7);

	(void)state;
	assert_path(f, id, pcs, 4, MEW_TREE_ROOT);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED);
	assert_int_equal(node(f, id)->entry, 7);
	assert_int_equal(f->segment->n_nodes, 2 + 4);
	assert_int_equal(perf.n_asked + perf.n_refreshed, 0);
	fixture_free(f);
}

static void the_same_stack_has_the_same_leaf_but_for_another_entry_point(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id = leaf_in(f, &f->thread, pcs, 3, 7), other;

	(void)state;
	assert_int_equal(leaf_in(f, &f->thread, pcs, 3, 7), id);
	other = leaf_in(f, &f->thread, pcs, 3, 8);
	assert_int_not_equal(other, id);
	assert_int_equal(node(f, other)->entry, 8);
	assert_int_equal(node(f, other)->parent, node(f, id)->parent);
	assert_int_equal(leaf_in(f, &f->thread, pcs, 3, 7), id);
	assert_int_equal(f->segment->n_nodes, 2 + 4);
	fixture_free(f);
}

static void stacks_share_what_is_outside_of_where_they_part(void **state)
{
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t one, two, deeper;

	(void)state;
	one = LEAF(f, call_in(A, 1), call_in(B, 2), call_in(START, 0));
	two = LEAF(f, call_in(A, 4), call_in(B, 2), call_in(START, 0));
	assert_int_equal(node(f, one)->parent, node(f, two)->parent);
	assert_int_equal(f->segment->n_nodes, 2 + 4);
	/* A leaf is no caller: this is another node of the same call. */
	deeper = LEAF(f, call_in(B, 9), call_in(A, 4), call_in(B, 2), call_in(START, 0));
	assert_int_not_equal(node(f, deeper)->parent, two);
	assert_int_equal(node(f, node(f, deeper)->parent)->pc, call_in(A, 4));
	assert_int_equal(f->segment->n_nodes, 2 + 6);
	assert_int_equal(LEAF(f, call_in(A, 1), call_in(B, 2), call_in(START, 0)), one);
	fixture_free(f);
}

/* The inner part is gone: its caller was a frame on the way, and is a leaf again. */
static void an_outer_part_of_the_last_stack_is_the_stack_that_it_was(void **state)
{
	const uint64_t outer[] = {call_in(A, 4), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t first, inner;

	(void)state;
	first = leaf(f, outer, 3);
	for (int i = 0; i < 3; i++) {
		inner = LEAF(f, call_in(B, 9), call_in(A, 4), call_in(B, 2), call_in(START, 0));
		assert_int_not_equal(inner, first);
		assert_int_equal(leaf(f, outer, 3), first);
		assert_path(f, first, outer, 3, MEW_TREE_ROOT);
	}
	fixture_free(f);
}

/* The first ones, that is: what is below them is the same. */
static void threads_have_leaves_of_their_own(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t ids[MEW_NODE_STRIPES];

	(void)state;
	for (uint32_t i = 0; i < 3 * MEW_NODE_STRIPES; i++) {
		struct mew_stacks_thread t = {.stack = f->thread.stack};
		uint32_t id = leaf_in(f, &t, pcs, 3, 0);

		assert_path(f, id, pcs, 3, MEW_TREE_ROOT);
		assert_int_equal(node(f, id)->flags,
				 MEW_NODE_ROOTED | i % MEW_NODE_STRIPES << MEW_NODE_STRIPE);
		if (i < MEW_NODE_STRIPES)
			ids[i] = id;
		assert_int_equal(id, ids[i % MEW_NODE_STRIPES]);
		assert_int_equal(leaf_in(f, &t, pcs, 3, 0), id);
	}
	assert_int_equal(f->segment->n_nodes, 2 + 2 + MEW_NODE_STRIPES);
	fixture_free(f);
}

static void where_there_is_little_room_threads_find_the_same_leaves(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(4 * (2 + 2));
	struct mew_stacks_thread other = {.stack = f->thread.stack};
	uint32_t id = leaf(f, pcs, 3);

	(void)state;
	assert_int_equal(leaf_in(f, &other, pcs, 3, 0), id);
	assert_ptr_not_equal(other.scratch, f->thread.scratch);
	assert_int_equal(f->segment->n_nodes, 2 + 3);
	fixture_free(f);
}

static void a_stack_that_is_known_keeps_its_leaf_when_room_gets_short(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	struct mew_stacks_thread other = {.stack = f->thread.stack};
	uint32_t first = leaf(f, pcs, 3), id = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		id = leaf_in(f, &other, pcs, 3, 0);
	assert_int_not_equal(id, first);
	f->segment->cap_nodes = 2 * f->segment->n_nodes;
	assert_int_equal(leaf_in(f, &other, pcs, 3, 0), id);
	/* What is not known is given the leaf that all have. */
	f->space.table->generation++;
	assert_int_equal(leaf_in(f, &other, pcs, 3, 0), first);
	fixture_free(f);
}

static void a_loops_stack_ends_at_its_root_which_is_no_node(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(A, 2), call_in(B, 3), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id;

	(void)state;
	f->thread.is_loops = 1;
	f->stacks.root = (struct mew_walk_root){CODE + B * SPAN, CODE + B * SPAN + SPAN};
	id = leaf(f, pcs, 4);
	assert_path(f, id, pcs, 2, MEW_TREE_ROOT);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED);
	/* Another case has another one: what was remembered ends elsewhere. */
	f->stacks.root = (struct mew_walk_root){CODE + A * SPAN + 0x12, CODE + A * SPAN + 0x13};
	id = leaf(f, pcs, 4);
	assert_path(f, id, pcs, 1, MEW_TREE_ROOT);
	fixture_free(f);
}

/* A loop's thread that runs on a stack which somebody made. Another thread that goes on with it, in
 * the same memory of walks, is in no loop. */
static void a_loops_stack_that_nobody_called_is_a_coroutines(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	struct mew_stacks_thread other = {.scratch = f->stacks.scratches, .stack = f->thread.stack};
	struct mew_stacks_caller caller = caller_of(f, pcs, 3);
	uint32_t id, rooted, broken;

	(void)state;
	f->thread.is_loops = 1;
	f->thread.scratch = f->stacks.scratches;
	f->stacks.root = (struct mew_walk_root){CODE + B * SPAN + 0x80, CODE + B * SPAN + SPAN};
	id = leaf(f, pcs, 3);
	assert_path(f, id, pcs, 3, MEW_TREE_ROOT);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED | MEW_NODE_COROUTINE);
	assert_int_equal(leaf(f, pcs, 3), id);
	rooted = mew_stacks_leaf(&f->stacks, &other, &caller, 0);
	assert_ptr_equal(other.scratch, f->stacks.scratches);
	assert_int_equal(node(f, rooted)->flags, MEW_NODE_ROOTED);
	assert_int_equal(leaf(f, pcs, 3), id);
	/* And so it is when the walk, and not what is remembered, has found it. */
	broken = LEAF(f, call_in(A, 1), call_in(NO_RULE, 2));
	assert_int_equal(why(f, broken), MEW_WALK_NO_RULE);
	assert_int_equal(leaf(f, pcs, 3), id);
	/* A whole program's first thread has no root to come to. */
	f->stacks.root = (struct mew_walk_root){0, 0};
	assert_int_equal(leaf(f, pcs, 3), rooted);
	fixture_free(f);
}

/* ---- stacks that broke ---- */

static void a_return_address_of_0_ends_all_stacks_but_a_loops(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), 0};
	struct fixture *f = fixture_new(CAP_NODES);
	struct mew_stacks_thread loops = {.stack = f->thread.stack, .is_loops = 1};
	uint32_t id;

	(void)state;
	f->stacks.root = (struct mew_walk_root){1, 2};
	id = leaf(f, pcs, 3);
	assert_path(f, id, pcs, 2, MEW_TREE_ROOT);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED);
	id = leaf_in(f, &loops, pcs, 3, 0);
	assert_path(f, id, pcs, 2, MEW_TREE_ROOT);
	assert_int_equal(why(f, id), MEW_WALK_ZERO);
	/* A whole program's main thread has no root that it should come to. */
	f->stacks.root = (struct mew_walk_root){0, 0};
	id = leaf_in(f, &loops, pcs, 3, 0);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED | 1 << MEW_NODE_STRIPE);
	fixture_free(f);
}

static void a_broken_stack_has_its_frames_and_its_reason(void **state)
{
	struct fixture *f = fixture_new(CAP_NODES);
	const uint64_t pcs[] = {call_in(A, 1), call_in(NO_RULE, 0)};
	uint64_t first = (uint64_t)(uintptr_t)(f->words + WORDS - 2);
	struct mew_stacks_caller caller = {.pc = call_in(A, 1), .sp = first, .fp = 0x1234};
	uint32_t id = leaf(f, pcs, 2);

	(void)state;
	assert_path(f, id, pcs, 2, MEW_TREE_ROOT);
	assert_int_equal(why(f, id), MEW_WALK_NO_RULE);
	assert_int_equal(perf.asked, call_in(NO_RULE, 0));
	/* The frame's return address lies at the stack's end, its caller's beyond. */
	f->words[WORDS - 1] = call_in(B, 2);
	id = mew_stacks_leaf(&f->stacks, &f->thread, &caller, 3);
	assert_int_equal(why(f, id), MEW_WALK_CUT);
	assert_int_equal(node(f, id)->entry, 3);
	assert_int_equal(node(f, id)->pc, call_in(A, 1));
	assert_int_equal(node(f, node(f, id)->parent)->pc, call_in(B, 2));
	fixture_free(f);
}

/* Its reason is a part of what tells leaves apart. */
static void a_stack_that_broke_and_one_that_did_not_are_two(void **state)
{
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t broken = LEAF(f, call_in(A, 1), PLUGIN + 4), id;

	(void)state;
	assert_int_equal(why(f, broken), MEW_WALK_NO_MODULE);
	id = LEAF(f, call_in(A, 1), 0);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED);
	assert_int_equal(node(f, id)->pc, node(f, broken)->pc);
	fixture_free(f);
}

static void code_without_rules_is_left_by_its_frame_pointer_and_marked(void **state)
{
	const uint32_t n = MEW_CPU_FP_STEP ? 2 : 1; /* else it ends the walk */
	const uint64_t pcs[] = {PLUGIN + 4, call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	struct mew_stacks_caller caller = caller_of(f, pcs, 2);
	uint32_t id;

	(void)state;
	/* Its frame pointer stands at the word below its return address. */
	caller.fp = caller.sp;
	*(uint64_t *)(uintptr_t)caller.fp = caller.fp + 64;
	id = mew_stacks_leaf(&f->stacks, &f->thread, &caller, 0);
	assert_path(f, id, pcs, n, MEW_TREE_ROOT);
	if (MEW_CPU_FP_STEP)
		assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED | MEW_NODE_BY_FP);
	else
		assert_int_equal(why(f, id), MEW_WALK_NO_MODULE);
	fixture_free(f);
}

/* ---- missing tables ---- */

static int load_plugin(void *of)
{
	const struct mew_rule rule = plain_rule(0);

	space_add(of, PLUGIN, PLUGIN + SPAN, &rule, 1);
	return 1;
}

static void a_table_that_is_missing_is_asked_for_and_the_walk_goes_on(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), PLUGIN + 4, call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id;

	(void)state;
	perf.answer = load_plugin;
	perf.of = &f->space;
	id = leaf(f, pcs, 3);
	assert_int_equal(perf.n_asked, 1);
	assert_int_equal(perf.asked, PLUGIN + 4);
	assert_path(f, id, pcs, 3, MEW_TREE_ROOT);
	assert_int_equal(node(f, id)->flags, MEW_NODE_ROOTED);
	/* It is there now. */
	assert_int_equal(leaf(f, pcs, 3), id);
	assert_int_equal(perf.n_asked, 1);
	fixture_free(f);
}

static int say_other(void *of)
{
	(void)of;
	return perf.n_asked < 5;
}

static void a_walk_ends_when_the_tables_stay_as_they_are(void **state)
{
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id;

	(void)state;
	perf.answer = say_other;
	id = LEAF(f, call_in(A, 1), PLUGIN + 4, call_in(START, 0));
	assert_int_equal(perf.n_asked, 5);
	assert_int_equal(why(f, id), MEW_WALK_NO_MODULE);
	fixture_free(f);
}

static void after_an_unload_the_tables_are_asked_for_once(void **state)
{
	struct fixture *f = fixture_new(CAP_NODES);

	(void)state;
	LEAF(f, call_in(A, 1), call_in(START, 0));
	assert_int_equal(perf.n_refreshed, 0);
	mew_stacks_unloaded(&f->stacks);
	mew_stacks_unloaded(&f->stacks);
	LEAF(f, call_in(A, 1), call_in(START, 0));
	assert_int_equal(perf.n_refreshed, 1);
	assert_int_equal(perf.asked, call_in(A, 1));
	/* Until they have come no thread goes by the old ones. */
	assert_true(perf.was_stale);
	assert_false(mew_stacks_is_stale(&f->stacks));
	LEAF(f, call_in(A, 1), call_in(START, 0));
	assert_int_equal(perf.n_refreshed, 1);
	fixture_free(f);
}

static void stacks_of_a_later_epoch_hang_from_its_node(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(START, 0)};
	const uint64_t broken[] = {call_in(A, 1), call_in(NO_RULE, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id = leaf(f, pcs, 2), later, base;

	(void)state;
	f->space.table->epoch = 3;
	f->space.table->generation++;
	later = leaf(f, pcs, 2);
	base = node(f, node(f, later)->parent)->parent;
	assert_int_not_equal(later, id);
	assert_path(f, later, pcs, 2, base);
	assert_int_equal(node(f, base)->flags, MEW_NODE_EPOCH);
	assert_int_equal(node(f, base)->pc, 3);
	assert_int_equal(node(f, base)->parent, MEW_TREE_ROOT);
	assert_path(f, leaf(f, broken, 2), broken, 2, base);
	fixture_free(f);
}

/* New code is walked as soon as its rules are there; the generation is raised when all are. */
static void stacks_are_of_the_epoch_that_has_begun_even_if_the_generation_is_old(void **state)
{
	const uint64_t new[] = {call_in(B, 1), call_in(A, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id, base;

	(void)state;
	LEAF(f, call_in(A, 1), call_in(A, 2), call_in(START, 0));
	LEAF(f, call_in(A, 1), call_in(A, 2), call_in(START, 0));
	f->space.table->epoch = 3;
	id = leaf(f, new, 3);
	base = node(f, node(f, node(f, id)->parent)->parent)->parent;
	assert_path(f, id, new, 3, base);
	assert_int_equal(node(f, base)->flags, MEW_NODE_EPOCH);
	assert_int_equal(node(f, base)->pc, 3);
	fixture_free(f);
}

/* ---- limits ---- */

static void a_full_tree_loses_new_stacks_and_keeps_old_ones(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(B, 2), call_in(START, 0)};
	struct fixture *f = fixture_new(2 + 4);
	uint32_t id = leaf(f, pcs, 3);

	(void)state;
	/* The last node is an inner one, of a stack that is lost all the same. */
	assert_int_equal(LEAF(f, call_in(A, 1), call_in(A, 2), call_in(START, 0)), MEW_TREE_LOST);
	assert_int_equal(f->segment->n_nodes, 2 + 4);
	assert_int_equal(LEAF(f, call_in(A, 1), call_in(NO_RULE, 0)), MEW_TREE_LOST);
	assert_int_equal(LEAF(f, call_in(A, 1), call_in(A, 2), call_in(START, 0)), MEW_TREE_LOST);
	assert_int_equal(leaf(f, pcs, 3), id);
	assert_int_equal(f->segment->n_nodes, 2 + 4);
	fixture_free(f);
}

static void a_stack_deeper_than_a_walk_goes_is_cut_and_nothing_is_asked(void **state)
{
	struct fixture *f = fixture_new(MEW_WALK_FRAMES + 10);
	uint32_t n = MEW_WALK_FRAMES + 100, n_up = 0, id;
	uint64_t *deep = calloc(2 * n + 8, sizeof(*deep));
	struct mew_stacks_caller caller = {.pc = call_in(A, 1), .fp = 0x1234};

	(void)state;
	assert_non_null(deep);
	for (uint32_t i = 1; i < n; i++)
		deep[2 * i - 1] = i + 1 < n ? call_in(B, 2) : call_in(START, 0);
	caller.sp = (uint64_t)(uintptr_t)deep;
	f->thread.stack.own = (struct mew_stack_range){caller.sp, caller.sp + 16 * n + 64};
	id = mew_stacks_leaf(&f->stacks, &f->thread, &caller, 0);
	assert_int_equal(why(f, id), MEW_WALK_DEEP);
	for (; id != MEW_TREE_ROOT; id = f->segment->nodes[id].parent)
		n_up++;
	assert_int_equal(n_up, MEW_WALK_FRAMES);
	assert_int_equal(perf.n_asked, 0);
	free(deep);
	fixture_free(f);
}

static void own_memory_is_told_as_it_is_touched(void **state)
{
	struct fixture *f = fixture_new(CAP_NODES);
	struct mew_stacks_thread other = {.stack = f->thread.stack};
	const uint64_t pcs[] = {call_in(A, 1), call_in(START, 0)};
	uint64_t first, deeper;

	(void)state;
	assert_int_equal(f->segment->own_bytes, 0);
	leaf(f, pcs, 2);
	first = f->segment->own_bytes;
	assert_true(first > 0);
	leaf(f, pcs, 2);
	assert_int_equal(f->segment->own_bytes, first);
	LEAF(f, call_in(A, 1), call_in(B, 2), call_in(START, 0));
	deeper = f->segment->own_bytes;
	assert_true(deeper > first);
	LEAF(f, call_in(A, 7), call_in(START, 0));
	assert_int_equal(f->segment->own_bytes, deeper);
	leaf_in(f, &other, pcs, 2, 0);
	assert_int_equal(f->segment->own_bytes, deeper + first);
	fixture_free(f);
}

static void no_memory_is_an_error(void **state)
{
	struct mew_pages pages = heap_pages(0);
	struct mew_stacks stacks = {0};

	(void)state;
	assert_int_equal(mew_stacks_init(&stacks, NULL, NULL, &pages), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_stack_is_a_path_whose_leaf_has_the_entry_point),
		cmocka_unit_test(the_same_stack_has_the_same_leaf_but_for_another_entry_point),
		cmocka_unit_test(stacks_share_what_is_outside_of_where_they_part),
		cmocka_unit_test(an_outer_part_of_the_last_stack_is_the_stack_that_it_was),
		cmocka_unit_test(threads_have_leaves_of_their_own),
		cmocka_unit_test(where_there_is_little_room_threads_find_the_same_leaves),
		cmocka_unit_test(a_stack_that_is_known_keeps_its_leaf_when_room_gets_short),
		cmocka_unit_test(a_loops_stack_ends_at_its_root_which_is_no_node),
		cmocka_unit_test(a_loops_stack_that_nobody_called_is_a_coroutines),
		cmocka_unit_test(a_return_address_of_0_ends_all_stacks_but_a_loops),
		cmocka_unit_test(a_broken_stack_has_its_frames_and_its_reason),
		cmocka_unit_test(a_stack_that_broke_and_one_that_did_not_are_two),
		cmocka_unit_test(code_without_rules_is_left_by_its_frame_pointer_and_marked),
		cmocka_unit_test(a_table_that_is_missing_is_asked_for_and_the_walk_goes_on),
		cmocka_unit_test(a_walk_ends_when_the_tables_stay_as_they_are),
		cmocka_unit_test(after_an_unload_the_tables_are_asked_for_once),
		cmocka_unit_test(stacks_of_a_later_epoch_hang_from_its_node),
		cmocka_unit_test(
			stacks_are_of_the_epoch_that_has_begun_even_if_the_generation_is_old),
		cmocka_unit_test(a_full_tree_loses_new_stacks_and_keeps_old_ones),
		cmocka_unit_test(a_stack_deeper_than_a_walk_goes_is_cut_and_nothing_is_asked),
		cmocka_unit_test(own_memory_is_told_as_it_is_touched),
		cmocka_unit_test(no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
