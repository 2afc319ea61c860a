/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "profile/verdict.h"
#include "unit.h"

/* A row that nothing is to be said about. */
static const struct mew_cpu_row good = {
	.sample_count = 1088,
	.iterations = 20000,
	.interval_s = 1e-3,
	.slowdown = 1.03,
	.time_spread = 0.011,
};
static const struct mew_verdict_cpu plain = {
	.unexplained_s = 0.004, .threads_wall_s = 1, .n_threads = 1, .stack_bytes = 8192};

static void check(const struct mew_cpu_row *row, const struct mew_verdict_cpu *facts,
		  const char *text, const char *hint)
{
	struct mew_verdict v;

	memset(&v, 0x55, sizeof(v));
	mew_verdict_cpu(row, facts, &v);
	assert_string_equal(v.text, text);
	assert_string_equal(v.hint, hint);
	assert_int_equal(v.doubtful, strncmp(text, "ok", 2) != 0);
}

static void a_clean_row_is_ok(void **state)
{
	struct mew_verdict_cpu facts = plain;

	(void)state;
	check(&good, &facts, "ok", "");
	facts.pause_by_clock = 1;
	check(&good, &facts, "ok; pauses by clock", "");
	facts.note = "cycles of two cores";
	check(&good, &facts, "ok; pauses by clock; cycles of two cores", "");
}

static void each_doubt_has_its_clause(void **state)
{
	struct mew_cpu_row row = good;
	struct mew_verdict_cpu facts = plain;

	(void)state;
	row.sample_count = 5;
	check(&row, &facts, "few samples: 5", "-n 200000");
	/* It runs once whatever is asked for. */
	facts.whole_program = 1;
	check(&row, &facts, "few samples: 5", "");
	facts.whole_program = 0;
	row = good;
	facts.pauses_s = 0.1; /* of 1 s of loop */
	check(&row, &facts, "ok", "");
	facts.pauses_s = 0.58;
	row.lost = 2;
	check(&row, &facts, "2 samples lost; pauses cost 58% of the loop's time", "");
	facts.pauses_s = 0;
	row.lost = 0;
	row.iterations = 20;
	check(&row, &facts, "few iterations: 20", "-n 200");
	row = good;
	row.lost = 1;
	check(&row, &facts, "1 sample lost", "--interval 10ms");
	row.interval_s = NAN;
	check(&row, &facts, "1 sample lost", "");
	row = good;
	facts.broken = 12;
	check(&row, &facts, "12 stacks broken", "--stack-size 32768");
	facts.broken = 1; /* of 1088: below 0.1 % */
	check(&row, &facts, "ok", "");
	row.unknown = 109;
	check(&row, &facts, "10% of the samples in unknown code", "");
	row = good;
	row.slowdown = 1.4;
	check(&row, &facts, "slowed 1.40x by sampling", "--interval 10ms");
	row = good;
	row.iterations = 30;
	row.time_spread = 0.063;
	check(&row, &facts, "noisy: +-6.3% over 30 iterations", "-n 300");
	row = good;
	facts.unexplained_s = -0.08;
	check(&row, &facts, "accounts for 8% more time than has passed", "");
	facts.unexplained_s = 0.08;
	check(&row, &facts, "8% of the time unexplained", "");
	facts.unexplained_s = 0;
	facts.unticked_share = 0.18;
	check(&row, &facts, "up to 18% of the CPU time not sampled: short threads or children",
	      "--interval 0.1ms");
	row.interval_s = 0.0001; /* a tenth of it is too dear */
	check(&row, &facts, "up to 18% of the CPU time not sampled: short threads or children", "");
	row.interval_s = NAN;
	check(&row, &facts, "up to 18% of the CPU time not sampled: short threads or children", "");
	facts.unticked_share = 0.05;
	check(&row, &facts, "ok", "");
	facts.unexplained_s = 0.08;
	row.interval_s = 0.1; /* less than one tick: nothing to be told from it */
	check(&row, &facts, "ok", "");
	row = good;
	facts = plain;
	facts.threads_not_sampled = 2;
	check(&row, &facts, "2 threads not sampled", "");
	facts = plain;
	facts.n_children = 1;
	check(&row, &facts, "1 child process not sampled", "");
	facts = plain;
	facts.left_early = 1;
	row.iterations = 3;
	check(&row, &facts, "left early after 3 iterations", "");
	row = good;
	facts = plain;
	facts.doubt = "throttled";
	check(&row, &facts, "throttled", "");
}

