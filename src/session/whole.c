/* SPDX-License-Identifier: Apache-2.0 */
/* whole.c: the CPU engine for a program that knows nothing of us: rings a CPU, inherited by threads
 * and children, from exec to exit. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "kernel/rate.h"
#include "kernel/record.h"
#include "kernel/resize.h"
#include "kernel/whole.h"
#include "profile/account.h"
#include "profile/verdict.h"
#include "session/breaks.h"
#include "session/collect.h"
#include "session/copies.h"
#include "session/cpu.h"
#include "session/image.h"
#include "session/place.h"
#include "session/sample.h"
#include "session/weigh.h"
#include "unwind/walk.h"

struct whole_case {
	struct mew_event *event;
	struct mew_whole kernel;
	pid_t pid;
	uint64_t begin_ns, end_ns; /* exec, and the last record */
	struct mew_images images;
	struct mew_places places;
	struct mew_collect collect;
	struct mew_walk_cache cache; /* of the image walked last */
	uint64_t cache_version;
	struct mew_walk_result walk;
	struct mew_map alive;             /* tid -> born, ns */
	struct mew_map execs;             /* pid -> 1: it is not seen to run its new program yet */
	uint64_t lived_ns;                /* of threads that have ended */
	int hung_up, multiplexed, silent; /* silent: the event counted nothing */
	uint64_t samples, lost, bad, throttled, no_image;
	struct mew_breaks breaks;
	int exact; /* the user chose the stack copy's size */
	struct mew_copies copies;
	uint64_t n_misses; /* of the caches of images before this one */
	unsigned n_children;
	uint64_t n_tasks, unticked_ns; /* threads and processes, each with a clock of its own; about
					  what these ran after their last ticks */
};

static int before_exec(void *arg, pid_t pid, struct mew_error *error)
{
	struct whole_case *k = arg;
	int err;

	k->pid = pid;
	err = mew_whole_open(&k->kernel, k->event, pid, error);
	if (!err && !k->exact)
		mew_resize_open(&k->kernel, pid);
	return err;
}

static void born(struct whole_case *k, uint32_t tid, uint64_t time_ns)
{
	if (mew_map_put(&k->alive, tid, time_ns))
		k->bad++;
}

/* A task of so many ns is over. What it ran is not known but for that: a clock that stops anywhere
 * in a period loses half of one, or all that it ran. */
static void lived(struct whole_case *k, uint64_t ns)
{
	uint64_t half_ns = k->event->attr.sample_period / 2;

	k->lived_ns += ns;
	k->unticked_ns += ns < half_ns ? ns : half_ns;
	k->n_tasks++;
}

static void died(struct whole_case *k, uint32_t tid, uint64_t time_ns)
{
	uint64_t from;

	if (!mew_map_get(&k->alive, tid, &from) || !from)
		return;
	if (time_ns > from)
		lived(k, time_ns - from);
	born(k, tid, 0); /* a tid of 0 ns is gone */
}

static int on_map(struct whole_case *k, const struct mew_record *r)
{
	struct mew_mapped mapped = mew_sample_mapped(r);
	int err;

	if (!r->executable)
		return 0;
	err = mew_images_map(&k->images, r->pid, &mapped);
	if (err == -ENOSPC) {
		k->bad++;
		return 0;
	}
	return err;
}

static int on_exec(struct whole_case *k, const struct mew_record *r)
{
	if (k->event->attr.sample_type & PERF_SAMPLE_CALLCHAIN && mew_map_put(&k->execs, r->pid, 1))
		return -ENOMEM;
	return mew_images_exec(&k->images, r->pid, r->time_ns, NULL);
}

static int on_note(struct whole_case *k, const struct mew_record *r)
{
	if (r->time_ns > k->end_ns)
		k->end_ns = r->time_ns;
	switch (r->type) {
	case MEW_RECORD_COMM:
		if (!r->is_exec)
			return 0;
		if (!k->begin_ns) {
			k->begin_ns = r->time_ns;
			born(k, r->tid, r->time_ns);
		}
		return on_exec(k, r);
	case MEW_RECORD_MMAP:
		return on_map(k, r);
	case MEW_RECORD_FORK:
		born(k, r->tid, r->time_ns);
		k->n_children += r->pid != r->ppid;
		return mew_images_fork(&k->images, r->pid, r->ppid);
	case MEW_RECORD_EXIT:
		died(k, r->tid, r->time_ns);
		return mew_images_exit(&k->images, r->pid);
	default:
		return 0;
	}
}

