/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "session/drain.h"
#include "session/sample.h"

#define SAMPLES_RING_BYTES (512u << 10)
#define SAMPLES_RING_BYTES_MIN (128u << 10)
#define SAMPLES_RING_BYTES_MAX (4u << 20)
#define SAMPLES_RING_SAMPLES 64u
#define NOTES_RING_BYTES (64u << 10)
#define NOTES_RING_BYTES_MIN (8u << 10)
#define CLOCK_RING_BYTES (16u << 10)

int mew_drain_init(struct mew_drain *d, const struct mew_event *event,
		   const struct mew_window *window, unsigned n_slots)
{
	memset(d, 0, sizeof *d);
	d->event = event;
	d->window = window;
	d->n_slots = n_slots;
	return mew_collect_init(&d->collect);
}

static void close_thread(struct mew_drain_thread *t)
{
	mew_ring_close(&t->samples);
	mew_ring_close(&t->notes);
	mew_ring_close(&t->clock);
	for (unsigned i = 0; i < t->n_fds; i++)
		close(t->fds[i]);
	t->n_fds = 0;
}

void mew_drain_done(struct mew_drain *d)
{
	for (size_t i = 0; i < d->n_threads; i++)
		close_thread(&d->threads[i]);
	free(d->threads);
	for (size_t i = 0; i < d->n_maps; i++)
		free(d->maps[i].path);
	free(d->maps);
	mew_collect_done(&d->collect);
	mew_breaks_done(&d->breaks);
	memset(d, 0, sizeof *d);
}

/* What the target says of a thread, checked. */
static int check_thread(const struct mew_drain *d, const struct mew_msg_thread *m, unsigned n_fds,
			struct mew_error *error)
{
	unsigned wanted = d->event->clock.size ? 3 : 2;

	if (n_fds == 0) {
		mew_event_explain(m->error, d->event->name, error);
		return m->error > 0 ? -m->error : -EPROTO;
	}
	if (n_fds != wanted)
		return mew_error_set(error, -EPROTO,
				     "the program sent %u events of a thread, not %u", n_fds,
				     wanted);
	if (m->kind != MEW_THREAD_LOOP && m->kind != MEW_THREAD_POOL)
		return mew_error_set(error, -EPROTO, "the program sent a thread of kind %u",
				     m->kind);
	if (m->kind == MEW_THREAD_LOOP && m->slot >= d->n_slots)
		return mew_error_set(error, -EPROTO, "the program sent thread %u of a case of %u",
				     m->slot, d->n_slots);
	return 0;
}

/* Of many threads the memory limit leaves less to each. Larger samples want more. */
static int open_rings(const struct mew_drain *d, struct mew_drain_thread *t,
		      struct mew_error *error)
{
	size_t bytes = SAMPLES_RING_BYTES;
	int err;

	while (bytes < SAMPLES_RING_BYTES_MAX &&
	       bytes < (size_t)SAMPLES_RING_SAMPLES * d->event->attr.sample_stack_user)
		bytes *= 2;
	err = mew_ring_open_fitting(&t->samples, t->fds[0], bytes, SAMPLES_RING_BYTES_MIN, error);

	if (!err)
		err = mew_ring_open_fitting(&t->notes, t->fds[1], NOTES_RING_BYTES,
					    NOTES_RING_BYTES_MIN, error);
	if (!err && t->n_fds > 2)
		err = mew_ring_open(&t->clock, t->fds[2], CLOCK_RING_BYTES, error);
	return err;
}

/* The thread as it was told before, without its events; NULL: it is new. */
static struct mew_drain_thread *reopened(struct mew_drain *d, const struct mew_msg_thread *m)
{
	for (size_t i = 0; i < d->n_threads; i++) {
		struct mew_drain_thread *t = &d->threads[i];

		if (t->tid != m->tid || t->kind != m->kind)
			continue;
		close_thread(t);
		t->read = t->clock_read = (struct mew_count){0};
		t->out_since_ns = 0;
		return t;
	}
	return NULL;
}

