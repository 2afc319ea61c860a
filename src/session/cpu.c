/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c: the CPU engine for a case of a benchmark: plans, rings, account, row. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/cost.h"
#include "kernel/rate.h"
#include "profile/account.h"
#include "profile/plan.h"
#include "profile/stackcopy.h"
#include "profile/verdict.h"
#include "session/cpu.h"
#include "session/drain.h"
#include "session/memory.h"
#include "session/weigh.h"
#include "symbol/symbol.h"

/* A pause pair dearer than this share of an iteration is left to the clock. */
#define DEAR_PAUSE 0.05

/* A tick may take this share of the time between two, and the time between two is no longer than
 * that. */
#define SLOW_GOAL 0.05
#define INTERVAL_MIN_S 1e-4
#define INTERVAL_MAX_S 1e-2

/* An event is to have its counter for so much of the time, and to give so much of the samples that
 * its count makes, when these are enough to tell. */
#define COUNTED 0.99
#define DELIVERED 0.9
#define EXPECTED 50

/* One case while it runs. */
struct cpu_case {
	const struct mew_run_options *o;
	struct mew_event event_of_case; /* the engine's, with a stack copy of this case's size */
	const struct mew_event *event;  /* that one */
	struct mew_stackcopy copy;
	uint64_t n_walked, n_cut; /* up to the last round */
	int opening;              /* the target opens its events again */
	const struct mew_listed_case *item;
	double start_s; /* interval to begin with */
	struct mew_memory window, table;
	struct mew_modules *modules;
	struct mew_symbols *symbols;
	pid_t pid; /* that runs the case; 0: not known yet */
	struct mew_drain drain;
	struct mew_plan plan;
	struct mew_plan_round round; /* the one that runs */
	uint64_t period;             /* its sampling event's, in what it counts */
	uint64_t tick_ns;            /* of the clock that tells user from kernel time */
	double rate_hz; /* HARDWARE by interval: occurrences a second of CPU time, in the case */
	struct mew_account account;
	struct mew_account_weights weights;
	enum mew_pause_mode pause_mode;
	/* sampled rounds */
	double wall_s, paused_s, loop_s, pause_pair_s;
	uint64_t n_pauses, samples_seen;
	uint64_t n_pauses_all;   /* of all rounds */
	uint64_t iterations_all; /* of all sampled rounds, forgotten ones too */
	int left_early, measured, table_full;
};

static enum mew_pause_mode ioctl_mode(const struct mew_event *e)
{
	return e->kind == MEW_EVENT_CLOCK ? MEW_PAUSE_OUTPUT : MEW_PAUSE_DISABLE;
}

static int on_run(void *arg, struct mew_msg_run *run, int *ret_window_fd, struct mew_error *error)
{
	struct cpu_case *k = arg;
	const struct perf_event_attr *attrs[] = {&k->event->attr, &k->event->dummy,
						 &k->event->clock};

	(void)error;
	run->kind = MEW_RUN_CPU;
	run->pause_mode = (uint32_t)k->o->pause;
	run->ioctl_mode = (uint32_t)ioctl_mode(k->event);
	run->n_events = k->event->clock.size ? 3 : 2;
	run->window_bytes = (uint32_t)k->window.bytes;
	for (unsigned i = 0; i < run->n_events; i++)
		memcpy(run->attrs[i], attrs[i], sizeof *attrs[i]);
	*ret_window_fd = k->window.fd;
	return 0;
}

static int on_maps(void *arg, pid_t pid, const struct mew_msg_maps *m, int maps_fd,
		   struct mew_error *error)
{
	struct cpu_case *k = arg;
	int err;

	k->pid = pid;
	k->drain.root = (struct mew_walk_root){m->root_lo, m->root_hi};
	err = mew_modules_read_maps(k->modules, maps_fd, error);
	close(maps_fd);
	if (err == -ENOSPC) { /* the modules that found no room break their stacks, and are counted
				 there */
		k->table_full = 1;
		return 0;
	}
	return err;
}

