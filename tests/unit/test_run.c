/* SPDX-License-Identifier: Apache-2.0 */
/* run.c and pause.c by a runner that plans rounds from a list, and a gate that writes down what it
 * is told. */
#include "config.h"

#include "bench/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#define ROUNDS 4
#define MS 1000000u

/* What is to be run, and what came of it. */
static struct {
	uint64_t iterations[ROUNDS]; /* of the rounds; 0: stop */
	enum mew_pause_by pause_by;
	bool calibrates;
	unsigned n_planned, n_ended;
	struct mew_round rounds[ROUNDS];
	char told[512];      /* to the gate */
	unsigned n_bodies;   /* iterations that ran, of all threads */
	unsigned n_too_soon; /* threads that began a round before others had ended the last one */
} script;

static struct mew_run run;
static struct mew_entry entry;
static struct mew_case case_of_entry;

static void plan(struct mew_run *r)
{
	uint64_t n = script.n_planned < ROUNDS ? script.iterations[script.n_planned] : 0;

	script.n_planned++;
	r->plan.kind = n ? MEW_ROUND_PLAIN : MEW_ROUND_STOP;
	r->plan.iterations = n;
	r->plan.pause_by = script.pause_by;
	r->plan.phase = MEW_GATE_WINDOW;
}

static void first(struct mew_run *r, void *arg)
{
	uint64_t time_ns, cpu_ns;

	(void)arg;
	if (script.calibrates && r->window) {
		time_ns = mew_pause_pair_ns(&r->threads[0], MEW_PAUSE_BY_CLOCK, MEW_PAUSE_CLOCK);
		assert_in_range(time_ns, 1, 100 * MS);
	} else if (script.calibrates) {
		mew_pause_calibrate(&r->threads[0], &time_ns, &cpu_ns);
		assert_in_range(time_ns, 1, 100 * MS);
	}
	plan(r);
}

static void next(struct mew_run *r, void *arg)
{
	(void)arg;
	assert_true(script.n_ended < ROUNDS);
	script.rounds[script.n_ended++] = r->round;
	plan(r);
}

static void tell(const char *what, int a, int b)
{
	size_t n = strlen(script.told);

	snprintf(script.told + n, sizeof script.told - n, "%s%d%d ", what, a, b);
}

static void on_phase(enum mew_gate_phase phase)
{
	tell("phase", (int)phase, 0);
}

static void on_pause(int on, int whole)
{
	tell("pause", on, whole);
}

static void on_join(void)
{
	tell("join", 0, 0);
}

static void on_iteration(void)
{
	tell("iteration", 0, 0);
}

static const struct mew_gate gate = {
	.phase = on_phase, .pause = on_pause, .join = on_join, .iteration = on_iteration};

static int set_up(void **state)
{
	(void)state;
	memset(&script, 0, sizeof script);
	memset(&entry, 0, sizeof entry);
	script.pause_by = MEW_PAUSE_BY_CLOCK;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mew_run_done(&run);
	return 0;
}

static void execute(mew_bench_fn function, unsigned n_threads, const struct mew_gate *to,
		    struct mew_window *window)
{
	static const struct mew_runner runner = {first, next, NULL};

	entry = (struct mew_entry){.name = "it", .run = function, .n_threads = n_threads};
	case_of_entry = (struct mew_case){.entry = &entry, .key = "it"};
	assert_int_equal(mew_run_init(&run, &case_of_entry, &runner, NULL), 0);
	run.gate = to;
	run.window = window;
	mew_run_execute(&run);
}

/* ---- rounds ---- */

static uint64_t seen[16];

static void counts(struct mew_state *state)
{
	MEW_LOOP(state) {
		seen[script.n_bodies++] = mew_iterations(state);
	}
	seen[script.n_bodies] = mew_iterations(state);
}

static void the_loop_runs_the_rounds_that_are_planned(void **state)
{
	static const uint64_t want[] = {0, 0, 0, 3, 3, 3, 3, 7};

	(void)state;
	script.iterations[0] = 3;
	script.iterations[1] = 4;
	execute(counts, 1, NULL, NULL);
	assert_int_equal(run.status, MEW_CASE_OK);
	assert_false(run.left_early);
	assert_int_equal(script.n_bodies, 7);
	assert_memory_equal(seen, want, sizeof want);
	assert_int_equal(script.n_ended, 2);
	assert_int_equal(script.rounds[0].iterations, 3);
	assert_int_equal(script.rounds[1].iterations, 4);
	assert_int_equal(run.total.iterations, 7);
	assert_int_equal(run.total.wall_ns, script.rounds[0].wall_ns + script.rounds[1].wall_ns);
}

static void meets(struct mew_state *state)
{
	unsigned n = 0;

	MEW_LOOP(state) {
		unsigned all = __atomic_fetch_add(&script.n_bodies, 1, __ATOMIC_SEQ_CST);

		if (n++ == 2 && all < 2 * mew_threads(state))
			__atomic_fetch_add(&script.n_too_soon, 1, __ATOMIC_SEQ_CST);
	}
}

