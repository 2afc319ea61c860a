/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "session/collect.h"

#include "unit.h"

static struct mew_symbols *no_symbols(void *arg, uint32_t group, uint64_t *ret_time_ns)
{
	(void)ret_time_ns;
	(void)arg;
	(void)group;
	return NULL;
}

/* A walk of n frames, innermost first. */
static void walk(struct mew_walk_result *w, uint32_t n, const uint64_t *pcs)
{
	memset(w, 0, sizeof *w);
	w->n_frames = n;
	memcpy(w->pcs, pcs, n * sizeof *pcs);
}

static void collect_gives_one_node_to_one_stack(void **state)
{
	static struct mew_walk_result w;
	struct mew_collect c;
	uint32_t a, b, other;

	(void)state;
	assert_int_equal(mew_collect_init(&c), 0);
	walk(&w, 3, (uint64_t[]){30, 20, 10});
	a = mew_collect_stack(&c, 0, &w, MEW_COLLECT_WHOLE);
	b = mew_collect_stack(&c, 0, &w, MEW_COLLECT_WHOLE);
	assert_int_equal(a, b);
	assert_int_equal(c.n_nodes, 4);
	walk(&w, 3, (uint64_t[]){31, 20, 10});
	other = mew_collect_stack(&c, 0, &w, MEW_COLLECT_WHOLE);
	assert_int_not_equal(a, other);
	assert_int_equal(c.n_nodes, 5); /* two frames are shared */
	assert_int_equal(c.nodes[a].parent, c.nodes[other].parent);
	assert_int_equal(c.nodes[a].exact, 1);
	assert_int_equal(c.nodes[c.nodes[a].parent].exact, 0);
	mew_collect_done(&c);
}

static void collect_keeps_broken_stacks_and_images_apart(void **state)
{
	static struct mew_walk_result w;
	struct mew_collect c;
	uint32_t whole, broken, image;

	(void)state;
	assert_int_equal(mew_collect_init(&c), 0);
	walk(&w, 2, (uint64_t[]){20, 10});
	whole = mew_collect_stack(&c, 0, &w, MEW_COLLECT_WHOLE);
	broken = mew_collect_stack(&c, 0, &w, MEW_COLLECT_BROKEN);
	image = mew_collect_stack(&c, 1, &w, MEW_COLLECT_WHOLE);
	assert_int_not_equal(whole, broken);
	assert_int_not_equal(whole, image);
	assert_int_equal(c.nodes[c.nodes[broken].parent].mark, MEW_COLLECT_BROKEN);
	assert_int_equal(c.nodes[broken].mark, MEW_COLLECT_WHOLE);
	mew_collect_done(&c);
}

static void collect_settles_ticks_round_by_round_and_thread_by_thread(void **state)
{
	struct mew_collect c;
	uint32_t node;

	(void)state;
	assert_int_equal(mew_collect_init(&c), 0);
	node = mew_collect_child(&c, 0, 0, 10, 1, MEW_COLLECT_WHOLE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(mew_collect_tick(&c, 0, node, 1), 0);
	assert_int_equal(mew_collect_tick(&c, 1, node, 1), 0);
	mew_collect_settle(&c, 0, 0.5);
	mew_collect_settle(&c, 0, 100); /* nothing is open any more */
	assert_true(c.hits[0].weight_s == 1.5);
	assert_true(c.hits[1].weight_s == 0);
	assert_int_equal(mew_collect_tick(&c, 0, node, 1), 0);
	mew_collect_settle(&c, 0, 0.25);
	assert_true(c.hits[0].weight_s == 1.75);
	assert_int_equal(c.hits[0].samples, 4);
	mew_collect_forget(&c);
	mew_collect_settle(&c, 1, 1);
	assert_true(c.hits[1].weight_s == 0);
	mew_collect_done(&c);
}

static void collect_shows_broken_stacks_under_a_frame_of_their_own(void **state)
{
	static struct mew_walk_result w;
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *k = mew_session_case(s, "a", "");
	struct mew_collect c;
	uint64_t unknown = 0;
	uint32_t at;

	(void)state;
	assert_int_equal(mew_collect_init(&c), 0);
	walk(&w, 2, (uint64_t[]){20, 10});
	assert_int_equal(
		mew_collect_tick(&c, 0, mew_collect_stack(&c, 0, &w, MEW_COLLECT_BROKEN), 0), 0);
	mew_collect_settle(&c, 0, 2);
	assert_int_equal(mew_collect_values(&c, s, k, no_symbols, NULL, &unknown), 0);
	assert_int_equal(unknown, 1);
	assert_int_equal(k->n_values, 1);
	assert_int_equal(k->values[0].whole, 0);
	assert_true(k->values[0].weight_s == 2);
	at = k->values[0].stack;
	while (s->stacks[at].parent)
		at = s->stacks[at].parent;
	assert_string_equal(s->functions[s->stacks[at].function].name, "[broken stack]");
	mew_collect_done(&c);
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collect_gives_one_node_to_one_stack),
		cmocka_unit_test(collect_keeps_broken_stacks_and_images_apart),
		cmocka_unit_test(collect_settles_ticks_round_by_round_and_thread_by_thread),
		cmocka_unit_test(collect_shows_broken_stacks_under_a_frame_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