static int on_thread(void *arg, const struct mew_msg_thread *m, const int *fds, unsigned n_fds,
		     struct mew_error *error)
{
	struct cpu_case *k = arg;

	return mew_drain_add(&k->drain, m, fds, n_fds, error);
}

/* The pool's threads count as well: the loop waits for what slows them. */
static void facts_of(struct cpu_case *k, const struct mew_msg_round *m, struct mew_plan_facts *f)
{
	*f = (struct mew_plan_facts){
		.kind = k->round.kind,
		.iterations = m->iterations,
		.loop_ns = m->loop_ns,
		.wall_ns = m->wall_ns,
		.paused_ns = m->paused_ns,
		.left_early = m->left_early != 0,
	};
	if (m->kind != MEW_ROUND_SAMPLED)
		return;
	for (size_t i = 0; i < k->drain.n_threads; i++)
		f->ticks += k->drain.threads[i].interrupts;
	f->samples = k->drain.samples - k->samples_seen;
	k->samples_seen = k->drain.samples;
}

/* Which mode the next rounds' pauses go by, once it is known what an iteration takes. */
static void choose_pause_mode(struct cpu_case *k, const struct mew_msg_round *m)
{
	double iteration_ns, pauses;

	if (!m->iterations || k->o->pause != MEW_PAUSE_AUTO)
		return;
	iteration_ns = (double)m->loop_ns / (double)m->iterations;
	pauses = (double)m->n_pauses / (double)m->iterations;
	if (pauses > 0)
		k->pause_mode = (double)m->pause_ioctl_ns * pauses > DEAR_PAUSE * iteration_ns
					? MEW_PAUSE_CLOCK
					: ioctl_mode(k->event);
}

/* A sampled round has ended. */
static int take_round(struct cpu_case *k, const struct mew_msg_round *m, struct mew_error *error)
{
	const struct mew_count *total = &k->drain.total;
	struct mew_drain_round round = {k->period, k->tick_ns, (enum mew_pause_mode)m->pause_mode};
	int err = mew_drain_end(&k->drain, &round, &k->account, error);

	k->wall_s += (double)m->wall_ns / 1e9;
	k->loop_s += (double)m->loop_ns / 1e9;
	k->paused_s += (double)m->paused_ns / 1e9;
	k->n_pauses += m->n_pauses;
	k->pause_mode = (enum mew_pause_mode)m->pause_mode;
	k->pause_pair_s = (double)m->pause_pair_ns / 1e9;
	k->measured = 1;
	/* what was measured on ourselves was another program */
	if (total->count && total->enabled_ns)
		k->rate_hz = (double)total->count * 1e9 / (double)total->enabled_ns;
	return err;
}

static void forget(struct cpu_case *k)
{
	mew_drain_forget(&k->drain);
	memset(&k->account, 0, sizeof k->account);
	k->wall_s = k->loop_s = k->paused_s = 0;
	k->n_pauses = k->samples_seen = k->n_walked = k->n_cut = 0;
	k->measured = 0;
}

/* After a sampled round: whether the next ones should have another stack copy. */
static uint32_t fit_copy(struct cpu_case *k)
{
	const struct mew_breaks *b = &k->drain.breaks;
	uint64_t n = b->n_stacks - k->n_walked, n_cut = k->drain.losses.cut - k->n_cut;

	k->n_walked = b->n_stacks;
	k->n_cut = k->drain.losses.cut;
	return mew_stackcopy_next(&k->copy, n, n_cut, b->need_bytes);
}

/* To the target a warm-up is a round without samples like another. */
static enum mew_round_kind to_target(enum mew_round_kind kind)
{
	return kind == MEW_ROUND_WARM_UP ? MEW_ROUND_PLAIN : kind;
}

/* The interval of the round, in what the event counts. The companion gets the same jitter: a loop
 * may run in step with it as well. */