static void threads_wait_for_each_other_between_rounds(void **state)
{
	(void)state;
	script.iterations[0] = 2;
	script.iterations[1] = 5;
	execute(meets, 3, NULL, NULL);
	assert_int_equal(run.status, MEW_CASE_OK);
	assert_int_equal(script.n_bodies, 21);
	assert_int_equal(script.n_too_soon, 0);
	assert_int_equal(script.rounds[0].iterations, 6);
	assert_int_equal(script.rounds[1].iterations, 15);
	assert_true(script.rounds[1].loop_ns >= script.rounds[1].wall_ns);
}

static void breaks(struct mew_state *state)
{
	unsigned n = 0;

	MEW_LOOP(state) {
		__atomic_fetch_add(&script.n_bodies, 1, __ATOMIC_SEQ_CST);
		if (mew_thread_index(state) == 0 && ++n == 3)
			break;
	}
}

static void a_loop_left_early_counts_the_iteration_in_hand(void **state)
{
	(void)state;
	script.iterations[0] = script.iterations[1] = 5;
	execute(breaks, 1, NULL, NULL);
	assert_int_equal(run.status, MEW_CASE_OK);
	assert_true(run.left_early);
	assert_int_equal(script.n_ended, 1);
	assert_int_equal(script.rounds[0].iterations, 3);
}

static void the_others_end_with_the_iteration_that_they_are_in(void **state)
{
	(void)state;
	script.iterations[0] = script.iterations[1] = 1u << 30;
	execute(breaks, 2, NULL, NULL);
	assert_int_equal(run.status, MEW_CASE_OK);
	assert_true(run.left_early);
	assert_int_equal(script.n_ended, 1);
	assert_int_equal(script.rounds[0].iterations, script.n_bodies);
	assert_true(script.n_bodies < 1u << 30);
}

static unsigned *child_bodies;

static void forks(struct mew_state *state)
{
	pid_t pid = 1;
	int status;

	MEW_LOOP(state) {
		if (script.n_bodies++ == 1) {
			pid = fork();
			if (!pid)
				*child_bodies = 1;
			else if (waitpid(pid, &status, 0) != pid || status)
				mew_fail(state, "the child ends with %d", status);
		} else if (!pid) {
			++*child_bodies;
			mew_pause(state);
		}
	}
}

static void a_child_ends_with_its_round_and_tells_nobody(void **state)
{
	(void)state;
	child_bodies = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(child_bodies != MAP_FAILED);
	script.iterations[0] = script.iterations[1] = 4;
	execute(forks, 1, NULL, NULL);
	assert_string_equal(run.text, "");
	assert_int_equal(script.n_bodies, 8);
	assert_int_equal(script.n_ended, 2);
	assert_int_equal(run.total.n_pauses, 0);
	/* The one that it was made in, and two more. */
	assert_int_equal(*child_bodies, 3);
	munmap(child_bodies, 4096);
}

/* ---- what a case says of itself, and what it may not do ---- */

static void has_no_loop(struct mew_state *state)
{
	(void)state;
}

static void has_two_loops(struct mew_state *state)
{
	counts(state);
	counts(state);
}

static void pauses_before(struct mew_state *state)
{
	mew_pause(state);
	counts(state);
}

static void resumes(struct mew_state *state)
{
	MEW_LOOP(state) {
		script.n_bodies++;
		mew_resume(state);
	}
}

static void breaks_a_pause(struct mew_state *state)
{
	MEW_LOOP(state) {
		script.n_bodies++;
		MEW_PAUSE(state) {
			break;
		}
	}
}

static void fails_twice(struct mew_state *state)
{
	MEW_LOOP(state) {
		script.n_bodies++;
		mew_fail(state, "reason %d", 7);
		mew_fail(state, "another");
	}
}

static void skips(struct mew_state *state)
{
	mew_skip(state, "not here");
	counts(state);
}

