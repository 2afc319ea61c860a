/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>

#include "profile/account.h"
#include "unit.h"

static struct mew_account of(const struct mew_account_round *rounds, unsigned n)
{
	struct mew_account a = {0};
	unsigned i;

	for (i = 0; i < n; i++)
		mew_account_add(&a, &rounds[i]);
	mew_account_finish(&a);
	return a;
}

static void a_loop_in_user_code_has_no_kernel_time(void **state)
{
	/* 10.5 periods: ten ticks, and each stands for 1.05 ms. */
	struct mew_account_round r = {.wall_s = 0.0105,
				      .count_s = 0.0105,
				      .clock_all_s = 0.0105,
				      .period_s = 0.001,
				      .ticks = 10};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.weight_scale, 1.05, 1e-9);
	assert_near(a.user_s, 0.0105, 1e-9);
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.unexplained_s, 0, 1e-9);
}

static void ticks_that_are_missing_are_kernel_time(void **state)
{
	/* 1000 expected, 450 seen: 55 % in the kernel, +-1.6 %. */
	struct mew_account_round r = {.wall_s = 1.1,
				      .off_s = 0.1,
				      .count_s = 1,
				      .clock_all_s = 1,
				      .period_s = 0.001,
				      .ticks = 450};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.weight_scale, 1, 1e-9);
	assert_near(a.user_s, 0.45, 1e-9);
	assert_near(a.kernel_s, 0.55, 1e-9);
	assert_near(a.off_s, 0.1, 1e-9);
	assert_near(a.unexplained_s, 0, 1e-9);
	/* sqrt(1000 * 0.45 * 0.55 + 1) ticks */
	assert_near(a.kernel_error_s, 0.015764, 1e-6);
}

static void a_share_below_twice_its_error_is_nothing_and_user_takes_it(void **state)
{
	/* 1000 expected, 998 seen: 2 +- sqrt(1000 * 0.998 * 0.002 + 1) = 1.73 ticks. */
	struct mew_account_round r = {
		.wall_s = 1, .count_s = 1, .clock_all_s = 1, .period_s = 0.001, .ticks = 998};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.user_s, 1, 1e-9);
	assert_near(a.weight_scale * 998 * 0.001, a.user_s, 1e-9);
	/* 990 seen: 10 +- 3.3 ticks is something. */
	r.ticks = 990;
	a = of(&r, 1);
	assert_near(a.kernel_s, 0.01, 1e-9);
}

static void ticks_in_pauses_are_no_kernel_time(void **state)
{
	/* Half of the clock ran in pauses; 500 of 1000 ticks fell there. */
	struct mew_account_round r = {
		.wall_s = 0.5, .count_s = 0.5, .clock_all_s = 1, .period_s = 0.001, .ticks = 500};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.user_s, 0.5, 1e-9);
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.unexplained_s, 0, 1e-9);
}

static void rounds_too_short_for_a_tick_are_covered_by_the_others(void **state)
{
	/* Half a period each beside one of ten: the clock's 15 periods are shared by ten ticks. */
	struct mew_account_round r[11];
	struct mew_account a;
	unsigned i;

	(void)state;
	for (i = 0; i < 10; i++)
		r[i] = (struct mew_account_round){.wall_s = 0.0005,
						  .count_s = 0.0005,
						  .clock_all_s = 0.0005,
						  .period_s = 0.001};
	r[10] = (struct mew_account_round){.wall_s = 0.01,
					   .count_s = 0.01,
					   .clock_all_s = 0.01,
					   .period_s = 0.001,
					   .ticks = 10};
	a = of(r, 11);
	assert_near(a.weight_scale, 1.5, 1e-9);
	assert_near(a.user_s, 0.015, 1e-9);
	assert_near(a.kernel_s, 0, 0);
}

static void periods_of_different_length_weigh_as_they_are(void **state)
{
	/* Kernel half of the time, at 1 ms and at 0.5 ms. */
	struct mew_account_round r[2] = {
		{.wall_s = 1, .count_s = 1, .clock_all_s = 1, .period_s = 0.001, .ticks = 500},
		{.wall_s = 1, .count_s = 1, .clock_all_s = 1, .period_s = 0.0005, .ticks = 1000},
	};
	struct mew_account a = of(r, 2);

	(void)state;
	assert_near(a.user_s, 1, 1e-9);
	assert_near(a.kernel_s, 1, 1e-9);
	/* sqrt((1000 ms^2 + 2000 * 0.25 ms^2) / 4 + 1 + 0.25) */
	assert_near(a.kernel_error_s, sqrt(375 + 1.25) * 1e-3, 1e-9);
}