static void set_periods(struct cpu_case *k, struct mew_msg_plan *ret)
{
	uint64_t ns = k->round.period_ns;
	uint64_t jitter_permille = (uint64_t)((double)ns / (k->plan.interval_s * 1e6) + 0.5);
	int by_time = k->event->kind == MEW_EVENT_CLOCK || k->event->by_interval;

	k->tick_ns = k->event->clock.sample_period * jitter_permille / 1000;
	if (k->event->kind == MEW_EVENT_CLOCK)
		k->period = k->tick_ns = ns;
	else if (k->event->by_interval)
		k->period = mew_rate_period(k->rate_hz, (double)ns / 1e9);
	else
		k->period = k->event->attr.sample_period;
	/* One that never changes goes on from round to round, and so does what is left of it. */
	ret->period = by_time ? k->period : 0;
	ret->clock_period_ns = k->event->clock.size ? k->tick_ns : 0;
}

static void answer(struct cpu_case *k, struct mew_msg_plan *ret)
{
	ret->kind = (uint32_t)to_target(k->round.kind);
	ret->iterations = k->round.iterations;
	if (k->round.kind == MEW_ROUND_SAMPLED)
		set_periods(k, ret);
	ret->pause_mode = (uint32_t)k->pause_mode;
}

static int on_round(void *arg, const struct mew_msg_round *m, struct mew_msg_plan *ret,
		    struct mew_error *error)
{
	struct cpu_case *k = arg;
	struct mew_plan_facts facts;
	uint32_t bytes = 0;
	int err = 0;

	if (k->opening && m->kind == MEW_ROUND_NONE) {
		k->opening = 0;
		answer(k, ret);
		return mew_drain_begin(&k->drain, k->round.kind == MEW_ROUND_SAMPLED, error);
	}
	if (m->kind != (uint32_t)to_target(k->round.kind))
		return mew_error_set(error, -EPROTO,
				     "the program ended another round than it was to run");
	k->n_pauses_all += m->n_pauses;
	k->iterations_all += m->kind == MEW_ROUND_SAMPLED ? m->iterations : 0;
	k->left_early |= m->left_early != 0;
	if (m->kind == MEW_ROUND_SAMPLED)
		err = take_round(k, m, error);
	if (err)
		return err;
	if (m->kind == MEW_ROUND_PLAIN)
		choose_pause_mode(k, m);
	facts_of(k, m, &facts);
	if (m->kind == MEW_ROUND_SAMPLED)
		bytes = fit_copy(k);
	facts.useless = bytes > k->event->attr.sample_stack_user;
	k->round = mew_plan_next(&k->plan, m->kind == MEW_ROUND_NONE ? NULL : &facts);
	if (k->round.discard)
		forget(k);
	answer(k, ret);
	if (bytes && k->round.kind != MEW_ROUND_STOP) {
		k->opening = 1;
		k->event_of_case.attr.sample_stack_user = ret->stack_bytes = bytes;
	}
	return mew_drain_begin(&k->drain, k->round.kind == MEW_ROUND_SAMPLED, error);
}

static size_t on_watch(void *arg, struct pollfd *fds, size_t max)
{
	return mew_drain_watch(&((struct cpu_case *)arg)->drain, fds, max);
}

/* At each turn of the dialogue: a ring that fills slowly asks for nothing until it is full. */
static int on_ready(void *arg, const struct pollfd *fds, size_t n, struct mew_error *error)
{
	(void)fds;
	(void)n;
	return mew_drain_all(&((struct cpu_case *)arg)->drain, error);
}

/* Exactly this one; 0: the plan may choose. An event that goes by count has none to choose. */
static double given_interval(const struct cpu_case *k)
{
	if (k->event->kind == MEW_EVENT_CLOCK && k->o->count)
		return (double)k->o->count / 1e9;
	if (k->event->kind == MEW_EVENT_CLOCK || k->event->by_interval)
		return k->o->interval_s;
	return INTERVAL_MIN_S;
}