int mew_drain_add(struct mew_drain *d, const struct mew_msg_thread *m, const int *fds,
		  unsigned n_fds, struct mew_error *error)
{
	struct mew_drain_thread *t = NULL;
	int err = check_thread(d, m, n_fds, error);

	if (!err)
		t = reopened(d, m);
	if (!err && !t && MEW_ARRAY_PUSH(d->threads, d->n_threads, d->cap_threads))
		err = mew_error_set(error, -ENOMEM, "out of memory");
	if (err) {
		for (unsigned i = 0; i < n_fds; i++)
			close(fds[i]);
		return err;
	}
	if (!t) {
		t = &d->threads[d->n_threads++];
		memset(t, 0, sizeof *t);
		t->tid = m->tid;
		t->kind = m->kind;
		t->slot = m->kind == MEW_THREAD_LOOP ? m->slot : 0;
		d->n_loop += t->kind == MEW_THREAD_LOOP;
	}
	t->n_fds = n_fds;
	memcpy(t->fds, fds, n_fds * sizeof *fds);
	return open_rings(d, t, error);
}

size_t mew_drain_watch(const struct mew_drain *d, struct pollfd *fds, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_threads; i++)
		for (unsigned k = 0; k < d->threads[i].n_fds && n < max; k++)
			fds[n++] = (struct pollfd){.fd = d->threads[i].fds[k], .events = POLLIN};
	return n;
}

/* Of several loop threads each answers for its own pauses; the pool's threads then run through
 * them. */
static enum mew_window_place place(const struct mew_drain *d, const struct mew_drain_thread *t,
				   uint64_t time_ns)
{
	const struct mew_window_thread *w = &d->window->threads[t->slot];
	uint64_t begin, end;

	if (t->kind == MEW_THREAD_LOOP || d->n_loop == 1)
		return mew_window_place(d->window, t->slot, time_ns);
	begin = __atomic_load_n(&w->begin_ns, __ATOMIC_ACQUIRE);
	end = __atomic_load_n(&w->end_ns, __ATOMIC_ACQUIRE);
	return begin && time_ns >= begin && (!end || time_ns < end) ? MEW_WINDOW_INSIDE
								    : MEW_WINDOW_OUTSIDE;
}

/*
 * Of a stack that was left by its last rule: a loop's thread has to come from the benchmark. What
 * ends otherwise with CFI's consent is a stack that somebody made (makecontext); a return address
 * of 0 may be a wrong turn.
 */
static enum mew_collect_mark mark_of(const struct mew_drain *d, const struct mew_drain_thread *t)
{
	switch (d->walk.end) {
	case MEW_WALK_ROOT:
		return MEW_COLLECT_WHOLE;
	case MEW_WALK_OUTERMOST:
		return t->kind == MEW_THREAD_POOL ? MEW_COLLECT_WHOLE : MEW_COLLECT_COROUTINE;
	case MEW_WALK_ZERO:
		return t->kind == MEW_THREAD_POOL ? MEW_COLLECT_WHOLE : MEW_COLLECT_BROKEN;
	default:
		return MEW_COLLECT_BROKEN;
	}
}

static int count_sample(struct mew_drain *d, const struct mew_drain_thread *t, uint32_t node,
			int whole)
{
	if (node == UINT32_MAX ||
	    mew_collect_tick(&d->collect, (uint32_t)(t - d->threads), node, whole))
		return -ENOMEM;
	d->samples++;
	return 0;
}

static int take_without_registers(struct mew_drain *d, const struct mew_drain_thread *t,
				  const struct mew_record *r)
{
	if (r->n_kernel_pcs)
		return count_sample(d, t, mew_sample_kernel_alone(&d->collect, &d->breaks, r), 0);
	d->losses.bad_records++;
	return 0;
}

static int take_sample(struct mew_drain *d, struct mew_drain_thread *t, const struct mew_record *r)
{
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	enum mew_collect_mark mark;
	uint32_t node;

	if (mew_sample_start(r, &start, &stack))
		return take_without_registers(d, t, r);
	mew_walk(mew_modules_table(d->modules), d->table_bytes, &start, &stack, &d->root, &d->cache,
		 &d->walk);
	mark = mark_of(d, t);
	if (mew_sample_breaks(&d->breaks, d->modules, r, &d->walk, mark == MEW_COLLECT_BROKEN))
		return -ENOMEM;
	d->losses.cut += d->walk.end == MEW_WALK_CUT && r->stack_bytes == r->stack_asked;
	d->losses.coroutines += mark == MEW_COLLECT_COROUTINE;
	node = mew_collect_stack(&d->collect, mew_modules_epoch(d->modules, r->time_ns), &d->walk,
				 mark);
	if (node != UINT32_MAX)
		node = mew_sample_kernel(&d->collect, node, r);
	return count_sample(d, t, node, mark != MEW_COLLECT_BROKEN);
}

