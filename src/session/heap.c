/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c: the heap engine: a case of a benchmark, or a whole program, under the malloc hook. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/window.h"
#include "profile/verdict.h"
#include "session/engine.h"
#include "session/heap_case.h"
#include "session/heap_doubt.h"

#define PROFILER "mew-heap"
#define ITERATIONS_DEFAULT 100

/* Process images with a hook in one case: a wrapper script's shell, execs of the started process.
 */
#define HOOKS_MAX 64

#define LOOK_NS 10000000

static int on_run(void *arg, struct mew_msg_run *run, int *ret_window_fd, struct mew_error *error)
{
	struct mew_heap_case *k = arg;
	struct mew_window *w;
	int err;

	err = mew_memory_open(&k->window, "mew-window", mew_window_bytes(k->n_threads), 0, error);
	if (err)
		return err;
	w = k->window.at;
	w->magic = MEW_WINDOW_MAGIC;
	w->n_threads = k->n_threads;
	run->window_bytes = (uint32_t)k->window.bytes;
	run->kind = MEW_RUN_HEAP;
	run->pause_mode = MEW_PAUSE_CLOCK;
	run->ioctl_mode = MEW_PAUSE_CLOCK;
	*ret_window_fd = k->window.fd;
	return 0;
}

static int on_maps(void *arg, pid_t pid, const struct mew_msg_maps *m, int maps_fd,
		   struct mew_error *error)
{
	(void)m;
	(void)error;
	((struct mew_heap_case *)arg)->pid = pid;
	close(maps_fd); /* the hook has sent its own */
	return 0;
}

static uint64_t warm_up(const struct mew_run_options *o, uint64_t iterations)
{
	if (o->warm_up != UINT64_MAX)
		return o->warm_up;
	return iterations / 10 ? iterations / 10 : 1;
}

static int on_hook(void *arg, int sock, pid_t pid, int started, int maps_fd,
		   struct mew_error *error)
{
	struct mew_heap_case *k = arg;
	int err;

	if (k->n_hooks == HOOKS_MAX || (k->whole && !started)) {
		struct mew_message_header bye = {MEW_MSG_BYE, sizeof bye};

		k->n_beyond += k->n_hooks == HOOKS_MAX && started;
		if (!started && pid != k->other) {
			k->n_others++;
			k->other = pid;
		}
		mew_message_send(sock, &bye, NULL, 0);
		close(sock);
		if (maps_fd >= 0)
			close(maps_fd);
		return 0;
	}
	err = mew_hook_open(&k->hooks[k->n_hooks++], sock, pid, maps_fd, k->whole, k->o->heap_flags,
			    error);
	return err;
}

/* What an allocator under another name, or of a stripped file, shows of itself: it asks for no
 * tables. */
static void look(struct mew_heap_case *k, int weigh)
{
	for (size_t i = 0; i < k->n_hooks; i++) {
		if (!mew_heap_counts(k, &k->hooks[i]))
			continue;
		mew_hook_look(&k->hooks[i]);
		if (weigh)
			mew_hook_weigh(&k->hooks[i]);
	}
}

/* A program may end at any time: it is looked at whenever it has run twice as long. */
static void look_at_whole(struct mew_heap_case *k)
{
	uint64_t now_ns = mew_monotonic_ns();

	if (!k->whole || !k->n_hooks || now_ns < k->look_ns)
		return;
	if (!k->begun_ns)
		k->begun_ns = now_ns;
	k->look_ns = now_ns + (now_ns - k->begun_ns) + LOOK_NS;
	look(k, 1);
}

static size_t on_watch(void *arg, struct pollfd *fds, size_t max)
{
	struct mew_heap_case *k = arg;
	size_t n = 0;

	for (size_t i = 0; i < k->n_hooks && n < max; i++)
		fds[n++] = (struct pollfd){.fd = k->hooks[i].sock, .events = POLLIN};
	return n;
}

static int on_ready(void *arg, const struct pollfd *fds, size_t n, struct mew_error *error)
{
	struct mew_heap_case *k = arg;

	(void)error;
	for (size_t i = 0; i < n && i < k->n_hooks; i++)
		if (fds[i].revents && k->hooks[i].sock == fds[i].fd && fds[i].fd >= 0)
			mew_hook_ready(&k->hooks[i]);
	look_at_whole(k);
	return 0;
}

static uint64_t allocations(const struct mew_heap_case *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_heap_counts(k, &k->hooks[i]))
			n += mew_segment_sum(mew_hook_segment(&k->hooks[i])).allocations;
	return n;
}