static int begin_case(struct cpu_case *k, struct mew_error *error)
{
	unsigned n_threads = k->item->n_threads;
	struct mew_plan_options plan = {
		.iterations = k->o->iterations,
		.interval_s = given_interval(k),
		.start_s = k->start_s,
		.n_threads = n_threads,
		.seed = mew_monotonic_ns(),
	};
	struct mew_window *w;
	int err;

	err = mew_memory_open(&k->window, "mew-window", mew_window_bytes(n_threads), 0, error);
	if (err)
		return err;
	w = k->window.at;
	w->magic = MEW_WINDOW_MAGIC;
	w->n_threads = n_threads;
	k->modules = mew_table_space_open(&k->table, error);
	if (!k->modules)
		return -ENOMEM;
	err = mew_drain_init(&k->drain, k->event, w, n_threads);
	if (err)
		return mew_error_set(error, err, "out of memory");
	k->drain.modules = k->modules;
	k->drain.table_bytes = k->table.bytes;
	mew_plan_init(&k->plan, &plan);
	k->pause_mode = k->o->pause == MEW_PAUSE_AUTO ? MEW_PAUSE_CLOCK : k->o->pause;
	if (k->o->pause == MEW_PAUSE_OUTPUT)
		k->pause_mode = ioctl_mode(k->event);
	return 0;
}

static void end_case(struct cpu_case *k)
{
	mew_symbols_free(k->symbols);
	mew_drain_done(&k->drain);
	mew_modules_free(k->modules);
	mew_memory_done(&k->table);
	mew_memory_done(&k->window);
}

static struct mew_symbols *symbols_of(void *arg, uint32_t group, uint64_t *ret_time_ns)
{
	struct cpu_case *k = arg;

	*ret_time_ns = mew_modules_epoch_end(k->modules, group);
	return k->symbols;
}

static int in_loop(void *arg, uint32_t thread)
{
	const struct cpu_case *k = arg;

	return k->drain.threads[thread].kind == MEW_THREAD_LOOP;
}

static void fill_row(const struct cpu_case *k, struct mew_session *s, struct mew_pcase *c,
		     uint64_t unknown)
{
	struct mew_plan_result p = mew_plan_result(&k->plan);

	c->cpu.profiler = s->engine;
	c->cpu.wall_time_s = k->wall_s;
	c->cpu.sample_count = k->drain.samples;
	c->cpu.iterations = p.sampled_iterations;
	/* occurrences, and events by count, have no time between them */
	c->cpu.interval_s =
		k->event->kind == MEW_EVENT_CLOCK || k->event->by_interval ? p.interval_s : NAN;
	c->cpu.paused_time_s = k->paused_s;
	c->cpu.off_cpu_time_s = k->account.off_s;
	c->cpu.lost = k->drain.losses.lost;
	c->cpu.truncated = k->drain.breaks.n_broken;
	c->cpu.unknown = unknown;
	c->cpu.slowdown = p.slowdown;
	c->cpu.pause_cost_s = k->n_pauses_all ? k->pause_pair_s : NAN;
	c->cpu.time_per_iteration_s = p.time_per_iteration_s;
	c->cpu.time_spread = p.time_spread;
}