static int on_sample(struct mew_drain *d, struct mew_drain_thread *t, const struct mew_record *r)
{
	int is_clock = d->event->kind == MEW_EVENT_CLOCK;

	d->delivered++;
	switch (place(d, t, r->time_ns)) {
	case MEW_WINDOW_INSIDE:
		t->ticks += (uint64_t)is_clock;
		return take_sample(d, t, r);
	case MEW_WINDOW_FORGOTTEN:
		t->lost++;
		return 0;
	case MEW_WINDOW_PAUSED:
	case MEW_WINDOW_OUTSIDE:
		break;
	}
	return 0;
}

/* A tick of the companion clock: it tells user time only. */
static void on_clock(struct mew_drain *d, struct mew_drain_thread *t, const struct mew_record *r)
{
	t->ticks += place(d, t, r->time_ns) == MEW_WINDOW_INSIDE;
}

/* The thread was off the CPU in [from, to). */
static void off_cpu(struct mew_drain *d, struct mew_drain_thread *t, uint64_t from, uint64_t to)
{
	const struct mew_window_thread *w = &d->window->threads[t->slot];
	uint64_t begin = __atomic_load_n(&w->begin_ns, __ATOMIC_ACQUIRE);
	uint64_t end = __atomic_load_n(&w->end_ns, __ATOMIC_ACQUIRE);
	int forgotten = 0;

	if (t->kind != MEW_THREAD_LOOP || !begin)
		return;
	if (from < begin)
		from = begin;
	if (end && to > end)
		to = end;
	if (to <= from)
		return;
	t->off_ns += to - from;
	t->off_paused_ns += mew_window_paused(d->window, t->slot, from, to, &forgotten);
}

static int keep_map(struct mew_drain *d, const struct mew_record *r, struct mew_error *error)
{
	struct mew_drain_map map = {.mapped = mew_sample_mapped(r), .path = strdup(r->path)};

	if (!map.path || MEW_ARRAY_PUSH(d->maps, d->n_maps, d->cap_maps)) {
		free(map.path);
		return mew_error_set(error, -ENOMEM, "out of memory");
	}
	map.mapped.path = map.path;
	d->maps[d->n_maps++] = map;
	return 0;
}

static int on_note(struct mew_drain *d, struct mew_drain_thread *t, const struct mew_record *r,
		   struct mew_error *error)
{
	switch (r->type) {
	case MEW_RECORD_SWITCH:
		if (r->out)
			t->out_since_ns = r->time_ns;
		else if (t->out_since_ns) {
			if (d->sampling)
				off_cpu(d, t, t->out_since_ns, r->time_ns);
			t->out_since_ns = 0;
		}
		return 0;
	case MEW_RECORD_MMAP:
		if (!r->executable)
			return 0;
		return keep_map(d, r, error);
	case MEW_RECORD_FORK:
		/* of any round: a pool that the warm-up starts runs in the sampled ones as well */
		if (place(d, t, r->time_ns) == MEW_WINDOW_INSIDE) {
			if (r->pid == r->ppid)
				d->losses.threads_started++;
			else
				d->losses.children++;
		}
		return 0;
	case MEW_RECORD_LOST:
		d->losses.bad_records += r->n_lost;
		return 0;
	default:
		return 0;
	}
}

enum ring_kind { RING_SAMPLES, RING_NOTES, RING_CLOCK };

/* Up to until_ns; 0: all. */
static int drain_ring(struct mew_drain *d, struct mew_drain_thread *t, struct mew_ring *ring,
		      enum ring_kind kind, uint64_t until_ns, struct mew_error *error)
{
	const struct perf_event_attr *attr = kind == RING_NOTES   ? &d->event->dummy
					     : kind == RING_CLOCK ? &d->event->clock
								  : &d->event->attr;
	const struct perf_event_header *h;
	int bad = 0, err = 0;