static int on_round(void *arg, const struct mew_msg_round *m, struct mew_msg_plan *ret,
		    struct mew_error *error)
{
	struct mew_heap_case *k = arg;
	uint64_t n = k->o->iterations ? k->o->iterations : ITERATIONS_DEFAULT;
	uint64_t n_warm = warm_up(k->o, n);

	(void)error;
	k->left_early |= m->left_early != 0;
	ret->pause_mode = MEW_PAUSE_CLOCK;
	if (m->kind == MEW_ROUND_TRACKED) {
		/* What is allocated in pauses is not counted. */
		k->has_paused |= m->n_pauses != 0;
		look(k, !k->has_paused);
		k->n_rounds++;
		k->iterations += m->iterations;
		if (!n_warm && k->planned == 1)
			k->first = allocations(k);
	}
	if (m->kind == MEW_ROUND_NONE && n_warm) {
		ret->kind = MEW_ROUND_WARM_UP;
		ret->iterations = n_warm;
	} else if (k->planned < n) {
		/* Without a warm-up the first iteration is a round of its own, to be told apart. */
		for (size_t i = 0; !k->planned && i < k->n_hooks; i++)
			mew_hook_weigh_first(&k->hooks[i]);
		ret->kind = MEW_ROUND_TRACKED;
		ret->iterations = n_warm || k->planned ? n - k->planned : 1;
		k->planned += ret->iterations;
	} else {
		ret->kind = MEW_ROUND_STOP;
	}
	return 0;
}

static struct mew_hook *highest(const struct mew_heap_case *k)
{
	struct mew_hook *best = NULL;

	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_heap_counts(k, &k->hooks[i]) &&
		    (!best || mew_hook_segment(&k->hooks[i])->peak_bytes >
				      mew_hook_segment(best)->peak_bytes))
			best = &k->hooks[i];
	return best;
}

/* Curve and sizes: of the image that has the peak, and of all. */
static int fill_shape(const struct mew_heap_case *k, const struct mew_hook *top,
		      struct mew_shape *shape)
{
	int64_t points[MEW_CURVE_SLICES];
	unsigned n = top ? mew_curve_read(&mew_hook_segment(top)->curve, points, &shape->width) : 0;
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++)
		err = mew_shape_point(shape, points[i]);
	for (unsigned class = 0; class < MEW_SIZES_CLASSES && !err; class ++) {
		uint64_t allocations = 0;

		for (size_t i = 0; i < k->n_hooks; i++)
			if (mew_heap_counts(k, &k->hooks[i]))
				allocations +=
					mew_sizes_of(&mew_hook_segment(&k->hooks[i])->sizes, class);
		if (allocations)
			err = mew_shape_size(shape, mew_sizes_most(class), allocations);
	}
	return err;
}

/* A whole program is one iteration. */
static void fill_iterations(const struct mew_heap_case *k, const struct mew_hook *top,
			    struct mew_heap_row *row)
{
	const struct mew_iterations *it = top ? &mew_hook_segment(top)->iterations : NULL;

	if (k->whole) {
		row->iteration_peak_min = row->iteration_peak_median = row->iteration_peak_max =
			(double)row->peak_bytes;
	} else if (it && it->n) {
		row->iteration_peak_min = (double)it->least;
		row->iteration_peak_median = (double)mew_iterations_median(it);
		row->iteration_peak_max = (double)it->most;
	}
}

/* What several images map adds up but for the peak. */
static void fill_mapped(const struct mew_segment *g, struct mew_heap_row *row)
{
	const struct mew_segment_mapped *m = &g->mapped;

	if (isnan(row->mapped_calls))
		row->mapped_calls = row->mapped_bytes = row->mapped_peak_bytes = 0;
	row->mapped_calls += (double)m->calls;
	row->mapped_bytes += (double)m->bytes;
	row->mapped_peak_bytes = fmax(row->mapped_peak_bytes, (double)m->peak_bytes);
	/* of the last image */
	row->mapped_held_bytes = (double)(g->closed ? m->held_bytes : m->live_bytes);
}

/* What the heap of an image held is gone with it: only the last one still holds something. */
static unsigned shown_of(const struct mew_heap_case *k, const struct mew_hook *hook,
			 const struct mew_hook *top)
{
	const struct mew_hook *last = NULL;

	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_heap_counts(k, &k->hooks[i]))
			last = &k->hooks[i];
	return (hook == top ? MEW_HOOK_PEAK : 0) | (hook == last ? MEW_HOOK_HELD : 0);
}

