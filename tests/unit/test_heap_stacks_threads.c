/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that walk at the same time. */
#include "config.h"

#include <pthread.h>
#include <unistd.h>

#include "heap_stacks.h"

static void threads_take_slots_in_turn_and_the_65th_the_first_again(void **state)
{
	const uint64_t pcs[] = {call_in(A, 1), call_in(START, 0)};
	struct fixture *f = fixture_new(CAP_NODES);
	uint32_t id = 0;

	(void)state;
	for (uint32_t i = 0; i < 2 * MEW_STACKS_SCRATCHES + 1; i++) {
		struct mew_stacks_thread t = {.stack = f->thread.stack};

		id = leaf_in(f, &t, pcs, 2, 0);
		assert_ptr_equal(t.scratch, &f->stacks.scratches[i % MEW_STACKS_SCRATCHES]);
		assert_int_equal(leaf_in(f, &t, pcs, 2, 0), id);
		assert_ptr_equal(t.scratch, &f->stacks.scratches[i % MEW_STACKS_SCRATCHES]);
	}
	assert_path(f, id, pcs, 2, MEW_TREE_ROOT);
	assert_int_equal(f->segment->n_nodes, 2 + 1 + MEW_NODE_STRIPES);
	fixture_free(f);
}

/* Threads that all have the first slot; each walks while those before it are in the middle of a
 * walk, and the last one in a thread of its own, which finds none free. */
struct crowd {
	struct fixture *f;
	uint32_t n, left_nodes[MEW_STACKS_SCRATCHES];
	pthread_t last;
	uint32_t last_leaf, is_over;
};

static const uint64_t crowded[] = {CODE + A * SPAN + 0x11, PLUGIN + 4};
static const uint64_t last_one[] = {CODE + A * SPAN + 0x12, CODE + START *SPAN + 0x10};

static void *run_last(void *arg)
{
	struct crowd *c = arg;
	struct mew_stacks_thread t = {.scratch = c->f->stacks.scratches,
				      .stack = c->f->thread.stack};
	/* The others' stack lies in the same memory: this one is further down. */
	uint64_t *sp = c->f->words + 16;
	struct mew_stacks_caller caller = {
		.pc = last_one[0], .sp = (uint64_t)(uintptr_t)sp, .fp = 0x1234};

	sp[1] = last_one[1];
	c->last_leaf = mew_stacks_leaf(&c->f->stacks, &t, &caller, 0);
	__atomic_store_n(&c->is_over, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static int walk_in_a_walk(void *of)
{
	struct crowd *c = of;
	struct mew_stacks_thread t = {.scratch = c->f->stacks.scratches,
				      .stack = c->f->thread.stack};
	uint32_t i = c->n++;

	if (i + 1 < MEW_STACKS_SCRATCHES) {
		c->left_nodes[i] = leaf_in(c->f, &t, crowded, 2, 0);
	} else if (i + 1 == MEW_STACKS_SCRATCHES) {
		assert_int_equal(pthread_create(&c->last, NULL, run_last, c), 0);
		usleep(20000);
		assert_int_equal(__atomic_load_n(&c->is_over, __ATOMIC_SEQ_CST), 0);
	}
	return 0;
}

static void a_slot_in_use_is_passed_by_and_with_none_free_a_thread_waits(void **state)
{
	struct crowd *c = calloc(1, sizeof(*c));
	uint32_t id;

	(void)state;
	assert_non_null(c);
	c->f = fixture_new(CAP_NODES);
	perf.answer = walk_in_a_walk;
	perf.of = c;
	c->f->thread.scratch = c->f->stacks.scratches;
	id = leaf(c->f, crowded, 2);
	assert_int_equal(c->n, MEW_STACKS_SCRATCHES);
	assert_int_equal(pthread_join(c->last, NULL), 0);
	assert_int_equal(c->is_over, 1);
	assert_path(c->f, id, crowded, 2, MEW_TREE_ROOT);
	assert_int_equal(why(c->f, id), MEW_WALK_NO_MODULE);
	for (uint32_t i = 0; i + 1 < MEW_STACKS_SCRATCHES; i++) {
		assert_path(c->f, c->left_nodes[i], crowded, 2, MEW_TREE_ROOT);
		assert_int_equal(why(c->f, c->left_nodes[i]), MEW_WALK_NO_MODULE);
	}
	assert_path(c->f, c->last_leaf, last_one, 2, MEW_TREE_ROOT);
	fixture_free(c->f);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_take_slots_in_turn_and_the_65th_the_first_again),
		cmocka_unit_test(a_slot_in_use_is_passed_by_and_with_none_free_a_thread_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