/* The node of the stack that was walked last. UINT32_MAX without memory. */
static uint32_t stack_of(struct whole_case *k, const struct mew_image *image, uint64_t time_ns,
			 enum mew_collect_mark mark)
{
	const struct mew_walk_result *w = &k->walk;
	struct mew_place_of of = {image->modules, image->pid,
				  time_ns < image->changed_ns ? 0 : image->version};
	uint32_t node = 0;

	for (uint32_t i = w->n_frames; i-- > 0 && node != UINT32_MAX;) {
		int exact = mew_walk_is_exact(w, i);
		uint64_t at;
		uint32_t place = mew_places_find(&k->places, &of, w->pcs[i], !exact, time_ns, &at);

		if (place == UINT32_MAX)
			return place;
		node = mew_collect_child(&k->collect, node, place, at, exact,
					 i + 1 == w->n_frames ? mark : MEW_COLLECT_WHOLE);
	}
	return node;
}

static int count_sample(struct whole_case *k, uint32_t node, int whole)
{
	if (node == UINT32_MAX || mew_collect_tick(&k->collect, 0, node, whole))
		return -ENOMEM;
	k->samples++;
	return 0;
}

static int on_sample_without_registers(struct whole_case *k, const struct mew_record *r)
{
	if (r->n_kernel_pcs)
		return count_sample(k, mew_sample_kernel_alone(&k->collect, &k->breaks, r), 0);
	k->bad++;
	return 0;
}

/*
 * From the exec on until the kernel sets the registers up they are those of the program before,
 * whose stack and code are gone: what is sampled in between has no caller.
 */
static int in_exec(struct whole_case *k, const struct mew_record *r)
{
	uint64_t execs;

	if (!mew_map_get(&k->execs, r->pid, &execs) || !execs)
		return 0;
	if (r->n_kernel_pcs &&
	    (!r->stack_bytes || (k->walk.end == MEW_WALK_NO_MODULE && k->walk.n_frames == 1)))
		return 1;
	return mew_map_put(&k->execs, r->pid, 0); /* it is there: needs no memory */
}

static int on_sample(struct whole_case *k, const struct mew_record *r)
{
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	static const struct mew_walk_root outermost;
	const struct mew_image *image;
	uint32_t node;
	int whole;

	if (mew_sample_start(r, &start, &stack))
		return on_sample_without_registers(k, r);
	image = mew_images_find(&k->images, r->pid, r->time_ns);
	if (!image) {
		k->no_image++;
		return 0;
	}
	if (image->version != k->cache_version) {
		k->n_misses += k->cache.n_misses;
		memset(&k->cache, 0, sizeof k->cache);
	}
	k->cache_version = image->version;
	mew_walk(mew_modules_table(image->modules), image->space.bytes, &start, &stack, &outermost,
		 &k->cache, &k->walk);
	if (in_exec(k, r))
		return count_sample(k, mew_sample_kernel(&k->collect, 0, r), 1);
	whole = k->walk.end == MEW_WALK_OUTERMOST || k->walk.end == MEW_WALK_ZERO;
	mew_copies_note(&k->copies, r, &k->walk, whole);
	if (mew_sample_breaks(&k->breaks, image->modules, r, &k->walk, !whole))
		return -ENOMEM;
	node = stack_of(k, image, r->time_ns, whole ? MEW_COLLECT_WHOLE : MEW_COLLECT_BROKEN);
	if (node != UINT32_MAX)
		node = mew_sample_kernel(&k->collect, node, r);
	return count_sample(k, node, whole);
}

static int on_record(void *arg, const struct mew_record *r)
{
	struct whole_case *k = arg;

	switch (r->type) {
	case MEW_RECORD_SAMPLE:
		return on_sample(k, r);
	case MEW_RECORD_LOST:
		k->lost += r->n_lost;
		return 0;
	case MEW_RECORD_THROTTLE:
		k->throttled += (uint64_t)r->on;
		return 0;
	default:
		return on_note(k, r);
	}
}

static int drain(struct whole_case *k, int final, struct mew_error *error)
{
	int err = mew_whole_drain(&k->kernel, final, on_record, k);

	return err ? mew_error_errno(error, err, "cannot take the samples in") : 0;
}

static size_t on_watch(void *arg, struct pollfd *fds, size_t max)
{
	struct whole_case *k = arg;
	size_t n = 0;

	/* hung up for good once all tasks are gone: only the end of the process is waited for then
	 */
	for (; n < k->kernel.n_rings && n < max && !k->hung_up; n++)
		fds[n] = (struct pollfd){.fd = mew_whole_fd(&k->kernel, n), .events = POLLIN};
	return n;
}

