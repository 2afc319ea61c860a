/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/hook.h"
#include "bench/root.h"
#include "bench/run.h"
#include "bench/sampler.h"
#include "bench/say.h"

#define EXIT_OWN_FAILURE 125

/* Room for any message, aligned for its fields. */
union message {
	uint64_t align;
	char bytes[MEW_MESSAGE_MAX_BYTES];
	struct mew_message_header header;
	struct mew_msg_run run;
	struct mew_msg_plan plan;
};

struct serve {
	int sock;
	union message message; /* the last one received */
	struct mew_msg_run ask;
	const struct mew_case *c;
	uint64_t pause_clock_ns, pause_ioctl_ns;
	enum mew_pause_mode mode; /* in force */
	bool calibrated;
	/* heap: the warm-up's first iteration is a round of its own, told to mew-perf as one */
	bool had_first;
	uint64_t n_warm_up;      /* iterations still to do */
	struct mew_round warmed; /* done */
	struct mew_round measured;
};

/* ---- messages ---- */

static void give_up(const char *what, int err)
{
	if (err == 0 || err == -EPIPE || err == -ECONNRESET)
		mew_say(NULL, "mew-perf is gone");
	else
		mew_say(NULL, "%s: %s", what, strerror(-err));
	_exit(EXIT_OWN_FAILURE);
}

static void send_message(struct serve *s, const void *message, const int *fds, unsigned n_fds)
{
	int err = mew_message_send(s->sock, message, fds, n_fds);

	if (err)
		give_up("cannot talk to mew-perf", err);
}

/* Receives the one type of message that may come, without descriptors. */
static void receive_plan(struct serve *s)
{
	int fds[MEW_MESSAGE_MAX_FDS], type;
	unsigned n_fds = 0;

	type = mew_message_receive(s->sock, &s->message, fds, &n_fds);
	if (type <= 0)
		give_up("cannot understand mew-perf", type);
	while (n_fds > 0)
		close(fds[--n_fds]);
	if (type != MEW_MSG_PLAN)
		give_up("mew-perf sent no plan", -EPROTO);
}

static void send_maps(struct serve *s)
{
	struct mew_msg_maps m = {{MEW_MSG_MAPS, sizeof(m)}};
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		give_up("cannot open '/proc/self/maps'", -errno);
	m.root_lo = mew_root_lo();
	m.root_hi = mew_root_hi();
	m.entry_pc = (uintptr_t)s->c->entry->run;
	send_message(s, &m, &fd, 1);
	close(fd);
}

static void send_round(struct serve *s, const struct mew_run *run, enum mew_round_kind kind,
		       const struct mew_round *round)
{
	struct mew_msg_round m = {{MEW_MSG_ROUND, sizeof(m)}};

	m.kind = kind;
	m.left_early = run->over;
	m.iterations = round->iterations;
	m.loop_ns = round->loop_ns;
	m.wall_ns = round->wall_ns;
	m.paused_ns = round->paused_ns;
	m.n_pauses = round->n_pauses;
	m.pause_clock_ns = s->pause_clock_ns;
	m.pause_ioctl_ns = s->pause_ioctl_ns;
	m.pause_mode = s->mode;
	m.pause_pair_ns = s->mode == MEW_PAUSE_CLOCK ? s->pause_clock_ns : s->pause_ioctl_ns;
	m.n_threads = run->n_threads;
	send_message(s, &m, NULL, 0);
}

/* ---- events ---- */

static void send_thread(void *arg, const struct mew_events *e, enum mew_thread_kind kind,
			unsigned slot, int err, uint32_t failed)
{
	struct mew_msg_thread m = {{MEW_MSG_THREAD, sizeof(m)}};

	m.tid = e->tid;
	m.kind = kind;
	m.slot = slot;
	m.n_fds = e->n;
	m.error = -err;
	m.failed = failed;
	send_message(arg, &m, e->fds, e->n);
}

/* ---- plans ---- */

