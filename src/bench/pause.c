/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses: the hot path of a benchmark that pauses in every iteration. */
#include "config.h"

#include "bench/run.h"

#include <stdlib.h>
#include <string.h>

/* Batches of pairs are timed. */
#define N_BATCHES 15
#define N_PAIRS 10

static bool whole_process(const struct mew_run *run)
{
	return run->n_threads == 1;
}

static void switch_events(const struct mew_thread *t, enum mew_pause_mode mode, int on)
{
	size_t i;

	mew_events_pause(&t->events, mode, on);
	if (!whole_process(t->run))
		return;
	for (i = 0; i < t->run->n_pool; i++)
		mew_events_pause(&t->run->pool[i], mode, on);
}

void mew_pause(struct mew_state *state)
{
	struct mew_thread *t = mew_thread_of(state);
	const struct mew_plan *plan = &t->run->plan;

	if (t->depth++ != 0 || t->place != MEW_IN_LOOP || !mew_run_ours(t->run))
		return;
	t->pause_begin_ns = mew_clock_ns();
	mew_attend(t, MEW_ATTEND_PAUSE, 1);
	if (t->window)
		mew_window_pause(t->window, t->pause_begin_ns);
	if (plan->pause_by == MEW_PAUSE_BY_CPU)
		t->pause_cpu_begin = mew_cpu_clock_ns();
	else if (plan->pause_by == MEW_PAUSE_BY_EVENTS)
		switch_events(t, plan->pause_mode, 1);
	else if (plan->pause_by == MEW_PAUSE_BY_GATE)
		t->run->gate->pause(1, whole_process(t->run));
}

static void note_end(struct mew_thread *t, uint64_t now_ns)
{
	if (t->window)
		mew_window_resume(t->window, t->pause_begin_ns, now_ns);
	t->round.paused_ns += now_ns - t->pause_begin_ns;
	t->round.n_pauses++;
}

/* The CPU time of the pause is moved to before the round's begin. */
static void end_cpu_and_gate(struct mew_thread *t)
{
	const struct mew_plan *plan = &t->run->plan;

	if (plan->pause_by == MEW_PAUSE_BY_CPU)
		t->cpu_begin += mew_cpu_clock_ns() - t->pause_cpu_begin;
	else if (plan->pause_by == MEW_PAUSE_BY_GATE)
		t->run->gate->pause(0, whole_process(t->run));
}

void mew_pause_end_iteration(struct mew_thread *t)
{
	const struct mew_plan *plan = &t->run->plan;

	if (plan->pause_by == MEW_PAUSE_BY_EVENTS)
		switch_events(t, plan->pause_mode, 0);
	end_cpu_and_gate(t);
	mew_attend(t, MEW_ATTEND_PAUSE, 0);
	note_end(t, mew_clock_ns());
}

void mew_pause_end_round(struct mew_thread *t, uint64_t now_ns)
{
	const struct mew_plan *plan = &t->run->plan;

	note_end(t, now_ns);
	/* Disabled events stay so; an output must not stay paused in the next round. */
	if (plan->pause_by == MEW_PAUSE_BY_EVENTS && plan->pause_mode == MEW_PAUSE_OUTPUT)
		switch_events(t, MEW_PAUSE_OUTPUT, 0);
	end_cpu_and_gate(t);
}

void mew_resume(struct mew_state *state)
{
	struct mew_thread *t = mew_thread_of(state);

	if (t->depth == 0) {
		if (t->ended_by_loop > 0)
			t->ended_by_loop--;
		else
			mew_run_decide(t->run, MEW_CASE_FAILED, "mew_resume() without a pause");
		return;
	}
	if (--t->depth != 0 || t->place != MEW_IN_LOOP || !mew_run_ours(t->run))
		return;
	mew_pause_end_iteration(t);
}

void mew_pause_end_(struct mew_state *state, const char *left_early_func)
{
	struct mew_thread *t = mew_thread_of(state);

	mew_resume(state);
	if (left_early_func && t->place == MEW_IN_LOOP && mew_run_ours(t->run)) {
		t->broken_pause = left_early_func;
		mew_attend(t, MEW_ATTEND_PAUSE, 1);
	}
}

static void run_pairs(struct mew_thread *t)
{
	unsigned i;

	for (i = 0; i < N_PAIRS; i++) {
		mew_pause(&t->state);
		mew_resume(&t->state);
	}
}

/* The least of the batches: it is taken out of a figure, and what else runs only adds to it. */
void mew_pause_calibrate(struct mew_thread *t, uint64_t *ret_time_ns, uint64_t *ret_cpu_ns)
{
	enum mew_place place = t->place;
	uint64_t time_ns = UINT64_MAX, cpu_ns = UINT64_MAX, part, begin;
	unsigned batch;

	t->place = MEW_IN_LOOP;
	for (batch = 0; batch < N_BATCHES; batch++) {
		memset(&t->round, 0, sizeof(t->round));
		t->cpu_begin = mew_cpu_clock_ns();
		begin = mew_clock_ns();
		run_pairs(t);
		part = (mew_clock_ns() - begin - t->round.paused_ns) / N_PAIRS;
		time_ns = part < time_ns ? part : time_ns;
		part = (mew_cpu_clock_ns() - t->cpu_begin) / N_PAIRS;
		cpu_ns = part < cpu_ns ? part : cpu_ns;
	}
	memset(&t->round, 0, sizeof(t->round));
	t->place = place;
	*ret_time_ns = time_ns;
	*ret_cpu_ns = cpu_ns;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t mew_pause_pair_ns(struct mew_thread *t, enum mew_pause_by by, enum mew_pause_mode mode)
{
	const struct mew_plan plan = t->run->plan;
	enum mew_place place = t->place;
	uint64_t n_opened = t->window ? t->window->n_opened : 0, ns[N_BATCHES], begin;
	unsigned batch;

	t->run->plan.pause_by = by;
	t->run->plan.pause_mode = mode;
	t->place = MEW_IN_LOOP;
	for (batch = 0; batch < N_BATCHES; batch++) {
		begin = mew_clock_ns();
		run_pairs(t);
		ns[batch] = (mew_clock_ns() - begin) / N_PAIRS;
	}
	qsort(ns, N_BATCHES, sizeof(ns[0]), compare_ns);
	memset(&t->round, 0, sizeof(t->round));
	if (t->window)
		__atomic_store_n(&t->window->n_opened, n_opened, __ATOMIC_RELEASE);
	t->run->plan = plan;
	t->place = place;
	return ns[N_BATCHES / 2];
}
