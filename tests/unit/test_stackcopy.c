/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "profile/stackcopy.h"
#include "unit.h"

static void a_copy_that_serves_stays_as_it_is(void **state)
{
	struct mew_stackcopy s;

	(void)state;
	mew_stackcopy_init(&s, 8192, 0);
	assert_int_equal(mew_stackcopy_next(&s, 0, 0, 0), 0);
	assert_int_equal(mew_stackcopy_next(&s, 1000, 1, 7000), 0);
	assert_int_equal(s.bytes, 8192);
}

static void a_copy_that_is_too_small_grows_and_is_then_fitted_once(void **state)
{
	struct mew_stackcopy s;

	(void)state;
	mew_stackcopy_init(&s, 8192, 0);
	assert_int_equal(mew_stackcopy_next(&s, 1000, 2, 8000), MEW_STACKCOPY_MAX);
	/* 12,000 and a quarter is 15,000: the next whole 4096 */
	assert_int_equal(mew_stackcopy_next(&s, 1000, 0, 12000), 16384);
	assert_int_equal(mew_stackcopy_next(&s, 1000, 0, 12000), 0);
	/* A deeper one comes later: no second try to save. */
	assert_int_equal(mew_stackcopy_next(&s, 1000, 5, 12000), MEW_STACKCOPY_MAX);
	assert_int_equal(mew_stackcopy_next(&s, 1000, 0, 12000), 0);
	assert_int_equal(s.bytes, MEW_STACKCOPY_MAX);
}

static void what_the_largest_copy_cannot_hold_stays_cut(void **state)
{
	struct mew_stackcopy s;

	(void)state;
	mew_stackcopy_init(&s, 8192, 0);
	assert_int_equal(mew_stackcopy_next(&s, 10, 10, 0), MEW_STACKCOPY_MAX);
	assert_int_equal(mew_stackcopy_next(&s, 10, 10, 60000), 0);
	assert_int_equal(mew_stackcopy_next(&s, 10, 0, 1000), 0);
	assert_int_equal(s.bytes, MEW_STACKCOPY_MAX);
}

static void a_need_near_the_largest_copy_is_not_fitted(void **state)
{
	struct mew_stackcopy s;

	(void)state;
	mew_stackcopy_init(&s, 8192, 0);
	mew_stackcopy_next(&s, 10, 10, 0);
	assert_int_equal(mew_stackcopy_next(&s, 10, 0, 40000), 0);
	mew_stackcopy_init(&s, 8192, 0);
	mew_stackcopy_next(&s, 10, 10, 0);
	assert_int_equal(mew_stackcopy_next(&s, 10, 0, 10), 8192);
}

static void a_size_that_was_given_is_exact(void **state)
{
	struct mew_stackcopy s;

	(void)state;
	mew_stackcopy_init(&s, 1024, 1);
	assert_int_equal(mew_stackcopy_next(&s, 1000, 1000, 8000), 0);
	assert_int_equal(s.bytes, 1024);
}

static void one_in_a_thousand_is_not_too_many(void **state)
{
	(void)state;
	assert_false(mew_stackcopy_cuts(0, 0));
	assert_false(mew_stackcopy_cuts(2000, 2));
	assert_true(mew_stackcopy_cuts(2000, 3));
	assert_true(mew_stackcopy_cuts(1, 1));
}

static void a_copy_shrinks_where_stacks_end_in_it_and_need_little(void **state)
{
	(void)state;
	assert_true(mew_stackcopy_shrinks(1000, 501, 1024, 2048));
	assert_false(mew_stackcopy_shrinks(1000, 500, 1024, 2048));
	assert_false(mew_stackcopy_shrinks(1000, 1000, 1025, 2048));
	assert_false(mew_stackcopy_shrinks(1000, 1000, UINT64_MAX, 2048));
	assert_false(mew_stackcopy_shrinks(0, 0, 0, 2048));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_that_serves_stays_as_it_is),
		cmocka_unit_test(a_copy_that_is_too_small_grows_and_is_then_fitted_once),
		cmocka_unit_test(what_the_largest_copy_cannot_hold_stays_cut),
		cmocka_unit_test(a_need_near_the_largest_copy_is_not_fitted),
		cmocka_unit_test(a_size_that_was_given_is_exact),
		cmocka_unit_test(a_copy_shrinks_where_stacks_end_in_it_and_need_little),
		cmocka_unit_test(one_in_a_thousand_is_not_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