static void plan_cpu(struct serve *s, struct mew_run *run)
{
	const struct mew_msg_plan *m = &s->message.plan;
	int err;

	if (m->kind != MEW_ROUND_PLAIN && m->kind != MEW_ROUND_SAMPLED)
		give_up("mew-perf planned a round that a CPU run has not", -EPROTO);
	if (m->pause_mode > MEW_PAUSE_AUTO)
		give_up("mew-perf planned an unknown pause", -EPROTO);
	run->plan.sampled = m->kind == MEW_ROUND_SAMPLED;
	s->mode = MEW_PAUSE_CLOCK;
	if (run->plan.sampled && m->pause_mode != MEW_PAUSE_CLOCK)
		s->mode = m->pause_mode == MEW_PAUSE_AUTO ? (enum mew_pause_mode)s->ask.ioctl_mode
							  : (enum mew_pause_mode)m->pause_mode;
	/* The kernel refused the ioctl: the clock alone does it, and ROUND says so. */
	if (s->pause_ioctl_ns == 0)
		s->mode = MEW_PAUSE_CLOCK;
	run->plan.pause_mode = s->mode;
	run->plan.pause_by = s->mode == MEW_PAUSE_CLOCK ? MEW_PAUSE_BY_CLOCK : MEW_PAUSE_BY_EVENTS;
	if (!run->plan.sampled)
		return;
	err = mew_sampler_period(run, m->period, m->clock_period_ns);
	if (err)
		mew_run_decide(run, MEW_CASE_FAILED, "cannot set the sampling period to %llu: %s",
			       (unsigned long long)m->period, strerror(-err));
}

static void plan_heap(struct serve *s, struct mew_run *run)
{
	const struct mew_msg_plan *m = &s->message.plan;

	if (m->kind != MEW_ROUND_WARM_UP && m->kind != MEW_ROUND_TRACKED)
		give_up("mew-perf planned a round that a heap run has not", -EPROTO);
	run->plan.pause_by = MEW_PAUSE_BY_GATE;
	run->plan.phase = m->kind == MEW_ROUND_TRACKED ? MEW_GATE_WINDOW : MEW_GATE_OUTSIDE;
	if (m->kind == MEW_ROUND_WARM_UP && !s->had_first) {
		run->plan.phase = MEW_GATE_FIRST;
		run->plan.iterations = 1;
		s->n_warm_up = m->iterations - 1;
	}
	s->had_first = true;
}

static void open_events(struct serve *s, struct mew_run *run)
{
	int err;

	send_maps(s);
	err = mew_sampler_open(run, s->ask.attrs, s->ask.n_events, send_thread, s);
	if (err)
		give_up("cannot list the program's threads", err);
}

/* An event's stack copy has the size that it was opened with. */
static void open_again(struct serve *s, struct mew_run *run, uint32_t stack_bytes)
{
	static const struct mew_round nothing;
	uint8_t *at = s->ask.attrs[0] + offsetof(struct perf_event_attr, sample_stack_user);

	if (s->ask.kind != MEW_RUN_CPU || s->ask.n_events == 0)
		give_up("mew-perf asked for events that this run has not", -EPROTO);
	memcpy(at, &stack_bytes, sizeof(stack_bytes));
	mew_sampler_close(run);
	open_events(s, run);
	send_round(s, run, MEW_ROUND_NONE, &nothing);
}

/* The next plan that is one of a round. */
static void receive_round(struct serve *s, struct mew_run *run)
{
	bool again = false;

	for (;;) {
		receive_plan(s);
		if (s->message.plan.stack_bytes == 0)
			break;
		open_again(s, run, s->message.plan.stack_bytes);
		again = true;
	}
	if (again)
		mew_sampler_watch(run);
}

static void follow_plan(struct serve *s, struct mew_run *run)
{
	const struct mew_msg_plan *m = &s->message.plan;

	receive_round(s, run);
	run->plan.kind = (enum mew_round_kind)m->kind;
	run->plan.iterations = m->iterations;
	if (run->over || m->kind == MEW_ROUND_STOP) {
		run->plan.kind = MEW_ROUND_STOP;
		return;
	}
	if (m->iterations == 0)
		give_up("mew-perf planned a round without iterations", -EPROTO);
	if (s->ask.kind == MEW_RUN_HEAP) {
		plan_heap(s, run);
		return;
	}
	if (!s->calibrated) {
		s->calibrated = true;
		mew_sampler_watch(run);
		mew_sampler_calibrate(run, (enum mew_pause_mode)s->ask.ioctl_mode,
				      &s->pause_clock_ns, &s->pause_ioctl_ns);
	}
	plan_cpu(s, run);
}

/* ---- rounds ---- */

