/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/root.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t mew_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t mew_cpu_clock_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- life ---- */

int mew_run_init(struct mew_run *ret, const struct mew_case *c, const struct mew_runner *runner,
		 struct mew_error *error)
{
	size_t size;
	unsigned i;
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->c = c;
	ret->runner = runner;
	ret->n_threads = c->entry->n_threads > 1 ? c->entry->n_threads : 1;
	ret->n_present = ret->n_threads;
	memcpy(ret->label, c->label, sizeof(ret->label));
	size = ret->n_threads * sizeof(*ret->threads);
	ret->threads = aligned_alloc(_Alignof(struct mew_thread), size);
	if (!ret->threads)
		return mew_error_errno(error, -ENOMEM, "cannot make the case's threads");
	err = mew_forkmark_open(&ret->mark);
	if (err) {
		free(ret->threads);
		ret->threads = NULL;
		return mew_error_errno(error, err, "cannot mark the process for its children");
	}
	memset(ret->threads, 0, size);
	pthread_mutex_init(&ret->lock, NULL);
	pthread_mutex_init(&ret->text_lock, NULL);
	pthread_cond_init(&ret->turned, NULL);
	for (i = 0; i < ret->n_threads; i++) {
		ret->threads[i].run = ret;
		ret->threads[i].index = i;
	}
	return 0;
}

void mew_run_done(struct mew_run *run)
{
	unsigned i;
	size_t j;

	if (!run->threads)
		return;
	for (i = 0; i < run->n_threads; i++)
		mew_events_close(&run->threads[i].events);
	for (j = 0; j < run->n_pool; j++)
		mew_events_close(&run->pool[j]);
	free(run->pool);
	free(run->threads);
	run->threads = NULL;
	mew_forkmark_close(&run->mark);
	pthread_mutex_destroy(&run->lock);
	pthread_mutex_destroy(&run->text_lock);
	pthread_cond_destroy(&run->turned);
}

/* ---- the end of a run ---- */

static void stop_loops(struct mew_run *run)
{
	unsigned i;

	for (i = 0; i < run->n_threads; i++)
		mew_attend(&run->threads[i], MEW_ATTEND_STOP, 1);
}

void mew_run_vdecide(struct mew_run *run, enum mew_case_status status, const char *format,
		     va_list ap)
{
	if (!mew_run_ours(run))
		return;
	pthread_mutex_lock(&run->text_lock);
	if (!run->stopped) {
		run->status = status;
		vsnprintf(run->text, sizeof(run->text), format, ap);
		__atomic_store_n(&run->stopped, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&run->text_lock);
	stop_loops(run);
}

void mew_run_decide(struct mew_run *run, enum mew_case_status status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	mew_run_vdecide(run, status, format, ap);
	va_end(ap);
}

static bool is_stopped(const struct mew_run *run)
{
	return __atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE);
}

static bool is_left_early(const struct mew_run *run)
{
	return __atomic_load_n(&run->left_early, __ATOMIC_RELAXED);
}

/* ---- turns: under run->lock, all threads of the loop waiting ---- */

static void add_part(struct mew_round *sum, const struct mew_round *part)
{
	sum->iterations += part->iterations;
	sum->loop_ns += part->loop_ns;
	sum->cpu_ns += part->cpu_ns;
	sum->paused_ns += part->paused_ns;
	sum->n_pauses += part->n_pauses;
}

static void sum_up(struct mew_run *run)
{
	struct mew_round sum = {0};
	unsigned i;

	for (i = 0; i < run->n_threads; i++) {
		const struct mew_round *part = &run->threads[i].round;

		add_part(&sum, part);
		if (part->wall_ns > sum.wall_ns)
			sum.wall_ns = part->wall_ns;
		if (part->real_ns > sum.real_ns)
			sum.real_ns = part->real_ns;
		memset(&run->threads[i].round, 0, sizeof(run->threads[i].round));
	}
	run->round = sum;
	add_part(&run->total, &sum);
	run->total.wall_ns += sum.wall_ns;
	run->total.real_ns += sum.real_ns;
}