/* What is wrong with the counting or the records of it. Empty: nothing. */
static void doubt_of(const struct cpu_case *k, char *buf, size_t cap)
{
	const struct mew_drain *d = &k->drain;
	const char *name = k->event->name;
	int is_hardware = k->event->kind == MEW_EVENT_HARDWARE;
	double counted =
		d->total.enabled_ns ? (double)d->total.running_ns / (double)d->total.enabled_ns : 1;

	buf[0] = '\0';
	if (k->table_full)
		snprintf(buf, cap, "too many modules: some have no unwind table");
	else if (d->losses.bad_records)
		snprintf(buf, cap, "%llu records of the kernel lost or unreadable",
			 (unsigned long long)d->losses.bad_records);
	else if (mew_modules_n_mixed(k->modules))
		snprintf(buf, cap, "code was replaced more than %d times: some names are wrong",
			 MEW_MODULES_EPOCHS);
	else if (is_hardware && counted < COUNTED)
		snprintf(buf, cap, "%s had a counter for %.0f %% of the time", name, 100 * counted);
	else if (is_hardware && d->total.enabled_ns && !d->total.count)
		snprintf(buf, cap, "%s counted nothing", name);
	else if (d->losses.throttled)
		snprintf(buf, cap, "the kernel throttled the sampling %llu times",
			 (unsigned long long)d->losses.throttled);
	else if (is_hardware && d->expected >= EXPECTED &&
		 (double)(d->delivered + d->losses.lost) < DELIVERED * (double)d->expected)
		snprintf(buf, cap, "%s gave %llu samples where it counted for %llu", name,
			 (unsigned long long)d->delivered, (unsigned long long)d->expected);
}

/* What is worth knowing of a row that is right. NULL: nothing. */
static const char *note_of(const struct cpu_case *k, char *note, size_t size)
{
	uint64_t coroutines = k->drain.losses.coroutines;
	uint64_t by_fp = k->drain.breaks.n_stacks_by_fp;
	int n = 0;

	if (coroutines)
		n = snprintf(note, size, "%llu samples in coroutines",
			     (unsigned long long)coroutines);
	if (by_fp)
		n = snprintf(note + n, size - (size_t)n, "%s%llu stack%s by frame pointers",
			     n ? "; " : "", (unsigned long long)by_fp, by_fp == 1 ? "" : "s");
	return n ? note : NULL;
}

/* The size of the copies where that is what most stacks broke by. 0: it is not. */
static uint32_t too_small(const struct cpu_case *k)
{
	if (k->drain.losses.cut <= k->drain.breaks.n_broken / 2)
		return 0;
	/* What was measured before the copy grew is kept when iterations are given. */
	return k->o->iterations ? k->copy.start : k->copy.bytes;
}

static int judge(const struct cpu_case *k, struct mew_session *s, struct mew_pcase *c)
{
	const struct mew_drain_losses *l = &k->drain.losses;
	struct mew_verdict_cpu facts = {
		.unexplained_s = k->weights.unexplained_s,
		.threads_wall_s = k->loop_s,
		.pauses_s = (double)k->n_pauses * k->pause_pair_s,
		.broken = k->drain.breaks.n_broken,
		.threads_not_sampled = (unsigned)l->threads_started,
		.n_children = (unsigned)l->children,
		.n_threads = k->item->n_threads,
		.iterations_given = k->o->iterations,
		.left_early = k->left_early,
		.pause_by_clock = k->n_pauses_all && k->pause_mode == MEW_PAUSE_CLOCK,
		.stack_bytes = too_small(k),
	};
	struct mew_verdict v;
	char doubt[256], note[128];

	doubt_of(k, doubt, sizeof doubt);
	facts.note = note_of(k, note, sizeof note);
	if (doubt[0])
		facts.doubt = doubt;
	mew_verdict_cpu(&c->cpu, &facts, &v);
	return mew_verdict_store(s, c, &v);
}

/* The row and the stacks of a case that was measured, wholly or up to where it failed. */
static int report_case(struct cpu_case *k, struct mew_session *s, struct mew_pcase *c,
		       const struct mew_outcome *out, struct mew_error *error)
{
	uint64_t unknown = 0;
	int err;

	mew_account_finish(&k->account);
	mew_weigh(&k->drain.collect, k->event, &k->account, in_loop, k, &k->weights);
	k->symbols = mew_symbols_new(k->modules, error);
	if (!k->symbols)
		return -ENOMEM;
	mew_symbols_set_process(k->symbols, k->pid, s->started_unix_ns);
	err = mew_collect_values(&k->drain.collect, s, c, symbols_of, k, &unknown);
	if (!err) {
		fill_row(k, s, c, unknown);
		err = mew_case_summarise(s, c);
		mew_weigh_row(&k->weights, &c->cpu);
	}
	if (!err)
		err = mew_run_take_counters(s, c, out, k->iterations_all,
					    k->item->n_threads / c->cpu.time_per_iteration_s);
	if (!err)
		err = judge(k, s, c);
	mew_breaks_say(&k->drain.breaks, k->o, c->key, k->drain.cache.n_misses);
	return err ? mew_error_set(error, err, "out of memory") : 0;
}