static int on_wait(void *arg)
{
	const struct whole_case *k = arg;

	return mew_copies_wait_ms(&k->copies, &k->kernel);
}

static int on_ready(void *arg, const struct pollfd *fds, size_t n, struct mew_error *error)
{
	struct whole_case *k = arg;
	int err;

	for (size_t i = 0; i < n; i++)
		k->hung_up |= fds[i].revents & POLLHUP;
	err = drain(k, 0, error);
	if (!err)
		mew_copies_fit(&k->copies, &k->kernel);
	return err;
}

/* Threads that are still there when the process has ended were alive up to the last record. */
static double lifetimes_s(struct whole_case *k)
{
	size_t at = 0;
	uint64_t tid, from;

	while (mew_map_next(&k->alive, &at, &tid, &from))
		if (from && k->end_ns > from)
			lived(k, k->end_ns - from);
	return (double)k->lived_ns / 1e9;
}

/* By the clock's count and ticks; another event tells nothing of time: then by what the kernel
 * charged the processes. */
static int account(struct whole_case *k, const struct mew_outcome *out, struct mew_account *a,
		   struct mew_error *error)
{
	struct mew_whole_count count;
	struct mew_account_round round = {.wall_s = lifetimes_s(k)};
	int err = mew_whole_read(&k->kernel, &count);

	if (err)
		return mew_error_errno(error, err, "cannot read the event's count");
	if (count.n_lost > k->lost)
		k->lost = count.n_lost;
	/* Less is the time between two events that take turns. */
	k->multiplexed = k->event->kind == MEW_EVENT_HARDWARE &&
			 count.running_ns < count.enabled_ns - count.enabled_ns / 100;
	k->silent = k->event->kind == MEW_EVENT_HARDWARE && !count.count && count.enabled_ns;
	if (k->event->kind != MEW_EVENT_CLOCK) {
		a->wall_s = round.wall_s;
		a->user_s = out->user_s;
		a->kernel_s = out->kernel_s;
		a->off_s = fmax(round.wall_s - out->user_s - out->kernel_s, 0);
		return 0;
	}
	round.count_s = round.clock_all_s = (double)count.count / 1e9;
	round.off_s = fmax(round.wall_s - round.count_s, 0);
	round.period_s = (double)k->event->attr.sample_period / 1e9;
	round.ticks = k->samples + k->no_image + k->lost;
	if (k->n_tasks > 1) {
		round.n_more_ends = k->n_tasks - 1;
		round.unticked_s = (double)k->unticked_ns / 1e9 - round.period_s / 2;
	}
	mew_account_add(a, &round);
	mew_account_finish(a);
	return 0;
}

static int judge(struct whole_case *k, const struct mew_account *a,
		 const struct mew_account_weights *weights, struct mew_session *s,
		 struct mew_pcase *c)
{
	struct mew_verdict_cpu facts = {
		.threads_wall_s = (double)k->lived_ns / 1e9,
		.broken = k->breaks.n_broken,
		.n_threads = 1,
		.whole_program = 1,
		/* where that is what most of them broke by */
		.stack_bytes = k->copies.n_deeper > k->breaks.n_broken / 2
				       ? mew_copies_too_small(&k->copies)
				       : 0,
	};
	uint64_t bad = k->bad + k->kernel.n_bad;
	double cpu_s = a->user_s + a->kernel_s + a->unticked_s;
	char doubt[192] = "", note[128] = "";
	int n = 0;
	struct mew_verdict v;

	/* Of other events no clock tells. */
	if (k->event->kind == MEW_EVENT_CLOCK) {
		facts.unexplained_s = weights->unexplained_s - a->unticked_s;
		facts.unticked_share = cpu_s > 0 ? a->unticked_s / cpu_s : 0;
	}
	if (k->no_image)
		snprintf(doubt, sizeof doubt, "%llu samples of processes that could not be told",
			 (unsigned long long)k->no_image);
	else if (bad)
		snprintf(doubt, sizeof doubt, "%llu records of the kernel lost or unreadable",
			 (unsigned long long)bad);
	else if (k->silent)
		snprintf(doubt, sizeof doubt, "%s counted nothing", k->event->name);
	else if (k->multiplexed)
		snprintf(doubt, sizeof doubt, "the event shared its counter with others");
	else if (k->throttled)
		snprintf(doubt, sizeof doubt, "the kernel throttled the sampling %llu times",
			 (unsigned long long)k->throttled);
	facts.doubt = doubt[0] ? doubt : NULL;
	if (k->n_children)
		n = snprintf(note, sizeof note, "%u child process%s included", k->n_children,
			     k->n_children == 1 ? "" : "es");
	if (k->breaks.n_stacks_by_fp)
		snprintf(note + n, sizeof note - (size_t)n, "%s%llu stack%s by frame pointers",
			 n ? "; " : "", (unsigned long long)k->breaks.n_stacks_by_fp,
			 k->breaks.n_stacks_by_fp == 1 ? "" : "s");
	if (note[0])
		facts.note = note;
	mew_verdict_cpu(&c->cpu, &facts, &v);
	return mew_verdict_store(s, c, &v);
}