static void what_is_not_known_is_no_doubt(void **state)
{
	struct mew_cpu_row row = good;
	struct mew_verdict_cpu facts = plain;

	(void)state;
	row.slowdown = row.time_spread = NAN;
	facts.unexplained_s = NAN;
	check(&row, &facts, "ok", "");
}

static void clauses_are_joined_and_the_first_hint_counts(void **state)
{
	struct mew_cpu_row row = good;
	struct mew_verdict_cpu facts = plain;

	(void)state;
	row.sample_count = 50;
	row.lost = 3;
	row.iterations = 400;
	facts.n_threads = 4;
	facts.pause_by_clock = 1;
	check(&row, &facts, "few samples: 50; 3 samples lost; pauses by clock", "-n 1000");
}

static void a_clause_without_room_is_left_out_whole(void **state)
{
	struct mew_verdict_cpu facts = plain;
	struct mew_verdict v;
	char long_doubt[500], note[30];

	(void)state;
	memset(long_doubt, 'x', sizeof(long_doubt));
	long_doubt[sizeof(long_doubt) - 1] = '\0';
	memset(note, 'y', sizeof(note));
	note[sizeof(note) - 1] = '\0';
	facts.doubt = long_doubt;
	facts.note = note;
	mew_verdict_cpu(&good, &facts, &v);
	assert_string_equal(v.text, long_doubt);
}

static void heap_rows_are_judged_by_their_own_figures(void **state)
{
	struct mew_heap_row row = {.peak_bytes = 266,
				   .total_bytes = 266,
				   .total_allocations = 1400,
				   .iterations = 100};
	struct mew_verdict_heap facts = {.n_threads = 1};
	struct mew_verdict v;

	(void)state;
	mew_verdict_heap(&row, &facts, &v);
	assert_string_equal(v.text, "ok");
	assert_int_equal(v.doubtful, 0);

	row.total_bytes = 265;
	mew_verdict_heap(&row, &facts, &v);
	assert_string_equal(v.text, "stacks hold 1 B less than the peak");
	assert_int_equal(v.doubtful, 1);

	facts.n_threads = 4; /* their snapshots are apart by less than 0.1 % */
	row.peak_bytes = 266000;
	row.total_bytes = 265999;
	mew_verdict_heap(&row, &facts, &v);
	assert_string_equal(v.text, "ok; stacks hold 1 B less than the peak");
	assert_int_equal(v.doubtful, 0);
	row.total_bytes = 267000;
	mew_verdict_heap(&row, &facts, &v);
	assert_string_equal(v.text, "stacks hold 1000 B more than the peak");

	row.peak_bytes = row.total_bytes;
	row.lost = 2;
	facts.broken = 14;
	facts.n_children = 3;
	facts.ended_inside = 1;
	facts.n_mapped_lost = 1;
	mew_verdict_heap(&row, &facts, &v);
	assert_string_equal(
		v.text,
		"the program ended inside the loop; 2 allocations without a "
		"stack; 1 mapping not counted; 14 stacks broken; 3 child processes not recorded");
}

static void a_verdict_is_kept_by_its_case(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "k", "");
	struct mew_verdict v = {.text = "noisy", .hint = "-n 300", .doubtful = 1};

	(void)state;
	assert_int_equal(mew_verdict_store(s, c, &v), 0);
	memset(&v, 0, sizeof(v));
	assert_string_equal(c->verdict, "noisy");
	assert_string_equal(c->hint, "-n 300");
	assert_int_equal(c->doubtful, 1);
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_row_is_ok),
		cmocka_unit_test(each_doubt_has_its_clause),
		cmocka_unit_test(what_is_not_known_is_no_doubt),
		cmocka_unit_test(clauses_are_joined_and_the_first_hint_counts),
		cmocka_unit_test(a_clause_without_room_is_left_out_whole),
		cmocka_unit_test(heap_rows_are_judged_by_their_own_figures),
		cmocka_unit_test(a_verdict_is_kept_by_its_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