static int run_case(struct mew_run *r, const struct mew_listed_case *item, struct mew_pcase *c,
		    struct mew_outcome *ret, struct mew_error *error)
{
	struct mew_cpu_engine *e = r->engine;
	struct cpu_case *k;
	struct mew_engine engine = {
		.run = on_run,
		.maps = on_maps,
		.thread = on_thread,
		.round = on_round,
		.watch = on_watch,
		.ready = on_ready,
	};
	struct mew_dialogue_options d = {.run = r->o, .program = &r->program, .item = item};
	int err;

	if (!item)
		return mew_cpu_run_whole(r, e, c, ret, error);
	k = calloc(1, sizeof *k);
	if (!k)
		return mew_error_set(error, -ENOMEM, "out of memory");
	k->o = r->o;
	k->event_of_case = e->event;
	k->event = &k->event_of_case;
	mew_stackcopy_init(&k->copy, e->event.attr.sample_stack_user, r->o->stack_bytes != 0);
	k->item = item;
	k->start_s = e->start_s;
	k->rate_hz = e->event.rate_hz;
	engine.arg = k;
	err = begin_case(k, error);
	if (!err)
		err = mew_dialogue(&d, &engine, ret, error);
	if (!err)
		err = mew_run_take_outcome(r->session, c, ret);
	if (!err && c->result == MEW_RESULT_OK && !k->measured) {
		c->result = MEW_RESULT_FAILED;
		c->reason = "nothing was measured: the loop ended in its warm-up";
	}
	if (!err && k->measured && c->result != MEW_RESULT_SKIPPED) {
		err = report_case(k, r->session, c, ret, error);
		mew_cpu_remember(e, c);
	}
	end_case(k);
	free(k);
	return err;
}

static void calibrate(struct mew_cpu_engine *e)
{
	double cost_s = mew_event_tick_cost(&e->event);

	e->tick_cost_s = cost_s > 0 ? cost_s : 0;
	e->start_s = fmin(fmax(e->tick_cost_s / SLOW_GOAL, INTERVAL_MIN_S), INTERVAL_MAX_S);
}

static int open_engine(struct mew_run *r, struct mew_error *error)
{
	struct mew_cpu_engine *e = calloc(1, sizeof *e);
	uint32_t stack = r->o->stack_bytes ? r->o->stack_bytes : MEW_STACK_BYTES_DEFAULT;
	double interval_s = r->o->interval_s > 0 ? r->o->interval_s : INTERVAL_MIN_S;
	int err;

	if (!e)
		return mew_error_set(error, -ENOMEM, "out of memory");
	r->engine = e;
	err = mew_event_permitted(error);
	if (!err)
		err = mew_event_resolve(r->o->event, interval_s, r->o->count, stack, &e->event,
					error);
	if (!err && !r->o->count && r->o->interval_s <= 0 &&
	    (e->event.kind == MEW_EVENT_CLOCK || e->event.by_interval))
		calibrate(e);
	if (!err) {
		r->session->engine = mew_session_printf(r->session, "perf_event:%s", e->event.name);
		if (!r->session->engine)
			err = mew_error_set(error, -ENOMEM, "out of memory");
	}
	return err;
}

static void close_engine(struct mew_run *r)
{
	free(r->engine);
	r->engine = NULL;
}

const struct mew_run_engine mew_engine_cpu = {
	.kind = MEW_SESSION_CPU,
	.open = open_engine,
	.close = close_engine,
	.run_case = run_case,
	.describe = mew_cpu_describe,
};