static void first_round(struct mew_run *run, void *arg)
{
	static const struct mew_round nothing;
	struct serve *s = arg;

	if (s->ask.kind == MEW_RUN_HEAP && !mew_hook_open(run)) {
		run->plan.kind = MEW_ROUND_STOP;
		return;
	}
	if (s->ask.kind == MEW_RUN_CPU)
		open_events(s, run);
	else
		send_maps(s);
	send_round(s, run, MEW_ROUND_NONE, &nothing);
	follow_plan(s, run);
}

static void add_round(struct mew_round *sum, const struct mew_round *round)
{
	sum->iterations += round->iterations;
	sum->loop_ns += round->loop_ns;
	sum->wall_ns += round->wall_ns;
	sum->real_ns += round->real_ns;
	sum->paused_ns += round->paused_ns;
	sum->n_pauses += round->n_pauses;
}

static void next_round(struct mew_run *run, void *arg)
{
	struct serve *s = arg;
	struct mew_round round = run->round;
	enum mew_round_kind kind = run->plan.kind;

	if (kind == MEW_ROUND_WARM_UP) {
		add_round(&s->warmed, &round);
		if (s->n_warm_up > 0 && !run->over) {
			run->plan.iterations = s->n_warm_up;
			run->plan.phase = MEW_GATE_OUTSIDE;
			s->n_warm_up = 0;
			return;
		}
		round = s->warmed;
		memset(&s->warmed, 0, sizeof(s->warmed));
	} else if (kind != MEW_ROUND_PLAIN) {
		add_round(&s->measured, &round);
	}
	send_round(s, run, kind, &round);
	follow_plan(s, run);
}

/* ---- the case ---- */

static void send_counter(struct serve *s, const char *name, double value,
			 enum mew_counter_unit unit)
{
	struct mew_msg_counter m = {{MEW_MSG_COUNTER, sizeof(m)}};

	m.kind = unit;
	m.value = value;
	mew_label_set(m.name, sizeof(m.name), name);
	send_message(s, &m, NULL, 0);
}

/* Counted over all rounds, told as if over the measured ones alone. */
static void send_counters(struct serve *s, const struct mew_run *run)
{
	double iterations = (double)s->measured.iterations;
	double iterations_share = iterations / (double)run->total.iterations;
	double time_share = (double)s->measured.wall_ns / (double)run->total.wall_ns;
	unsigned i;

	for (i = 0; i < run->n_counters; i++) {
		double value = mew_run_counter(run, i);
		enum mew_counter_unit unit = MEW_COUNTER_AS_IS;

		if (run->counters[i].kind == MEW_PER_ITERATION) {
			unit = MEW_COUNTER_PER_ITERATION;
			value *= iterations_share;
		} else if (run->counters[i].kind == MEW_PER_SECOND) {
			unit = MEW_COUNTER_PER_SECOND;
			value *= time_share;
		}
		send_counter(s, run->counters[i].name, value, unit);
	}
	if (mew_run_bytes(run) > 0)
		send_counter(s, "bytes", mew_run_bytes(run) * iterations, MEW_COUNTER_PER_SECOND);
	if (mew_run_items(run) > 0)
		send_counter(s, "items", mew_run_items(run) * iterations, MEW_COUNTER_PER_SECOND);
}

static void send_end(struct serve *s, enum mew_case_status status, bool left_early,
		     const char *label, const char *text)
{
	struct mew_msg_end m = {{MEW_MSG_END, sizeof(m)}};

	m.status = status;
	m.left_early = left_early;
	mew_label_set(m.label, sizeof(m.label), label);
	mew_label_set(m.text, sizeof(m.text), text);
	send_message(s, &m, NULL, 0);
}

static void run_case(struct serve *s, struct mew_window *window)
{
	struct mew_runner runner = {first_round, next_round, s};
	struct mew_error error = {0};
	struct mew_run run;

	if (mew_run_init(&run, s->c, &runner, &error) != 0) {
		send_end(s, MEW_CASE_FAILED, false, s->c->label, error.text);
		return;
	}
	run.window = window;
	mew_run_execute(&run);
	if (run.status == MEW_CASE_OK && run.left_early && s->measured.iterations == 0)
		mew_run_decide(&run, MEW_CASE_FAILED,
			       "the loop was left before the measured iterations: nothing was "
			       "measured");
	if (s->measured.iterations > 0)
		send_counters(s, &run);
	send_end(s, run.status, run.left_early, run.label, run.text);
	mew_run_done(&run);
}

/* The window's memory, checked against what the case needs. NULL: not ours. */
static struct mew_window *map_window(const struct serve *s, int fd)
{
	unsigned n_threads = s->c->entry->n_threads > 1 ? s->c->entry->n_threads : 1;
	struct mew_window *w;
	struct stat st;

