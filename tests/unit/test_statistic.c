/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/statistic.h"
#include "unit.h"

#define NEAR(a, b) assert_true((a) > (b)-1e-12 * (1 + (b)) && (a) < (b) + 1e-12 * (1 + (b)))

static void one_value_has_no_spread(void **state)
{
	double v[] = {3};
	struct mew_statistic s = mew_statistic_of(v, 1);

	(void)state;
	NEAR(s.median, 3);
	NEAR(s.mean, 3);
	assert_true(s.stddev == 0 && s.cv == 0);
}

static void the_median_of_an_even_number_lies_between_the_middle_two(void **state)
{
	double v[] = {40, 10, 30, 20}, w[] = {9, 1, 2};

	(void)state;
	NEAR(mew_statistic_of(v, 4).median, 25);
	NEAR(mew_statistic_of(w, 3).median, 2);
}

static void the_deviation_is_the_samples(void **state)
{
	double v[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct mew_statistic s = mew_statistic_of(v, 8);

	(void)state;
	NEAR(s.mean, 5);
	/* sqrt(32 / 7) */
	NEAR(s.stddev, 2.138089935299395);
	NEAR(s.cv, 2.138089935299395 / 5);
}

static void tiny_and_huge_values_keep_their_spread(void **state)
{
	double tiny[] = {1e-9, 3e-9}, huge[] = {1e18, 3e18}, zero[] = {0, 0};

	(void)state;
	assert_true(mew_statistic_of(tiny, 2).cv > 0.7071 && mew_statistic_of(tiny, 2).cv < 0.7072);
	assert_true(mew_statistic_of(huge, 2).cv > 0.7071 && mew_statistic_of(huge, 2).cv < 0.7072);
	assert_true(mew_statistic_of(zero, 2).cv == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value_has_no_spread),
		cmocka_unit_test(the_median_of_an_even_number_lies_between_the_middle_two),
		cmocka_unit_test(the_deviation_is_the_samples),
		cmocka_unit_test(tiny_and_huge_values_keep_their_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
