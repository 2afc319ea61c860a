/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/copies.h"
#include "unit.h"

/* All sizes are one event, that is on: none is ever switched. */
static struct mew_whole_ring rings[2] = {
	{.fd = 1000, .on_fd = 1000, .size_fds = {1000, 0, 1000, 1000}},
};

static struct mew_whole program(void)
{
	return (struct mew_whole){
		.rings = rings,
		.n_rings = 2,
		.sizes = {2048, 8192, 32768, 65528},
		.size = MEW_WHOLE_FIRST,
	};
}

/* n stacks that took need bytes, of copies of `asked` bytes that ended after `got`. */
static void note(struct mew_copies *c, unsigned n, uint32_t asked, uint32_t got, uint32_t need)
{
	struct mew_record r = {.stack_asked = asked, .stack_bytes = got};
	static struct mew_walk_result walk;

	walk.end = need <= got ? MEW_WALK_OUTERMOST : MEW_WALK_CUT;
	walk.stack_bytes = need;
	for (unsigned i = 0; i < n; i++)
		mew_copies_note(c, &r, &walk, walk.end == MEW_WALK_OUTERMOST);
}

static void a_shallow_program_gets_small_copies_until_a_stack_is_cut(void **state)
{
	struct mew_whole w = program();
	struct mew_copies c;

	(void)state;
	mew_copies_init(&c, 8192);
	note(&c, 999, 8192, 3000, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 8192);
	note(&c, 1, 8192, 3000, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 2048);
	assert_int_equal(w.size, 0);
	assert_int_equal(mew_copies_too_small(&c), 0);
	note(&c, 100000, 2048, 2048, 1900);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 2048);
	assert_int_equal(mew_copies_wait_ms(&c, &w), 10);
	note(&c, 1, 2048, 2048, 2100);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 8192);
	assert_int_equal(mew_copies_too_small(&c), 2048);
	/* those of before do not count, and there is no way back */
	note(&c, 50, 2048, 2048, 2100);
	note(&c, 2000, 8192, 3000, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 8192);
	assert_int_equal(mew_copies_wait_ms(&c, &w), 100);
}

static void a_stack_that_the_kernel_could_not_read_is_of_no_size(void **state)
{
	struct mew_whole w = program();
	struct mew_record unread = {.stack_asked = 8192, .n_kernel_pcs = 1};
	static struct mew_walk_result walk;
	struct mew_copies c;

	(void)state;
	mew_copies_init(&c, 8192);
	walk.end = MEW_WALK_CUT;
	mew_copies_note(&c, &unread, &walk, 0);
	assert_int_equal(mew_copies_too_small(&c), 0);
	note(&c, 1000, 8192, 3000, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 2048);
}

static void what_took_more_is_forgotten_after_a_trial(void **state)
{
	struct mew_whole w = program();
	struct mew_copies c;

	(void)state;
	mew_copies_init(&c, 8192);
	note(&c, 1, 8192, 4000, 1025);
	note(&c, 999, 8192, 3000, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 8192);
	note(&c, 1000, 8192, 3000, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 2048);
}

static void copies_that_do_not_reach_the_end_of_the_stack_stay(void **state)
{
	struct mew_whole w = program();
	struct mew_copies c;

	(void)state;
	mew_copies_init(&c, 8192);
	note(&c, 1000, 8192, 8192, 700);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 8192);
}

static void cut_stacks_lead_to_larger_copies(void **state)
{
	struct mew_whole w = program();
	struct mew_copies c;

	(void)state;
	mew_copies_init(&c, 8192);
	note(&c, 10, 8192, 8192, 9000);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 32768);
	note(&c, 10, 8192, 8192, 9000);
	note(&c, 10, 32768, 32768, 9000);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 32768);
	assert_int_equal(mew_copies_too_small(&c), 8192);
	/* the kernel asks for less than 65528 where the record has no room for more */
	note(&c, 10, 32768, 32768, 65500);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 65528);
	note(&c, 10, 65000, 65000, 65500);
	mew_copies_fit(&c, &w);
	assert_int_equal(c.bytes, 65528);
	assert_int_equal(c.n_cut, 10);
	assert_int_equal(mew_copies_too_small(&c), 65528);
	assert_int_equal(mew_copies_wait_ms(&c, &w), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shallow_program_gets_small_copies_until_a_stack_is_cut),
		cmocka_unit_test(a_stack_that_the_kernel_could_not_read_is_of_no_size),
		cmocka_unit_test(what_took_more_is_forgotten_after_a_trial),
		cmocka_unit_test(copies_that_do_not_reach_the_end_of_the_stack_stay),
		cmocka_unit_test(cut_stacks_lead_to_larger_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
