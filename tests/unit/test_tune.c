/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/tune.h"
#include "unit.h"

static void a_round_that_is_long_enough_ends_the_tuning(void **state)
{
	(void)state;
	assert_int_equal(mew_tune_next(100, 0.5, 0.5, 0.5), 0);
	assert_int_equal(mew_tune_next(1, 3, 3, 0.5), 0);
}

static void a_round_far_too_short_grows_tenfold(void **state)
{
	(void)state;
	assert_int_equal(mew_tune_next(1, 0, 0, 0.5), 10);
	assert_int_equal(mew_tune_next(1000, 0.0001, 0.0001, 0.5), 10000);
}

static void a_round_near_the_goal_aims_a_little_beyond_it(void **state)
{
	(void)state;
	/* 0.25 s for 1000: 2000 would do, 2800 do it surely. */
	assert_in_range(mew_tune_next(1000, 0.25, 0.25, 0.5), 2799, 2800);
}

static void the_next_round_is_never_smaller(void **state)
{
	(void)state;
	assert_int_equal(mew_tune_next(1, 0.49, 0.49, 0.5), 2);
	assert_int_equal(mew_tune_next(1, 0.01, 4.9, 0.5), 2);
}

static void dear_pauses_bound_the_real_time(void **state)
{
	(void)state;
	/* 1 ms measured, 1 s with pauses: 5 rounds of that are all there may be. */
	assert_int_equal(mew_tune_next(10, 0.001, 1, 0.5), 50);
	assert_int_equal(mew_tune_next(50, 0.005, 5, 0.5), 0);
}

static void iterations_have_an_end(void **state)
{
	(void)state;
	assert_int_equal(mew_tune_next(MEW_TUNE_MAX / 2, 0, 0, 0.5), MEW_TUNE_MAX);
	assert_int_equal(mew_tune_next(MEW_TUNE_MAX, 0, 0, 0.5), 0);
}

static void tuning_arrives_whatever_an_iteration_costs(void **state)
{
	static const double costs_s[] = {0, 1e-10, 1e-6, 0.003, 0.7, 10};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(costs_s) / sizeof(costs_s[0]); i++) {
		uint64_t n = 1, next;
		int rounds = 0;

		for (;;) {
			double s = (double)n * costs_s[i];

			next = mew_tune_next(n, s, s, 0.5);
			if (next == 0)
				break;
			assert_true(next > n);
			n = next;
			assert_true(++rounds < 20);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_that_is_long_enough_ends_the_tuning),
		cmocka_unit_test(a_round_far_too_short_grows_tenfold),
		cmocka_unit_test(a_round_near_the_goal_aims_a_little_beyond_it),
		cmocka_unit_test(the_next_round_is_never_smaller),
		cmocka_unit_test(dear_pauses_bound_the_real_time),
		cmocka_unit_test(iterations_have_an_end),
		cmocka_unit_test(tuning_arrives_whatever_an_iteration_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
