/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "profile/plan.h"
#include "unit.h"

/* A program that is made of numbers. */
struct program {
	double iteration_s; /* of a thread */
	double pause_s;     /* in an iteration, beside it */
	double tick_s;      /* what a tick costs */
	double user;        /* share of ticks that are samples */
	unsigned disturbed; /* this SAMPLED round (from 1) takes three times as long */
	unsigned warm_late; /* this WARM_UP round (from 1) takes a hundred times as long */
};

/* What came of it. */
struct story {
	unsigned n_warm, n_plain, n_sampled, n_discards, n_rounds;
	uint64_t warm, plain, sampled; /* iterations of a thread; sampled: since the last discard */
	uint64_t sampled_all, samples, largest;
	double sampled_s, elapsed_s, warm_elapsed_s;
	double period_min_s, period_max_s;
	enum mew_round_kind kinds[2000];
	struct mew_plan_result result;
};

static struct mew_plan_facts run(const struct program *p, const struct mew_plan_round *r,
				 unsigned n_threads, const struct story *story)
{
	struct mew_plan_facts f = {.kind = r->kind, .iterations = r->iterations * n_threads};
	double s = p->iteration_s * (double)r->iterations, period = (double)r->period_ns * 1e-9;

	if (r->kind == MEW_ROUND_SAMPLED) {
		s *= period / (period - (p->tick_s < period / 2 ? p->tick_s : period / 2));
		f.ticks = (uint64_t)(s / period) * n_threads;
		f.samples = (uint64_t)((double)f.ticks * p->user);
		if (story->n_sampled + 1 == p->disturbed)
			s *= 3;
	}
	if (r->kind == MEW_ROUND_WARM_UP && story->n_warm + 1 == p->warm_late)
		s *= 100;
	f.wall_ns = (uint64_t)(s * 1e9);
	f.loop_ns = f.wall_ns * n_threads;
	f.paused_ns = (uint64_t)(p->pause_s * (double)r->iterations * 1e9) * n_threads;
	return f;
}

static void note(struct story *story, const struct mew_plan_round *r,
		 const struct mew_plan_facts *f, unsigned n_threads)
{
	double elapsed_s = ((double)f->wall_ns + (double)f->paused_ns / n_threads) / 1e9;

	story->elapsed_s += elapsed_s;
	if (r->iterations > story->largest)
		story->largest = r->iterations;
	if (r->kind == MEW_ROUND_WARM_UP) {
		story->n_warm++;
		story->warm += r->iterations;
		story->warm_elapsed_s += elapsed_s;
	} else if (r->kind == MEW_ROUND_PLAIN) {
		story->n_plain++;
		story->plain += r->iterations;
	} else {
		story->n_sampled++;
		story->sampled += r->iterations;
		story->sampled_all += r->iterations;
		story->samples += f->samples;
		story->sampled_s += (double)f->wall_ns / 1e9;
	}
}

static struct story play(const struct program *p, const struct mew_plan_options *o)
{
	struct story story = {.period_min_s = INFINITY};
	struct mew_plan plan;
	struct mew_plan_round r;
	struct mew_plan_facts f;

	mew_plan_init(&plan, o);
	for (r = mew_plan_next(&plan, NULL); r.kind != MEW_ROUND_STOP;
	     r = mew_plan_next(&plan, &f)) {
		assert_true(story.n_rounds < 2000);
		assert_true(r.iterations >= 1);
		story.kinds[story.n_rounds++] = r.kind;
		if (r.discard) {
			story.n_discards++;
			story.sampled = story.samples = 0;
			story.period_min_s = INFINITY;
			story.period_max_s = 0;
		}
		if (r.kind == MEW_ROUND_SAMPLED) {
			story.period_min_s = fmin(story.period_min_s, (double)r.period_ns * 1e-9);
			story.period_max_s = fmax(story.period_max_s, (double)r.period_ns * 1e-9);
		}
		f = run(p, &r, o->n_threads, &story);
		note(&story, &r, &f, o->n_threads);
	}
	assert_int_equal(mew_plan_next(&plan, &f).kind, MEW_ROUND_STOP);
	story.result = mew_plan_result(&plan);
	return story;
}

static const struct mew_plan_options adapt = {.n_threads = 1, .seed = 1};