static void a_case_that_cannot_be_measured_says_why(void **state)
{
	static const struct {
		mew_bench_fn function;
		enum mew_case_status status;
		unsigned n_bodies, n_ended;
		const char *text;
	} cases[] = {
		{has_no_loop, MEW_CASE_FAILED, 0, 0, "it returned without a MEW_LOOP"},
		{has_two_loops, MEW_CASE_FAILED, 5, 1, "a second MEW_LOOP: a case has one"},
		{pauses_before, MEW_CASE_FAILED, 0, 0, "a pause is open where the loop begins"},
		{resumes, MEW_CASE_FAILED, 1, 1, "mew_resume() without a pause"},
		/* Seen where the iteration has ended. */
		{breaks_a_pause, MEW_CASE_FAILED, 1, 1,
		 "a break inside MEW_PAUSE left the pause, not the loop: use mew_pause and "
		 "mew_resume"},
		{fails_twice, MEW_CASE_FAILED, 1, 1, "reason 7"},
		{skips, MEW_CASE_SKIPPED, 0, 0, "not here"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		set_up(NULL);
		script.iterations[0] = 5;
		execute(cases[i].function, 1, NULL, NULL);
		assert_string_equal(run.text, cases[i].text);
		assert_int_equal(run.status, cases[i].status);
		assert_int_equal(script.n_bodies, cases[i].n_bodies);
		assert_int_equal(script.n_ended, cases[i].n_ended);
		mew_run_done(&run);
	}
}

/* ---- pauses ---- */

static void pauses(struct mew_state *state)
{
	mew_pause(state); /* outside: nothing */
	mew_resume(state);
	MEW_LOOP(state) {
		mew_pause(state);
		if (script.n_bodies++ == 0) {
			mew_pause(state);
			mew_resume(state);
			mew_resume(state);
		}
	}
	mew_resume(state); /* of the one that the loop's end has closed */
}

static void the_gate_is_told_of_outermost_pauses_and_iterations(void **state)
{
	(void)state;
	script.iterations[0] = 2;
	script.iterations[1] = 1;
	script.pause_by = MEW_PAUSE_BY_GATE;
	execute(pauses, 1, &gate, NULL);
	assert_string_equal(run.text, "");
	assert_string_equal(script.told,
			    "phase20 join00 pause11 pause01 iteration00 pause11 pause01 "
			    "iteration00 phase00 phase20 pause11 pause01 iteration00 phase00 ");
	assert_int_equal(script.rounds[0].n_pauses, 2);
	assert_int_equal(script.rounds[1].n_pauses, 1);
	assert_int_equal(run.total.n_pauses, 3);
}

static void sleeps(struct mew_state *state)
{
	static const struct timespec two_ms = {.tv_nsec = 2 * MS};

	MEW_LOOP(state) {
		MEW_PAUSE(state) {
			nanosleep(&two_ms, NULL);
		}
		MEW_PAUSE(state) {
			script.n_bodies++;
		}
	}
}

static void what_is_paused_is_in_no_figure_and_stands_in_the_window(void **state)
{
	struct mew_window *window = calloc(1, mew_window_bytes(1));
	const struct mew_window_thread *w = &window->threads[0];
	const struct mew_round *round = &script.rounds[0];
	uint64_t paused_ns = 0;

	(void)state;
	script.iterations[0] = 3;
	script.calibrates = true;
	execute(sleeps, 1, NULL, window);
	assert_int_equal(run.status, MEW_CASE_OK);
	assert_int_equal(round->n_pauses, 6);
	assert_int_equal(w->n_opened, 6);
	for (unsigned i = 0; i < 6; i++) {
		const struct mew_window_pause *p = &w->pauses[i];

		assert_true(p->begin_ns >= (i ? w->pauses[i - 1].end_ns : w->begin_ns));
		assert_true(p->end_ns >= p->begin_ns + (i % 2 ? 0 : 2 * MS));
		paused_ns += p->end_ns - p->begin_ns;
	}
	assert_true(w->end_ns >= w->pauses[5].end_ns);
	assert_int_equal(w->paused_ns, paused_ns);
	assert_int_equal(round->paused_ns, paused_ns);
	assert_int_equal(round->real_ns, w->end_ns - w->begin_ns);
	assert_int_equal(round->wall_ns, round->real_ns - paused_ns);
	assert_int_equal(round->loop_ns, round->wall_ns);
	free(window);
}

static void spins(struct mew_state *state)
{
	MEW_LOOP(state) {
		MEW_PAUSE(state) {
			uint64_t until = mew_cpu_clock_ns() + 20 * MS;

			while (mew_cpu_clock_ns() < until)
				;
		}
	}
}

static void the_cpu_time_of_a_pause_is_taken_out(void **state)
{
	(void)state;
	script.iterations[0] = 2;
	script.calibrates = true;
	script.pause_by = MEW_PAUSE_BY_CPU;
	execute(spins, 1, NULL, NULL);
	assert_int_equal(script.rounds[0].n_pauses, 2);
	assert_in_range(script.rounds[0].cpu_ns, 0, 20 * MS);
	assert_true(script.rounds[0].paused_ns >= 40 * MS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_loop_runs_the_rounds_that_are_planned),
		TEST(threads_wait_for_each_other_between_rounds),
		TEST(a_loop_left_early_counts_the_iteration_in_hand),
		TEST(the_others_end_with_the_iteration_that_they_are_in),
		TEST(a_child_ends_with_its_round_and_tells_nobody),
		TEST(a_case_that_cannot_be_measured_says_why),
		TEST(the_gate_is_told_of_outermost_pauses_and_iterations),
		TEST(what_is_paused_is_in_no_figure_and_stands_in_the_window),
		TEST(the_cpu_time_of_a_pause_is_taken_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