static void turn(struct mew_run *run)
{
	size_t i;

	if (run->n_turns > 0) {
		if (run->gate)
			run->gate->phase(MEW_GATE_OUTSIDE);
		for (i = 0; i < run->n_pool && run->plan.sampled; i++)
			mew_events_disable(&run->pool[i]);
		sum_up(run);
		run->over = run->left_early || is_stopped(run);
		run->runner->next(run, run->runner->arg);
	} else if (!is_stopped(run)) {
		run->runner->first(run, run->runner->arg);
	}
	run->over = run->over || is_stopped(run) || run->plan.kind == MEW_ROUND_STOP;
	if (!run->over) {
		for (i = 0; i < run->n_pool && run->plan.sampled; i++)
			mew_events_enable(&run->pool[i]);
		if (run->gate)
			run->gate->phase(run->plan.phase);
	}
	run->n_turns++;
	run->n_waiting = 0;
	pthread_cond_broadcast(&run->turned);
}

/* Wait until all threads that are still there have come. */
static void meet(struct mew_run *run)
{
	uint64_t now;

	pthread_mutex_lock(&run->lock);
	now = run->n_turns;
	if (++run->n_waiting == run->n_present)
		turn(run);
	while (run->n_turns == now)
		pthread_cond_wait(&run->turned, &run->lock);
	pthread_mutex_unlock(&run->lock);
}

/* The thread takes part in no further turn. */
static void drop_out(struct mew_run *run)
{
	pthread_mutex_lock(&run->lock);
	run->n_present--;
	if (run->n_waiting > 0 && run->n_waiting == run->n_present)
		turn(run);
	pthread_mutex_unlock(&run->lock);
}

/* ---- the loop ---- */

/* The last things before an iteration. */
static uint64_t begin_round(struct mew_thread *t)
{
	const struct mew_plan *plan = &t->run->plan;

	if (t->run->over) {
		t->place = MEW_AFTER_LOOP;
		return 0;
	}
	t->place = MEW_IN_LOOP;
	t->round_iterations = plan->iterations;
	if (plan->pause_by == MEW_PAUSE_BY_CPU)
		t->cpu_begin = mew_cpu_clock_ns();
	if (t->window)
		mew_window_round(t->window);
	if (plan->sampled)
		mew_events_enable(&t->events);
	t->begin_ns = mew_clock_ns();
	if (t->window)
		mew_window_begin(t->window, t->begin_ns);
	return plan->iterations;
}

/* A heap run: an iteration has ended. With several threads, the first one's count. */
static void tell_iteration(const struct mew_thread *t)
{
	if (t->run->gate && t->index == 0)
		t->run->gate->iteration();
}

/* The first things after the last iteration; n were done. */
static void end_round(struct mew_thread *t, uint64_t n)
{
	const struct mew_plan *plan = &t->run->plan;
	uint64_t end_ns = mew_clock_ns();

	if (t->window)
		mew_window_end(t->window, end_ns);
	if (plan->sampled)
		mew_events_disable(&t->events);
	if (t->depth > 0) {
		mew_pause_end_round(t, end_ns);
		t->ended_by_loop = t->depth;
		t->depth = 0;
	}
	mew_attend(t, MEW_ATTEND_PAUSE, 0);
	tell_iteration(t);
	if (plan->pause_by == MEW_PAUSE_BY_CPU)
		t->round.cpu_ns += mew_cpu_clock_ns() - t->cpu_begin;
	t->round.iterations = n;
	t->round.real_ns = end_ns - t->begin_ns;
	t->round.wall_ns = t->round.real_ns - t->round.paused_ns;
	t->round.loop_ns = t->round.wall_ns;
	t->iterations += n;
}