static int fill(struct mew_heap_case *k, struct mew_session *s, struct mew_pcase *c,
		struct mew_verdict_heap *facts, struct mew_error *error)
{
	struct mew_hook *top = highest(k);
	struct mew_heap_row *row = &c->heap;
	int err;

	row->profiler = s->engine;
	row->iterations = k->whole ? 1 : k->iterations;
	row->first_iteration_allocations = k->first;
	for (size_t i = 0; i < k->n_hooks; i++) {
		const struct mew_segment *g = mew_hook_segment(&k->hooks[i]);
		struct mew_segment_sum sum;

		if (!mew_heap_counts(k, &k->hooks[i]))
			continue;
		sum = mew_segment_sum(g);
		row->total_allocations += sum.allocations;
		row->allocated_bytes += sum.bytes;
		row->frees += sum.frees;
		row->temporary += sum.temporary;
		row->foreign_frees += sum.foreign_frees;
		row->first_iteration_allocations += g->first_iteration_allocations;
		row->lost += g->lost;
		if (k->o->heap_flags & MEW_HEAP_MMAP)
			fill_mapped(g, row);
		facts->n_mapped_lost += g->mapped.lost;
		row->hook_bytes = isnan(row->hook_bytes)
					  ? (double)mew_segment_own_bytes(g)
					  : fmax(row->hook_bytes, (double)mew_segment_own_bytes(g));
		row->leaked_bytes = sum.live_bytes; /* of the last image */
		facts->broken += sum.broken;
		facts->n_children += g->forked;
		facts->n_threads =
			g->n_threads > facts->n_threads ? (unsigned)g->n_threads : facts->n_threads;
		facts->ended_inside = !k->whole && !g->closed;
		err = mew_hook_values(&k->hooks[i], s, c, shown_of(k, &k->hooks[i], top),
				      &k->breaks, error);
		if (err)
			return err;
	}
	/* Those of vfork and posix_spawn are seen by their exec alone, those of fork twice. */
	if (facts->n_children < k->n_others)
		facts->n_children = k->n_others;
	row->peak_bytes = top ? mew_hook_segment(top)->peak_bytes : 0;
	fill_iterations(k, top, row);
	row->allocations_per_iteration =
		row->iterations ? (double)row->total_allocations / (double)row->iterations : NAN;
	err = fill_shape(k, top, &c->shape);
	if (!err)
		err = mew_case_summarise(s, c);
	return err ? mew_error_set(error, err, "out of memory") : 0;
}

/* What is worth knowing of a row that is right. NULL: nothing. */
static const char *note_of(const struct mew_heap_case *k, char *note, size_t size)
{
	uint64_t by_fp = k->breaks.n_stacks_by_fp, coroutines = k->breaks.n_coroutines;
	char text[MEW_HEAP_DOUBT_BYTES];
	const char *unseen = mew_heap_note(k, text);
	int n = 0;

	if (unseen)
		n = snprintf(note, size, "%s", unseen);
	if (coroutines)
		n += snprintf(note + n, size - (size_t)n, "%s%llu allocation%s in coroutines",
			      n ? "; " : "", (unsigned long long)coroutines,
			      coroutines == 1 ? "" : "s");
	if (by_fp)
		n += snprintf(note + n, size - (size_t)n, "%s%llu stack%s by frame pointers",
			      n ? "; " : "", (unsigned long long)by_fp, by_fp == 1 ? "" : "s");
	return n ? note : NULL;
}

static int report_case(struct mew_heap_case *k, struct mew_session *s, struct mew_pcase *c,
		       const struct mew_outcome *out, struct mew_error *error)
{
	struct mew_verdict_heap facts = {.left_early = k->left_early};
	struct mew_verdict v;
	char text[MEW_HEAP_DOUBT_BYTES], note[192];
	int err = fill(k, s, c, &facts, error);

	if (err)
		return err;
	facts.doubt = mew_heap_doubt(k, s, text);
	if (!facts.doubt && facts.ended_inside && k->n_threads > 1 && !k->n_rounds)
		facts.doubt = "iterations of the first thread alone are known";
	facts.note = note_of(k, note, sizeof note);
	mew_breaks_say(&k->breaks, k->o, c->key, 0);
	mew_verdict_heap(&c->heap, &facts, &v);
	err = mew_verdict_store(s, c, &v);
	if (!err)
		err = mew_run_take_counters(s, c, out, k->iterations, NAN);
	return err ? mew_error_set(error, err, "out of memory") : 0;
}