static void no_tick_at_all_is_kernel_time_only_when_some_were_due(void **state)
{
	struct mew_account_round r = {
		.wall_s = 1, .count_s = 1, .clock_all_s = 1, .period_s = 0.001};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.kernel_s, 1, 1e-9);
	assert_near(a.user_s, 0, 0);
	assert_near(a.weight_scale, 1, 1e-9);

	r.count_s = r.clock_all_s = r.wall_s = 0.0009; /* not one was due */
	a = of(&r, 1);
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.user_s, 0.0009, 1e-12);

	r.count_s = r.clock_all_s = r.wall_s = 0.0015; /* one was due: it says too little */
	a = of(&r, 1);
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.user_s, 0.0015, 1e-12);
}

static void a_round_that_did_not_run_is_nothing(void **state)
{
	struct mew_account_round r = {0};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.user_s, 0, 0);
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.unexplained_s, 0, 0);
	assert_near(a.weight_scale, 1, 0);
	a = of(NULL, 0);
	assert_near(a.weight_scale, 1, 0);
}

static void more_ticks_than_the_clock_ran_are_not_hidden(void **state)
{
	struct mew_account_round r = {
		.wall_s = 1, .count_s = 0.5, .clock_all_s = 1, .period_s = 0.001, .ticks = 1000};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.user_s, 1, 1e-9);
	assert_near(a.kernel_s, 0, 0);

	r.wall_s = 0.5;
	a = of(&r, 1);
	assert_near(a.unexplained_s, -0.5, 1e-9);
}

static void off_cpu_time_that_is_not_known_explains_nothing(void **state)
{
	struct mew_account_round r[2] = {
		{.wall_s = 1, .off_s = 0.1, .count_s = 0.9, .clock_all_s = 0.9, .period_s = 0.001},
		{.wall_s = 1, .off_s = NAN, .count_s = 0.9, .clock_all_s = 0.9, .period_s = 0.001},
	};
	struct mew_account a = of(r, 2);

	(void)state;
	assert_true(isnan(a.off_s));
	assert_true(isnan(a.unexplained_s));
	assert_false(isnan(a.kernel_s));
}

static void what_many_clocks_ran_after_their_last_ticks_is_no_kernel_time(void **state)
{
	/* Ten clocks of 1.5 periods each, in user mode: a tick each. */
	struct mew_account_round r = {.wall_s = 0.015,
				      .count_s = 0.015,
				      .clock_all_s = 0.015,
				      .period_s = 0.001,
				      .ticks = 10,
				      .n_more_ends = 9,
				      .unticked_s = 0.0045};
	struct mew_account a = of(&r, 1);

	(void)state;
	assert_near(a.unticked_s, 0.0045, 1e-9);
	assert_near(a.user_s, 0.0105, 1e-9);
	assert_near(a.kernel_s, 0, 0);
	assert_near(a.unexplained_s, 0.0045, 1e-9);
	/* A thousand, half of whose ticks the kernel had: of 1500 - 500 periods 500 are there. */
	r.wall_s = r.count_s = r.clock_all_s = 1.5;
	r.ticks = 500;
	r.n_more_ends = 1000;
	r.unticked_s = 0.5;
	a = of(&r, 1);
	assert_near(a.user_s, 0.5, 1e-9);
	assert_near(a.kernel_s, 0.5, 1e-9);
	assert_near(a.unexplained_s, 0.5, 1e-9);
	/* sqrt(1000 / 4 + 1 + 1000 / 12) periods */
	assert_near(a.kernel_error_s, 0.0182848, 1e-6);
	/* Most never ticked: what came is all that there was to come. */
	r.ticks = 1200;
	r.n_more_ends = 100000;
	r.unticked_s = 50;
	a = of(&r, 1);
	assert_near(a.unticked_s, 0.3, 1e-9);
	assert_near(a.user_s, 1.2, 1e-9);
	assert_near(a.kernel_s, 0, 0);
	/* Those that ran for 77 us each: kernel time stays what it is. */
	r.wall_s = r.count_s = r.clock_all_s = 0.85;
	r.ticks = 398;
	r.n_more_ends = 1000;
	r.unticked_s = 0.077;
	a = of(&r, 1);
	assert_near(a.user_s, 0.398, 1e-9);
	assert_near(a.kernel_s, 0.375, 1e-9);
}

/* What is left once samples weigh what they stand for: user + kernel time. */
static double sum_of(const struct mew_account_samples *s, const struct mew_account_weights *w)
{
	return s->user * w->user_factor + s->kernel * w->kernel_factor;
}

static void check_weights(const struct mew_account *a, const struct mew_account_samples *s,
			  double user_s, double kernel_s, double sampled_s)
{
	struct mew_account_weights w;

	mew_account_weigh(a, s, &w);
	assert_near(w.user_s, user_s, 1e-9);
	assert_near(w.kernel_s, kernel_s, 1e-9);
	assert_near(sum_of(s, &w), sampled_s, 1e-9);
	/* nothing twice: what is not sampled comes to what is */
	assert_near(sum_of(s, &w) - w.sampled_kernel_s + w.unsampled_user_s, user_s, 1e-9);
	assert_near(user_s + kernel_s + w.unexplained_s, a->wall_s - a->off_s, 1e-9);
}