static uint64_t enter(struct mew_thread *t, const char *func)
{
	struct mew_run *run = t->run;

	if (t->place != MEW_BEFORE_LOOP) {
		mew_run_decide(run, MEW_CASE_FAILED, "a second MEW_LOOP: a case has one");
		return 0;
	}
	if (t->depth > 0) {
		t->depth = 0;
		mew_run_decide(run, MEW_CASE_FAILED, "a pause is open where the loop begins");
	}
	t->loop_func = func;
	t->window = run->window ? &run->window->threads[t->index] : NULL;
	meet(run);
	if (run->gate) {
		run->gate->join();
		mew_attend(t, MEW_ATTEND_ITERATION, t->index == 0);
	}
	return begin_round(t);
}

/* An iteration went on after a MEW_PAUSE that was left early. */
static void judge_broken_pause(struct mew_thread *t)
{
	if (strcmp(t->broken_pause, t->loop_func) == 0)
		mew_run_decide(t->run, MEW_CASE_FAILED,
			       "a break inside MEW_PAUSE left the pause, not the loop: use "
			       "mew_pause and mew_resume");
	t->broken_pause = NULL;
}

uint64_t mew_loop_next_(struct mew_state *state, uint64_t left, const char *func)
{
	struct mew_thread *t = mew_thread_of(state);
	struct mew_run *run = t->run;

	if (!mew_run_ours(run))
		return 0;
	if (func)
		return enter(t, func);
	if (t->broken_pause)
		judge_broken_pause(t);
	if (left != 0 && !is_stopped(run) && !is_left_early(run)) {
		if (t->depth > 0) {
			mew_pause_end_iteration(t);
			t->depth = 0;
		}
		mew_attend(t, MEW_ATTEND_PAUSE, 0);
		tell_iteration(t);
		return left;
	}
	end_round(t, t->round_iterations - left);
	meet(run);
	/* Only a pause that the last round closed may still be resumed. */
	if (!run->over)
		t->ended_by_loop = 0;
	return begin_round(t);
}

void mew_loop_end_(struct mew_state *state, uint64_t left)
{
	struct mew_thread *t = mew_thread_of(state);
	struct mew_run *run = t->run;

	if (left == 0 || t->place != MEW_IN_LOOP || !mew_run_ours(run))
		return;
	end_round(t, t->round_iterations - left + 1);
	t->place = MEW_AFTER_LOOP;
	__atomic_store_n(&run->left_early, true, __ATOMIC_RELAXED);
	stop_loops(run);
	meet(run);
}

/* ---- threads ---- */

/* The entry's function has returned, or its thread ends. */
static void leave(void *arg)
{
	struct mew_thread *t = arg;
	struct mew_run *run = t->run;

	if (!mew_run_ours(run))
		_exit(0);
	if (t->place == MEW_BEFORE_LOOP && !is_stopped(run))
		mew_run_decide(run, MEW_CASE_FAILED, "it returned without a MEW_LOOP");
	if (t->place == MEW_IN_LOOP) {
		mew_run_decide(run, MEW_CASE_FAILED,
			       "the loop was left by longjmp, by the thread's end, or by an "
			       "exception through C code built without -fexceptions");
		mew_loop_end_(&t->state, t->round_iterations + 1);
	}
	drop_out(run);
}

static void *thread_main(void *arg)
{
	struct mew_thread *t = arg;

	t->tid = (int32_t)syscall(SYS_gettid);
	pthread_cleanup_push(leave, t);
	mew_root_call(t->run->c->entry->run, &t->state);
	pthread_cleanup_pop(1);
	return NULL;
}

void mew_run_execute(struct mew_run *run)
{
	unsigned n = 1, i;
	int err = 0;

	while (n < run->n_threads && !err) {
		err = pthread_create(&run->threads[n].handle, NULL, thread_main, &run->threads[n]);
		n += !err;
	}
	if (err) {
		mew_run_decide(run, MEW_CASE_FAILED, "cannot start thread %u of %u: %s", n,
			       run->n_threads, strerror(err));
		for (i = n; i < run->n_threads; i++)
			drop_out(run);
		drop_out(run);
	} else {
		thread_main(&run->threads[0]);
	}
	for (i = 1; i < n; i++)
		pthread_join(run->threads[i].handle, NULL);
}