/* Those of a process that ended in its loop, the one in hand included, as far as the hook was told:
 * the first thread's. 0: it did not come so far. */
static uint64_t iterations_until_end(const struct mew_heap_case *k)
{
	const struct mew_hook *top = highest(k);

	return top && !mew_hook_segment(top)->closed && allocations(k)
		       ? mew_hook_segment(top)->iterations.n + 1
		       : 0;
}

static int finish_case(struct mew_heap_case *k, struct mew_session *s, struct mew_pcase *c,
		       const struct mew_outcome *out, struct mew_error *error)
{
	const char *why;
	int tracked;

	if (!k->whole && !k->iterations && c->result == MEW_RESULT_FAILED)
		k->iterations = iterations_until_end(k);
	tracked = k->whole || k->iterations;
	why = c->result != MEW_RESULT_SKIPPED ? mew_heap_unhooked(k) : NULL;
	if (why) {
		c->result = MEW_RESULT_FAILED;
		c->reason = why;
		return 0;
	}
	if (c->result == MEW_RESULT_OK && !tracked) {
		c->result = MEW_RESULT_FAILED;
		c->reason = "nothing was measured: the loop ended in its warm-up";
	}
	if (c->result == MEW_RESULT_SKIPPED || !tracked)
		return 0;
	return report_case(k, s, c, out, error);
}

static int run_case(struct mew_run *r, const struct mew_listed_case *item, struct mew_pcase *c,
		    struct mew_outcome *ret, struct mew_error *error)
{
	struct mew_heap_case k = {
		.o = r->o, .whole = !item, .n_threads = item ? item->n_threads : 1};
	struct mew_engine engine = {
		.arg = &k,
		.run = on_run,
		.maps = on_maps,
		.round = on_round,
		.hook = on_hook,
		.watch = on_watch,
		.ready = on_ready,
	};
	struct mew_dialogue_options d = {
		.run = r->o,
		.program = &r->program,
		.item = item,
		.preload = r->o->heap_library,
	};
	int err;

	k.hooks = calloc(HOOKS_MAX, sizeof *k.hooks);
	if (!k.hooks)
		return mew_error_set(error, -ENOMEM, "out of memory");
	err = mew_dialogue(&d, &engine, ret, error);
	if (!err)
		err = mew_run_take_outcome(r->session, c, ret);
	if (!err && ret->how != MEW_DIALOGUE_BENCHMARK)
		err = finish_case(&k, r->session, c, ret, error);
	mew_breaks_done(&k.breaks);
	for (size_t i = 0; i < k.n_hooks; i++)
		mew_hook_close(&k.hooks[i]);
	free(k.hooks);
	mew_memory_done(&k.window);
	return err;
}

/* What a row stands for must be told with it: the settings are a part of the name. */
static const char *engine_name(struct mew_session *s, uint32_t flags)
{
	return mew_session_printf(s, PROFILER "%s%s%s%s", flags & MEW_HEAP_USABLE ? ":usable" : "",
				  flags & MEW_HEAP_SELF ? ":thread=self" : "",
				  flags & MEW_HEAP_PAUSED ? ":include-paused" : "",
				  flags & MEW_HEAP_MMAP ? ":mmap" : "");
}

static int open_engine(struct mew_run *r, struct mew_error *error)
{
	const struct mew_program *p = &r->program;
	const char *why =
		p->is_static   ? "it is linked statically"
		: p->is_setuid ? "it runs as another user (set-uid)"
		: p->is_sanitized
			? "it was built with a sanitizer, which has an allocator of its own"
			: NULL;

	r->session->engine = engine_name(r->session, r->o->heap_flags);
	if (!r->session->engine)
		return mew_error_set(error, -ENOMEM, "out of memory");
	if (why && !p->is_script)
		return mew_error_set(error, -ENOTSUP, "cannot track the heap of '%s': %s",
				     r->o->argv[0], why);
	if (!r->o->heap_library || access(r->o->heap_library, R_OK) < 0)
		return mew_error_set(error, -ENOTSUP,
				     "cannot find libmew-heap.so: is the installation whole?");
	return 0;
}

static void close_engine(struct mew_run *r)
{
	(void)r;
}

const struct mew_run_engine mew_engine_heap = {
	.kind = MEW_SESSION_HEAP,
	.open = open_engine,
	.close = close_engine,
	.run_case = run_case,
};