	if (!ring->page)
		return 0;
	while (!err && (h = mew_ring_next(ring, &bad))) {
		struct mew_record r;

		if (mew_record_decode(attr, h, &r)) {
			d->losses.bad_records++;
			continue;
		}
		if (until_ns && r.time_ns >= until_ns) {
			mew_ring_unread(ring);
			break;
		}
		if (kind == RING_NOTES)
			err = on_note(d, t, &r, error);
		else if (r.type == MEW_RECORD_THROTTLE)
			d->losses.throttled += (uint64_t)r.on;
		else if (r.type == MEW_RECORD_SAMPLE && d->sampling && kind == RING_CLOCK)
			on_clock(d, t, &r);
		else if (r.type == MEW_RECORD_SAMPLE && d->sampling)
			err = on_sample(d, t, &r);
	}
	d->losses.bad_records += (uint64_t)bad;
	mew_ring_consume(ring);
	return err == -ENOMEM ? mew_error_set(error, err, "out of memory") : err;
}

static int drain_samples(struct mew_drain *d, uint64_t until_ns, struct mew_error *error)
{
	int err = 0;

	for (size_t i = 0; i < d->n_threads && !err; i++)
		err = drain_ring(d, &d->threads[i], &d->threads[i].samples, RING_SAMPLES, until_ns,
				 error);
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct mew_drain_map *x = a, *y = b;

	return (x->mapped.from_ns > y->mapped.from_ns) - (x->mapped.from_ns < y->mapped.from_ns);
}

/* What takes the place of other code must not lend its rules to the samples of before it. */
static int add_maps(struct mew_drain *d, struct mew_error *error)
{
	int err = 0;

	if (d->n_maps)
		qsort(d->maps, d->n_maps, sizeof *d->maps, by_time);
	for (size_t i = 0; i < d->n_maps; i++) {
		if (!err)
			err = drain_samples(d, d->maps[i].mapped.from_ns, error);
		if (!err)
			err = mew_modules_add(d->modules, &d->maps[i].mapped, error);
		/* What found no room breaks its stacks, and is counted there. */
		if (err == -ENOSPC) {
			d->losses.bad_records++;
			err = 0;
		}
		free(d->maps[i].path);
	}
	d->n_maps = 0;
	return err;
}

int mew_drain_all(struct mew_drain *d, struct mew_error *error)
{
	int err = 0;

	for (size_t i = 0; i < d->n_threads && !err; i++)
		err = drain_ring(d, &d->threads[i], &d->threads[i].notes, RING_NOTES, 0, error);
	if (!err)
		err = add_maps(d, error);
	if (!err)
		err = drain_samples(d, 0, error);
	for (size_t i = 0; i < d->n_threads && !err; i++)
		err = drain_ring(d, &d->threads[i], &d->threads[i].clock, RING_CLOCK, 0, error);
	return err;
}

int mew_drain_begin(struct mew_drain *d, int sampling, struct mew_error *error)
{
	int err = mew_drain_all(d, error);

	for (size_t i = 0; i < d->n_threads && !err; i++) {
		struct mew_drain_thread *t = &d->threads[i];

		t->ticks = t->off_ns = t->off_paused_ns = t->lost = 0;
		mew_ring_reset_fill(&t->samples);
		err = mew_count_read(&d->event->attr, t->fds[0], &t->read);
		if (!err && t->n_fds > 2)
			err = mew_count_read(&d->event->clock, t->fds[2], &t->clock_read);
		if (err)
			return mew_error_errno(error, err, "cannot read an event's count");
	}
	d->sampling = sampling;
	return err;
}

/* Samples that the kernel dropped in the round. Those of pauses are dropped on purpose: only when
 * the ring cannot have been full can they be told apart. */
static uint64_t really_lost(struct mew_drain *d, struct mew_drain_thread *t, uint64_t n_lost,
			    int output_paused)
{
	size_t record = d->event->attr.sample_stack_user + mew_record_rest_bytes(&d->event->attr);

	if (output_paused && !mew_ring_was_full(&t->samples, record))
		return 0;
	return n_lost;
}

