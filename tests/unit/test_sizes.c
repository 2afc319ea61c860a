/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/sizes.h"
#include "unit.h"

static void a_class_goes_up_to_a_power_of_two(void **state)
{
	(void)state;
	assert_int_equal(mew_sizes_class(0), 0);
	assert_int_equal(mew_sizes_class(1), 1);
	assert_int_equal(mew_sizes_class(2), 2);
	assert_int_equal(mew_sizes_class(3), 3);
	assert_int_equal(mew_sizes_class(4), 3);
	assert_int_equal(mew_sizes_class(5), 4);
	assert_int_equal(mew_sizes_class(1024), 11);
	assert_int_equal(mew_sizes_class(1025), 12);
	assert_int_equal(mew_sizes_class(1ull << 61), 62);
	assert_int_equal(mew_sizes_class((1ull << 61) + 1), 63);
	assert_int_equal(mew_sizes_class(UINT64_MAX), 63);
}

static void each_class_ends_where_it_says_and_the_next_one_begins(void **state)
{
	(void)state;
	for (unsigned k = 0; k + 1 < MEW_SIZES_CLASSES; k++) {
		assert_int_equal(mew_sizes_class(mew_sizes_most(k)), k);
		assert_int_equal(mew_sizes_class(mew_sizes_most(k) + 1), k + 1);
	}
	assert_true(mew_sizes_most(MEW_SIZES_CLASSES - 1) == INT64_MAX);
}

static void threads_of_any_number_add_up(void **state)
{
	static struct mew_sizes s;

	(void)state;
	for (uint32_t thread = 0; thread < 100; thread++)
		(*mew_sizes_at(&s, thread, 24))++;
	(*mew_sizes_at(&s, UINT32_MAX, 32))++;
	(*mew_sizes_at(&s, 0, 33))++;
	assert_int_equal(mew_sizes_of(&s, 6), 101);
	assert_int_equal(mew_sizes_of(&s, 7), 1);
	assert_int_equal(mew_sizes_of(&s, 5), 0);
}

static void the_first_threads_have_a_place_each(void **state)
{
	static struct mew_sizes s;

	(void)state;
	for (uint32_t a = 1; mew_sizes_is_own(a); a++)
		for (uint32_t b = 0; b < 100; b++)
			assert_int_equal(mew_sizes_at(&s, a, 24) == mew_sizes_at(&s, b, 24),
					 a == b);
	assert_true(mew_sizes_is_own(1));
	assert_true(mew_sizes_is_own(MEW_SIZES_PLACES - 1));
	assert_false(mew_sizes_is_own(MEW_SIZES_PLACES));
	assert_false(mew_sizes_is_own(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_goes_up_to_a_power_of_two),
		cmocka_unit_test(each_class_ends_where_it_says_and_the_next_one_begins),
		cmocka_unit_test(threads_of_any_number_add_up),
		cmocka_unit_test(the_first_threads_have_a_place_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