static double interval_s(const struct mew_event *e)
{
	if (e->kind == MEW_EVENT_CLOCK)
		return (double)e->attr.sample_period / 1e9;
	return e->by_interval && e->rate_hz > 0 ? (double)e->attr.sample_period / e->rate_hz : NAN;
}

static int fill(struct whole_case *k, const struct mew_outcome *out, struct mew_session *s,
		struct mew_pcase *c, struct mew_error *error)
{
	struct mew_account a = {0};
	struct mew_account_weights weights;
	uint64_t unknown = 0;
	int err = account(k, out, &a, error);

	if (err)
		return err;
	/* in any unit; where there is no time to divide, nothing */
	mew_collect_settle(&k->collect, 0, a.user_s > 0 || !k->event->attr.exclude_kernel);
	mew_weigh(&k->collect, k->event, &a, NULL, NULL, &weights);
	k->places.since_unix_ns = s->started_unix_ns;
	err = mew_collect_values(&k->collect, s, c, mew_places_symbols, &k->places, &unknown);
	if (err)
		return mew_error_set(error, err, "out of memory");
	c->cpu = (struct mew_cpu_row){
		.profiler = s->engine,
		.wall_time_s = k->begin_ns ? (double)(k->end_ns - k->begin_ns) / 1e9 : 0,
		.sample_count = k->samples,
		.iterations = 1,
		.interval_s = interval_s(k->event),
		.paused_time_s = 0,
		.off_cpu_time_s = a.off_s,
		.lost = k->lost,
		.truncated = k->breaks.n_broken,
		.unknown = unknown,
		.slowdown = NAN,
		.pause_cost_s = NAN,
		.time_per_iteration_s = k->begin_ns ? (double)(k->end_ns - k->begin_ns) / 1e9 : 0,
		.time_spread = NAN,
	};
	err = mew_case_summarise(s, c);
	mew_weigh_row(&weights, &c->cpu);
	if (!err)
		err = judge(k, &a, &weights, s, c);
	return err ? mew_error_set(error, err, "out of memory") : 0;
}

int mew_cpu_run_whole(struct mew_run *r, struct mew_cpu_engine *e, struct mew_pcase *c,
		      struct mew_outcome *ret, struct mew_error *error)
{
	struct whole_case *k = calloc(1, sizeof *k);
	struct mew_engine engine = {
		.arg = k, .watch = on_watch, .wait_ms = on_wait, .ready = on_ready};
	struct mew_dialogue_options d = {
		.run = r->o, .program = &r->program, .before_exec = before_exec};
	int err;

	if (!k)
		return mew_error_set(error, -ENOMEM, "out of memory");
	k->event = &e->event;
	/* such a program cannot be run twice to see what the ticks cost it */
	if (e->start_s > 0)
		k->event->attr.sample_period =
			k->event->kind == MEW_EVENT_CLOCK
				? (uint64_t)(e->start_s * 1e9)
				: mew_rate_period(k->event->rate_hz, e->start_s);
	k->exact = r->o->stack_bytes != 0;
	mew_copies_init(&k->copies, k->event->attr.sample_stack_user);
	mew_map_init(&k->alive);
	mew_map_init(&k->execs);
	mew_images_init(&k->images);
	err = mew_collect_init(&k->collect);
	if (!err)
		err = mew_dialogue(&d, &engine, ret, error);
	if (!err && ret->how != MEW_DIALOGUE_BENCHMARK) {
		err = drain(k, 1, error);
		if (!err)
			err = mew_run_take_outcome(r->session, c, ret);
		if (!err)
			err = fill(k, ret, r->session, c, error);
		mew_breaks_say(&k->breaks, r->o, c->key, k->n_misses + k->cache.n_misses);
		mew_cpu_remember(e, c);
	}
	mew_whole_close(&k->kernel);
	mew_collect_done(&k->collect);
	mew_breaks_done(&k->breaks);
	mew_places_done(&k->places);
	mew_images_done(&k->images);
	mew_map_done(&k->alive);
	mew_map_done(&k->execs);
	free(k);
	return err;
}