/* The thread's loop less its pauses, as the target says: it may say anything. */
static double loop_s(const struct mew_window_thread *w)
{
	int64_t ns = (int64_t)(w->end_ns - w->begin_ns - w->paused_ns);

	return ns > 0 ? (double)ns / 1e9 : 0;
}

/* The CPU time that a sample of the round stands for: whole periods only give one. The time that
 * the event was enabled is that of its thread on the CPU, without the pauses that switch it off. */
static double weight_of(const struct mew_drain *d, const struct mew_count *event, uint64_t period)
{
	int is_clock = d->event->kind == MEW_EVENT_CLOCK;
	double cpu_ns = (double)(is_clock ? event->count : event->enabled_ns);
	uint64_t expected = event->count / period;

	if (expected)
		return cpu_ns / (double)expected / 1e9;
	return (is_clock ? (double)period : cpu_ns) / 1e9;
}

/* What of the clock's count was in the loop, outside pauses. */
static double count_s(const struct mew_drain_thread *t, const struct mew_window_thread *w,
		      double clock_s, enum mew_pause_mode mode)
{
	double on_cpu_s = loop_s(w) - ((double)t->off_ns - (double)t->off_paused_ns) / 1e9;

	if (mode != MEW_PAUSE_DISABLE)
		return clock_s - ((double)w->paused_ns - (double)t->off_paused_ns) / 1e9;
	/* It stands still in pauses, but for a part of the calls that switch it. */
	return w->paused_ns && on_cpu_s < clock_s ? on_cpu_s : clock_s;
}

static int end_thread(struct mew_drain *d, struct mew_drain_thread *t,
		      const struct mew_drain_round *of, struct mew_account *a)
{
	const struct mew_window_thread *w = &d->window->threads[t->slot];
	struct mew_count event, clock;
	struct mew_account_round round;
	uint64_t ticks_lost;
	int err;

	err = mew_count_since(&d->event->attr, t->fds[0], &t->read, &event);
	clock = event;
	if (!err && t->n_fds > 2)
		err = mew_count_since(&d->event->clock, t->fds[2], &t->clock_read, &clock);
	if (err)
		return err;
	mew_count_add(&d->total, &event);
	t->interrupts = event.count / of->period;
	d->expected += t->interrupts;
	t->lost += really_lost(d, t, event.n_lost, of->pause_mode == MEW_PAUSE_OUTPUT);
	d->losses.lost += t->lost;
	/* a sample of the clock is a tick of it, one of another event is not */
	ticks_lost = t->n_fds > 2 ? clock.n_lost : t->lost;
	if (d->event->kind != MEW_EVENT_OTHER)
		mew_collect_settle(&d->collect, (uint32_t)(t - d->threads),
				   weight_of(d, &event, of->period));
	if (t->kind != MEW_THREAD_LOOP)
		return 0;
	round = (struct mew_account_round){
		.wall_s = loop_s(w),
		.off_s = ((double)t->off_ns - (double)t->off_paused_ns) / 1e9,
		.count_s = count_s(t, w, (double)clock.count / 1e9, of->pause_mode),
		.clock_all_s = (double)clock.count / 1e9,
		.period_s = (double)of->tick_ns / 1e9,
		.ticks = t->ticks + ticks_lost,
	};
	mew_account_add(a, &round);
	return 0;
}

int mew_drain_end(struct mew_drain *d, const struct mew_drain_round *of, struct mew_account *a,
		  struct mew_error *error)
{
	int err = mew_drain_all(d, error);

	for (size_t i = 0; i < d->n_threads && !err; i++) {
		err = end_thread(d, &d->threads[i], of, a);
		if (err)
			mew_error_errno(error, err, "cannot read an event's count");
	}
	d->sampling = 0;
	return err;
}

void mew_drain_forget(struct mew_drain *d)
{
	struct mew_drain_losses kept = {.threads_started = d->losses.threads_started,
					.children = d->losses.children};

	mew_collect_forget(&d->collect);
	mew_breaks_done(&d->breaks);
	d->losses = kept;
	d->samples = 0;
	d->total = (struct mew_count){0};
	d->delivered = d->expected = 0;
}