	if (s->ask.window_bytes < mew_window_bytes(n_threads) || fstat(fd, &st) != 0 ||
	    st.st_size < (off_t)s->ask.window_bytes)
		return NULL;
	w = mmap(NULL, s->ask.window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (w == MAP_FAILED)
		return NULL;
	if (w->magic == MEW_WINDOW_MAGIC && w->n_threads >= n_threads)
		return w;
	munmap(w, s->ask.window_bytes);
	return NULL;
}

static bool is_sane(const struct mew_msg_run *m)
{
	uint32_t i;

	if (m->kind != MEW_RUN_CPU && m->kind != MEW_RUN_HEAP)
		return false;
	if (m->n_events > MEW_EVENTS_MAX || (m->kind == MEW_RUN_HEAP && m->n_events != 0))
		return false;
	if (m->kind == MEW_RUN_CPU && m->ioctl_mode != MEW_PAUSE_OUTPUT &&
	    m->ioctl_mode != MEW_PAUSE_DISABLE)
		return false;
	for (i = 0; i < m->n_events; i++) {
		uint32_t size;

		memcpy(&size, m->attrs[i] + offsetof(struct perf_event_attr, size), sizeof(size));
		if (size > MEW_ATTR_BYTES)
			return false;
	}
	return true;
}

static int serve_run(struct serve *s, const struct mew_cases *cases, const int *fds, unsigned n_fds,
		     struct mew_error *error)
{
	struct mew_window *window;

	s->ask = s->message.run;
	if (n_fds != 1 || !is_sane(&s->ask))
		return mew_error_set(error, -EPROTO, "mew-perf asked for a run that cannot be");
	if (s->ask.case_index >= cases->n ||
	    strcmp(cases->cases[s->ask.case_index].key, s->ask.key) != 0) {
		send_end(s, MEW_CASE_FAILED, false, "",
			 "the program has other cases than it listed");
		return 0;
	}
	s->c = &cases->cases[s->ask.case_index];
	window = map_window(s, fds[0]);
	if (!window)
		return mew_error_set(error, -EPROTO, "mew-perf sent a window that does not fit");
	close(fds[0]);
	run_case(s, window);
	return 0;
}

static void serve_list(struct serve *s, const struct mew_cases *cases)
{
	struct mew_message_header end = {MEW_MSG_LIST_END, sizeof(end)};
	size_t i;

	for (i = 0; i < cases->n; i++) {
		const struct mew_case *c = &cases->cases[i];
		struct mew_msg_case m = {{MEW_MSG_CASE, sizeof(m)}};

		m.index = (uint32_t)i;
		m.n_threads = c->entry->n_threads > 1 ? c->entry->n_threads : 1;
		m.iterations = c->entry->iterations;
		memcpy(m.key, c->key, sizeof(m.key));
		memcpy(m.label, c->label, sizeof(m.label));
		send_message(s, &m, NULL, 0);
	}
	send_message(s, &end, NULL, 0);
}

int mew_serve(const char *path, const struct mew_cases *cases, struct mew_error *error)
{
	struct mew_msg_hello hello = {{MEW_MSG_HELLO, sizeof(hello)}};
	int fds[MEW_MESSAGE_MAX_FDS], type, err = 0;
	static struct serve s;
	unsigned n_fds = 0;

	s.sock = mew_message_connect(path);
	if (s.sock < 0)
		return mew_error_errno(error, s.sock, "cannot reach mew-perf at '%s'", path);
	hello.version = MEW_MESSAGE_VERSION;
	hello.role = MEW_ROLE_BENCH;
	hello.pid = getpid();
	hello.n_cases = (uint32_t)cases->n;
	send_message(&s, &hello, NULL, 0);
	type = mew_message_receive(s.sock, &s.message, fds, &n_fds);
	if (type <= 0)
		give_up("cannot understand mew-perf", type);
	if (type == MEW_MSG_BYE)
		_exit(EXIT_OWN_FAILURE); /* mew-perf starts it again, now that it is known */
	if (type == MEW_MSG_LIST)
		serve_list(&s, cases);
	else if (type == MEW_MSG_RUN)
		err = serve_run(&s, cases, fds, n_fds, error);
	else
		err = mew_error_set(error, -EPROTO, "mew-perf asked for neither a list nor a run");
	close(s.sock);
	return err;
}