static void a_loop_runs_until_it_has_samples_and_pairs_enough(void **state)
{
	struct program p = {.iteration_s = 5e-6, .tick_s = 2e-6, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_true(s.samples >= 1000);
	assert_in_range(s.n_sampled, 5, 6);
	assert_int_equal(s.n_discards, 0);
	assert_int_equal(s.kinds[0], MEW_ROUND_WARM_UP);
	assert_near(s.result.interval_s, 1e-4, 1e-12);
	assert_near(s.result.time_per_iteration_s, 5e-6, 1e-9);
	assert_near(s.result.slowdown, 1.02, 0.003);
	assert_near(s.result.time_spread, 0, 1e-6);
	assert_near(s.result.tick_cost_s, 2e-6, 2e-7);
	assert_int_equal(s.result.n_pairs, s.n_sampled);
	assert_int_equal(s.result.sampled_iterations, s.sampled);
	assert_true(s.elapsed_s < 1.5);
}

static void rounds_alternate_after_the_warm_up(void **state)
{
	struct program p = {.iteration_s = 1e-4, .tick_s = 1e-6, .user = 1};
	struct story s = play(&p, &adapt);
	unsigned i;

	(void)state;
	for (i = s.n_warm; i < s.n_rounds; i++)
		assert_int_equal(s.kinds[i],
				 (i - s.n_warm) % 2 ? MEW_ROUND_SAMPLED : MEW_ROUND_PLAIN);
	assert_int_equal(s.n_plain, s.n_sampled);
}

static void fast_loops_grow_to_multiples_of_1000(void **state)
{
	struct program p = {.iteration_s = 1e-9, .tick_s = 1e-6, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_int_equal(s.warm, 1000);
	assert_int_equal(s.largest % 1000, 0);
	assert_true(s.largest >= 50000000 && s.largest <= 100000000);
	/* The rounds on the way there are no measurement. */
	assert_true(s.n_plain > s.n_sampled);
	assert_true(s.result.plain_iterations < s.plain);
	assert_true(s.samples >= 1000);
}

static void slow_loops_get_30_iterations_at_least(void **state)
{
	struct program p = {.iteration_s = 0.12, .tick_s = 1e-6, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_int_equal(s.warm, 1);
	assert_int_equal(s.largest, 1);
	assert_int_equal(s.sampled, 30);
}

static void five_seconds_of_samples_are_the_end(void **state)
{
	struct program p = {.iteration_s = 0.4, .tick_s = 1e-6, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_true(s.sampled < 30);
	assert_true(s.sampled_s <= 5.1 && s.sampled_s > 4);
	/* A loop that is never on the CPU in user mode gives no samples however long. */
	p = (struct program){.iteration_s = 1e-3, .tick_s = 1e-6, .user = 0};
	s = play(&p, &adapt);
	assert_true(s.sampled_s <= 5.1 && s.elapsed_s <= 11);
}

static void one_endless_iteration_runs_three_times(void **state)
{
	struct program p = {.iteration_s = 20, .tick_s = 1e-6, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_int_equal(s.warm, 1);
	assert_int_equal(s.plain, 1);
	assert_int_equal(s.sampled, 1);
	assert_true(isnan(s.result.time_spread));
	assert_near(s.result.slowdown, 1.01, 0.01);
}

static void dear_pauses_bound_the_whole(void **state)
{
	struct program p = {.iteration_s = 1e-6, .pause_s = 0.02, .tick_s = 1e-6, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_true(s.elapsed_s <= 11);
	assert_true(s.warm_elapsed_s <= 1.05);
	assert_true(s.sampled >= 30);
}

static void dear_ticks_lengthen_the_interval_and_are_forgotten(void **state)
{
	struct program p = {.iteration_s = 5e-6, .tick_s = 5e-5, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_in_range(s.n_discards, 1, MEW_PLAN_DISCARDS);
	assert_true(s.result.interval_s >= 1e-3 && s.result.interval_s <= 3e-3);
	assert_true(s.result.slowdown < 1.05);
	assert_true(s.period_min_s > s.result.interval_s * 0.899);
	assert_true(s.samples >= 1000);
	assert_int_equal(s.result.sampled_iterations, s.sampled);
	assert_true(s.sampled < s.sampled_all);
}

static void the_interval_ends_at_10_ms(void **state)
{
	struct program p = {.iteration_s = 1e-3, .tick_s = 2e-3, .user = 1};
	struct story s = play(&p, &adapt);

	(void)state;
	assert_near(s.result.interval_s, 1e-2, 1e-12);
}

static void a_given_interval_is_kept(void **state)
{
	struct program p = {.iteration_s = 5e-6, .tick_s = 4e-5, .user = 1};
	struct mew_plan_options o = {.interval_s = 1e-4, .n_threads = 1, .seed = 7};
	struct story s = play(&p, &o);

	(void)state;
	assert_int_equal(s.n_discards, 0);
	assert_near(s.result.interval_s, 1e-4, 1e-12);
	assert_true(s.result.slowdown > 1.5);
}

/* A round that is shorter than the period has no sample, however many there are of it. */
static void rounds_are_long_against_the_interval(void **state)
{
	const double intervals[] = {1e-3, 2e-2, 1e-1, 5e-1};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct program p = {.iteration_s = 1e-5, .tick_s = 1e-6, .user = 1};
		struct mew_plan_options o = {.interval_s = intervals[i], .n_threads = 1, .seed = 7};
		struct story s = play(&p, &o);

		/* Whole periods alone: of 8, and of those that the last rounds have, one is lost.
		 */
		assert_true((double)s.samples * intervals[i] >= 0.75 * s.sampled_s);
		o.iterations = 200000;
		s = play(&p, &o);
		assert_true((double)s.samples * intervals[i] >= 0.75 * s.sampled_s ||
			    intervals[i] >= 5e-1);
		assert_int_equal(s.sampled, o.iterations);
	}
}

/* Whatever else ran when the program warmed up. */
static void a_late_warm_up_makes_no_small_chunks(void **state)
{
	struct program p = {.iteration_s = 3e-5, .tick_s = 1e-6, .user = 1};
	struct mew_plan_options o = {
		.iterations = 300, .interval_s = 1e-3, .n_threads = 1, .seed = 1};

	(void)state;
	for (p.warm_late = 0; p.warm_late < 4; p.warm_late++) {
		struct story s = play(&p, &o);

		assert_int_equal(s.n_sampled, 1);
		assert_in_range(s.samples, 7, 10);
	}
}

static void each_round_has_a_period_of_its_own(void **state)
{
	struct program p = {.iteration_s = 1e-3, .tick_s = 1e-6, .user = 0};
	struct story s = play(&p, &adapt), again = play(&p, &adapt);
	struct mew_plan_options o = {.n_threads = 1, .seed = 2};
	struct story other = play(&p, &o);

	(void)state;
	assert_true(s.n_sampled > 40);
	assert_true(s.period_min_s >= 0.9e-4 && s.period_min_s < 0.92e-4);
	assert_true(s.period_max_s <= 1.1e-4 && s.period_max_s > 1.08e-4);
	assert_near(s.period_min_s, again.period_min_s, 0);
	assert_true(s.period_min_s != other.period_min_s);
}

static void given_iterations_are_exact_and_in_16_chunks_at_most(void **state)
{
	const uint64_t counts[] = {1, 2, 7, 30, 1000, 1003, 123457};
	const double times[] = {1e-8, 1e-5, 1e-2};
	size_t i, k;

	(void)state;
	for (i = 0; i < 7; i++) {
		for (k = 0; k < 3; k++) {
			struct program p = {.iteration_s = times[k], .tick_s = 4e-5, .user = 1};
			struct mew_plan_options o = {
				.iterations = counts[i], .n_threads = 1, .seed = 1};
			struct story s = play(&p, &o);

			assert_int_equal(s.plain, counts[i]);
			assert_int_equal(s.sampled, counts[i]);
			assert_int_equal(s.n_discards, 0);
			assert_true(s.n_sampled <= 16 && s.n_sampled <= counts[i]);
			assert_true(s.warm <= 1 || s.warm <= counts[i] / 10);
		}
	}
}

static void given_iterations_still_adapt_the_interval(void **state)
{
	struct program p = {.iteration_s = 1e-3, .tick_s = 5e-5, .user = 1};
	struct mew_plan_options o = {.iterations = 1600, .n_threads = 1, .seed = 1};
	struct story s = play(&p, &o);

	(void)state;
	assert_true(s.result.interval_s >= 1e-3);
	assert_int_equal(s.n_sampled, 16);
}

static void a_few_short_iterations_are_one_chunk(void **state)
{
	struct program p = {.iteration_s = 1e-6, .tick_s = 1e-6, .user = 1};
	struct mew_plan_options o = {.iterations = 100, .n_threads = 1, .seed = 1};

	(void)state;
	assert_int_equal(play(&p, &o).n_sampled, 1);
}

static void threads_share_the_iterations_that_are_counted(void **state)
{
	struct program p = {.iteration_s = 1e-3, .tick_s = 1e-6, .user = 1};
	struct mew_plan_options o = {.iterations = 50, .n_threads = 4, .seed = 1};
	struct story s = play(&p, &o);

	(void)state;
	assert_int_equal(s.sampled, 50);
	assert_int_equal(s.result.sampled_iterations, 200);
	assert_near(s.result.time_per_iteration_s, 1e-3, 1e-6);
}

static void one_disturbed_round_does_not_move_the_slowdown(void **state)
{
	struct program p = {.iteration_s = 1e-2, .tick_s = 1e-6, .user = 1, .disturbed = 4};
	struct mew_plan_options o = {.iterations = 160, .interval_s = 1e-3, .n_threads = 1};

	(void)state;
	assert_near(play(&p, &o).result.slowdown, 1.001, 0.001);
}

static void a_loop_that_is_left_early_is_over(void **state)
{
	struct mew_plan plan;
	struct mew_plan_facts f = {
		.kind = MEW_ROUND_WARM_UP, .iterations = 1, .loop_ns = 10, .left_early = 1};

	(void)state;
	mew_plan_init(&plan, &adapt);
	mew_plan_next(&plan, NULL);
	assert_int_equal(mew_plan_next(&plan, &f).kind, MEW_ROUND_STOP);
	assert_true(isnan(mew_plan_result(&plan).time_per_iteration_s));
	assert_true(isnan(mew_plan_result(&plan).slowdown));
}

static void facts_of_another_round_end_the_plan(void **state)
{
	struct mew_plan plan;
	struct mew_plan_facts f = {.kind = MEW_ROUND_SAMPLED, .iterations = 1, .loop_ns = 10};

	(void)state;
	mew_plan_init(&plan, &adapt);
	mew_plan_next(&plan, NULL);
	assert_int_equal(mew_plan_next(&plan, &f).kind, MEW_ROUND_STOP);
}

static void the_spread_is_students(void **state)
{
	struct mew_plan plan;

	(void)state;
	mew_plan_init(&plan, &adapt);
	plan.plain[0] = 9;
	plan.plain[1] = 10;
	plan.plain[2] = 11;
	plan.n_plain = 3;
	/* t(2) = 4.303, deviation 1, mean 10 */
	assert_near(mew_plan_result(&plan).time_spread, 4.303 / sqrt(3) / 10, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_runs_until_it_has_samples_and_pairs_enough),
		cmocka_unit_test(rounds_alternate_after_the_warm_up),
		cmocka_unit_test(fast_loops_grow_to_multiples_of_1000),
		cmocka_unit_test(slow_loops_get_30_iterations_at_least),
		cmocka_unit_test(five_seconds_of_samples_are_the_end),
		cmocka_unit_test(one_endless_iteration_runs_three_times),
		cmocka_unit_test(dear_pauses_bound_the_whole),
		cmocka_unit_test(dear_ticks_lengthen_the_interval_and_are_forgotten),
		cmocka_unit_test(the_interval_ends_at_10_ms),
		cmocka_unit_test(a_given_interval_is_kept),
		cmocka_unit_test(rounds_are_long_against_the_interval),
		cmocka_unit_test(a_late_warm_up_makes_no_small_chunks),
		cmocka_unit_test(each_round_has_a_period_of_its_own),
		cmocka_unit_test(given_iterations_are_exact_and_in_16_chunks_at_most),
		cmocka_unit_test(given_iterations_still_adapt_the_interval),
		cmocka_unit_test(a_few_short_iterations_are_one_chunk),
		cmocka_unit_test(threads_share_the_iterations_that_are_counted),
		cmocka_unit_test(one_disturbed_round_does_not_move_the_slowdown),
		cmocka_unit_test(a_loop_that_is_left_early_is_over),
		cmocka_unit_test(facts_of_another_round_end_the_plan),
		cmocka_unit_test(the_spread_is_students),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
