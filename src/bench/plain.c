/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/plain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/tune.h"

#define MIN_TIME_S 0.5

struct timing {
	struct mew_result *result;
	unsigned n_wanted; /* repetitions */
	uint64_t fixed;    /* iterations of each round; 0: tuned */
	double min_time_s;
	uint64_t pause_ns, pause_cpu_ns; /* what a pair leaves in a round */
};

static void plan_round(struct mew_run *run, uint64_t iterations)
{
	run->plan.kind = iterations > 0 ? MEW_ROUND_PLAIN : MEW_ROUND_STOP;
	run->plan.iterations = iterations;
	run->plan.pause_by = MEW_PAUSE_BY_CPU;
}

static void first_round(struct mew_run *run, void *arg)
{
	struct timing *timing = arg;

	plan_round(run, timing->fixed > 0 ? timing->fixed : 1);
	mew_pause_calibrate(&run->threads[0], &timing->pause_ns, &timing->pause_cpu_ns);
}

static uint64_t less(uint64_t ns, uint64_t cost_ns)
{
	return ns > cost_ns ? ns - cost_ns : 0;
}

/* Takes out what the pauses cost beside what they took out themselves. */
static struct mew_round without_pause_cost(const struct timing *timing, const struct mew_run *run)
{
	struct mew_round round = run->round;

	round.cost_ns = round.n_pauses * timing->pause_ns;
	round.loop_ns = less(round.loop_ns, round.cost_ns);
	round.wall_ns = less(round.wall_ns, round.cost_ns / run->n_threads);
	round.cpu_ns = less(round.cpu_ns, round.n_pauses * timing->pause_cpu_ns);
	return round;
}

/* Tuning rounds grow until one is long enough; it is the first repetition. */
static void next_round(struct mew_run *run, void *arg)
{
	const struct timing *timing = arg;
	struct mew_result *r = timing->result;
	uint64_t n = run->plan.iterations, next = 0;

	if (r->n_repetitions == 0 && timing->fixed == 0 && !run->over)
		next = mew_tune_next(n, (double)run->round.wall_ns * 1e-9,
				     (double)run->round.real_ns * 1e-9, timing->min_time_s);
	if (next > 0) {
		plan_round(run, next);
		return;
	}
	/* A round left early is all there is, unless whole ones have come before it. */
	if (run->over && r->n_repetitions > 0)
		return;
	r->repetitions[r->n_repetitions++] = without_pause_cost(timing, run);
	plan_round(run, r->n_repetitions < timing->n_wanted ? n : 0);
}

static void take_counters(struct mew_result *r, const struct mew_run *run)
{
	unsigned i;

	r->bytes = mew_run_bytes(run);
	r->items = mew_run_items(run);
	r->n_counters = run->n_counters;
	for (i = 0; i < run->n_counters; i++) {
		double value = mew_run_counter(run, i);

		if (run->counters[i].kind == MEW_PER_ITERATION)
			value /= (double)run->total.iterations;
		else if (run->counters[i].kind == MEW_PER_SECOND)
			value /= (double)run->total.wall_ns * 1e-9;
		memcpy(r->counters[i].name, run->counters[i].name, sizeof(r->counters[i].name));
		r->counters[i].value = value;
		r->counters[i].is_rate = run->counters[i].kind == MEW_PER_SECOND;
	}
}

static void run_here(struct timing *timing)
{
	struct mew_runner runner = {first_round, next_round, timing};
	struct mew_result *r = timing->result;
	struct mew_error error = {0};
	struct mew_run run;

	if (mew_run_init(&run, r->c, &runner, &error) != 0) {
		r->status = MEW_CASE_FAILED;
		snprintf(r->text, sizeof(r->text), "%s", error.text);
		r->ended = true;
		return;
	}
	mew_run_execute(&run);
	r->status = run.status;
	r->left_early = run.left_early;
	r->pause_ns = timing->pause_ns;
	memcpy(r->text, run.text, sizeof(r->text));
	memcpy(r->label, run.label, sizeof(r->label));
	take_counters(r, &run);
	mew_run_done(&run);
	r->ended = true;
}

static void child_main(struct timing *timing, pid_t parent)
{
	struct sigaction action;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	if (sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
		signal(SIGINT, SIG_DFL);
	run_here(timing);
	fflush(NULL);
	_exit(0);
}

/* The child's status, or -EINTR once it was interrupted and has ended. */
static int wait_for(pid_t child, const volatile sig_atomic_t *interrupted, int *ret_status)
{
	int told = 0;

	while (waitpid(child, ret_status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
		if (*interrupted && !told)
			told = kill(child, SIGINT) == 0;
	}
	return *interrupted ? -EINTR : 0;
}

static void judge_death(struct mew_result *r, int status)
{
	if (r->ended)
		return;
	r->status = MEW_CASE_FAILED;
	memcpy(r->label, r->c->label, sizeof(r->label));
	if (WIFSIGNALED(status))
		snprintf(r->text, sizeof(r->text), "its process died of signal %d (%s)%s",
			 WTERMSIG(status), strsignal(WTERMSIG(status)),
			 WTERMSIG(status) == SIGABRT ? ": an uncaught exception, or abort()" : "");
	else
		snprintf(r->text, sizeof(r->text),
			 "its process exited with status %d before the case had ended",
			 WEXITSTATUS(status));
}

static size_t result_bytes(const struct mew_options *o)
{
	return sizeof(struct mew_result) + o->repetitions * sizeof(struct mew_round);
}

int mew_plain_run(const struct mew_case *c, const struct mew_options *o,
		  const volatile sig_atomic_t *interrupted, struct mew_result **ret,
		  struct mew_error *error)
{
	struct timing timing = {0};
	struct mew_result *r;
	int err = 0, status = 0;
	pid_t parent = getpid(), child;

	r = mmap(NULL, result_bytes(o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		return mew_error_errno(error, -errno, "cannot make room for a result");
	r->c = c;
	timing.result = r;
	timing.n_wanted = o->repetitions;
	/* What the command line says goes before what the entry says. */
	timing.fixed = o->iterations > 0 ? o->iterations : c->entry->iterations;
	timing.min_time_s = o->min_time_s > 0          ? o->min_time_s
			    : c->entry->min_time_s > 0 ? c->entry->min_time_s
						       : MIN_TIME_S;
	if (o->no_fork) {
		run_here(&timing);
		*ret = r;
		return 0;
	}
	fflush(NULL);
	child = fork();
	if (child == 0)
		child_main(&timing, parent);
	if (child < 0)
		err = mew_error_errno(error, -errno, "cannot start a process for the case");
	else
		err = wait_for(child, interrupted, &status);
	if (err) {
		mew_plain_free(r, o);
		return err;
	}
	judge_death(r, status);
	*ret = r;
	return 0;
}

void mew_plain_free(struct mew_result *r, const struct mew_options *o)
{
	if (r)
		munmap(r, result_bytes(o));
}
