/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/rate.h"

static void rate_period_is_the_next_prime_of_rate_times_interval(void **state)
{
	(void)state;
	assert_int_equal(mew_rate_period(3e9, 1e-4), 300007);
	assert_int_equal(mew_rate_period(1e6, 1e-4), 101);
	assert_int_equal(mew_rate_period(1e6, 2e-6), 2);
	assert_int_equal(mew_rate_period(1e6, 4e-6), 5);
	assert_int_equal(mew_rate_period(1e6, 7e-6), 7);
}

static void rate_period_of_a_rare_event_is_every_occurrence(void **state)
{
	(void)state;
	assert_int_equal(mew_rate_period(0, 1e-4), 1);
	assert_int_equal(mew_rate_period(100, 1e-4), 1);
	assert_int_equal(mew_rate_period(15000, 1e-4), 1);
}

static void rate_period_is_bounded(void **state)
{
	(void)state;
	assert_in_range(mew_rate_period(1e30, 1e9), 1ull << 40, (1ull << 40) + 1000);
	assert_int_equal(mew_rate_period(-1.0, 1), 1);
	assert_int_equal(mew_rate_period(0.0 / 0.0, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_period_is_the_next_prime_of_rate_times_interval),
		cmocka_unit_test(rate_period_of_a_rare_event_is_every_occurrence),
		cmocka_unit_test(rate_period_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