static void samples_of_user_mode_add_up_to_user_time(void **state)
{
	struct mew_account a = {.wall_s = 1, .user_s = 0.6, .kernel_s = 0.3, .off_s = 0.1};
	struct mew_account_samples s = {.of_user = 1, .are_ticks = 1, .user = 300};

	(void)state;
	check_weights(&a, &s, 0.6, 0.3, 0.6);
	s.are_ticks = 0;
	check_weights(&a, &s, 0.6, 0.3, 0.6);
	s.user = 0; /* it does not happen in the loop: the time is the loop's all the same */
	check_weights(&a, &s, 0.6, 0.3, 0);
}

static void ticks_of_both_modes_divide_the_time_of_the_cpu(void **state)
{
	/* All of a clock's ticks are there: the account takes them for user mode. */
	struct mew_account a = {.wall_s = 1, .user_s = 0.9, .off_s = 0.1};
	struct mew_account_samples s = {
		.of_user = 1, .of_kernel = 1, .are_ticks = 1, .user = 600, .kernel = 300};

	(void)state;
	check_weights(&a, &s, 0.6, 0.3, 0.9);
	/* Some are missing: nobody knows of which mode. */
	a.user_s = 0.45;
	a.kernel_s = 0.45;
	check_weights(&a, &s, 0.3, 0.15, 0.45);
	s.user = s.kernel = 0;
	a.user_s = 0;
	a.kernel_s = 0.9;
	check_weights(&a, &s, 0, 0, 0);
}

static void ticks_of_the_kernel_are_kernel_time_and_the_rest_is_user_time(void **state)
{
	/* The account takes any tick for user mode, and the rest of the count for the kernel. */
	struct mew_account a = {.wall_s = 1, .user_s = 0.3, .kernel_s = 0.6, .off_s = 0.1};
	struct mew_account_samples s = {.of_kernel = 1, .are_ticks = 1, .kernel = 300};

	(void)state;
	check_weights(&a, &s, 0.6, 0.3, 0.3);
	s.kernel = 0;
	a.user_s = 0;
	a.kernel_s = 0.9;
	check_weights(&a, &s, 0.9, 0, 0);
}

static void samples_of_other_events_add_up_to_what_the_clock_says_of_each_mode(void **state)
{
	struct mew_account a = {.wall_s = 1, .user_s = 0.6, .kernel_s = 0.3, .off_s = 0.1};
	struct mew_account_samples s = {.of_user = 1, .of_kernel = 1, .user = 10, .kernel = 90};

	(void)state;
	check_weights(&a, &s, 0.6, 0.3, 0.9);
	s.kernel = 0; /* the event does not happen in the kernel: its time is not sampled */
	check_weights(&a, &s, 0.6, 0.3, 0.6);
	s.kernel = 90;
	s.of_user = 0;
	s.user = 10; /* taken just behind the kernel */
	check_weights(&a, &s, 0.6, 0.3, 0.3);
	/* Nothing of it happens in user mode: that time is not sampled. */
	s = (struct mew_account_samples){.of_user = 1, .of_kernel = 1, .kernel = 90};
	check_weights(&a, &s, 0.6, 0.3, 0.3);
	s.user = 10;
	/* The clock saw none of the kernel: what is sampled there comes out of user time. */
	a.user_s = 0.9;
	a.kernel_s = 0;
	check_weights(&a, &s, 0.09, 0.81, 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_in_user_code_has_no_kernel_time),
		cmocka_unit_test(ticks_that_are_missing_are_kernel_time),
		cmocka_unit_test(a_share_below_twice_its_error_is_nothing_and_user_takes_it),
		cmocka_unit_test(ticks_in_pauses_are_no_kernel_time),
		cmocka_unit_test(rounds_too_short_for_a_tick_are_covered_by_the_others),
		cmocka_unit_test(periods_of_different_length_weigh_as_they_are),
		cmocka_unit_test(no_tick_at_all_is_kernel_time_only_when_some_were_due),
		cmocka_unit_test(a_round_that_did_not_run_is_nothing),
		cmocka_unit_test(more_ticks_than_the_clock_ran_are_not_hidden),
		cmocka_unit_test(off_cpu_time_that_is_not_known_explains_nothing),
		cmocka_unit_test(what_many_clocks_ran_after_their_last_ticks_is_no_kernel_time),
		cmocka_unit_test(samples_of_user_mode_add_up_to_user_time),
		cmocka_unit_test(ticks_of_both_modes_divide_the_time_of_the_cpu),
		cmocka_unit_test(ticks_of_the_kernel_are_kernel_time_and_the_rest_is_user_time),
		cmocka_unit_test(
			samples_of_other_events_add_up_to_what_the_clock_says_of_each_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
