/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: a session from its program's name to its last case: list, filter, repeat, one case after
 * the other. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/text.h"
#include "channel/window.h"
#include "profile/filter.h"
#include "session/engine.h"
#include "session/lack.h"

/* Cases that a program may list; more is no list but noise. */
#define CASES_MAX 100000
#define LIST_TIMEOUT_S 60

void mew_run_note(const struct mew_run_options *o, char kind, const char *format, ...)
{
	char line[1024];
	va_list ap;

	if (!o->note)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	o->note(o->arg, kind, line);
}

/* ---- listing ---- */

struct listing {
	struct mew_listed_case *cases;
	size_t n, cap;
};

static int read_list(int sock, struct listing *l, struct mew_error *error)
{
	union {
		struct mew_message_header header;
		struct mew_msg_case item;
		char bytes[MEW_MESSAGE_MAX_BYTES];
	} m;
	int fds[MEW_MESSAGE_MAX_FDS], type;
	unsigned n_fds = 0;

	for (;;) {
		struct pollfd p = {.fd = sock, .events = POLLIN};
		struct mew_listed_case *c;
		int n_ready;

		n_ready = poll(&p, 1, LIST_TIMEOUT_S * 1000);
		if (n_ready < 0)
			continue;
		if (!n_ready)
			return mew_error_set(error, -ETIMEDOUT,
					     "the program does not list its cases");
		type = mew_message_receive(sock, &m, fds, &n_fds);
		for (unsigned i = 0; i < n_fds; i++)
			close(fds[i]);
		if (type == -EINTR)
			continue;
		if (type == MEW_MSG_LIST_END)
			return 0;
		if (type != MEW_MSG_CASE || l->n == CASES_MAX || !m.item.key[0])
			return mew_error_set(error, -EPROTO, "the program did not list its cases");
		if (m.item.n_threads > MEW_WINDOW_THREADS)
			return mew_error_set(error, -EPROTO,
					     "the program lists a case of %u threads: %u at most",
					     m.item.n_threads, MEW_WINDOW_THREADS);
		if (MEW_ARRAY_PUSH(l->cases, l->n, l->cap))
			return mew_error_set(error, -ENOMEM, "out of memory");
		c = &l->cases[l->n++];
		c->index = m.item.index;
		c->n_threads = m.item.n_threads ? m.item.n_threads : 1;
		memcpy(c->key, m.item.key, sizeof c->key);
		memcpy(c->label, m.item.label, sizeof c->label);
	}
}

/* Wait until somebody connects or the process ends without. */
static int wait_hello(struct mew_target *t, struct mew_error *error)
{
	uint64_t begin = mew_monotonic_ns();

	for (;;) {
		struct pollfd p[2] = {{.fd = t->listen_fd, .events = POLLIN},
				      {.fd = mew_target_end_fd(t), .events = POLLIN}};
		char text[128];

		if (poll(p, 2, 100) < 0 && errno != EINTR)
			return mew_error_errno(error, -errno, "cannot wait for the program");
		if (p[0].revents)
			return 0;
		if (mew_target_ended(t))
			return mew_error_set(error, -EPROTO,
					     "the program did not list its cases: %s",
					     mew_target_describe(t, text, sizeof text));
		if ((double)(mew_monotonic_ns() - begin) > LIST_TIMEOUT_S * 1e9)
			return mew_error_set(error, -ETIMEDOUT,
					     "the program does not list its cases");
	}
}

static int list_program(const struct mew_program *p, char *const *argv, struct listing *l,
			struct mew_error *error)
{
	struct mew_target_options o = {.argv = argv, .path = p->path};
	struct mew_message_header ask = {MEW_MSG_LIST, sizeof ask};
	struct mew_msg_hello hello;
	struct mew_target t;
	int sock = -1, maps_fd = -1, err;
	pid_t pid;

	err = mew_target_start(&t, &o, error);
	while (!err) {
		struct mew_message_header bye = {MEW_MSG_BYE, sizeof bye};

		err = wait_hello(&t, error);
		if (!err) {
			sock = mew_target_accept(&t, &hello, &pid, &maps_fd, error);
			if (sock == -EAGAIN)
				continue;
			err = sock < 0 ? sock : 0;
		}
		if (err || hello.role != MEW_ROLE_HEAP)
			break;
		/* a hook that somebody else preloads: of a mew-perf that this one runs under */
		mew_message_send(sock, &bye, NULL, 0);
		close(sock);
		if (maps_fd >= 0)
			close(maps_fd);
		sock = maps_fd = -1;
	}
	if (!err && hello.role != MEW_ROLE_BENCH)
		err = mew_error_set(error, -EPROTO, "the program is no benchmark of libmew");
	if (!err) {
		err = mew_message_send(sock, &ask, NULL, 0);
		if (err)
			mew_error_errno(error, err, "the program went away");
	}
	if (!err)
		err = read_list(sock, l, error);
	if (!err)
		mew_target_wait(&t, 1000);
	if (sock >= 0)
		close(sock);
	if (maps_fd >= 0)
		close(maps_fd);
	mew_target_stop(&t);
	return err;
}

int mew_session_list(char *const *argv, struct mew_listed_case **ret, size_t *ret_n,
		     struct mew_error *error)
{
	struct mew_program p;
	struct listing l = {0};
	int err = mew_program_inspect(argv[0], &p, error);

	if (err)
		return err;
	if (p.kind == MEW_PROGRAM_BENCHMARK)
		err = list_program(&p, argv, &l, error);
	else
		err = mew_error_set(error, -EPROTO, "'%s' is no benchmark of libmew", argv[0]);
	mew_program_done(&p);
	if (err) {
		free(l.cases);
		return err;
	}
	*ret = l.cases;
	*ret_n = l.n;
	return 0;
}

/* ---- filters ---- */

static int no_match(const struct listing *l, struct mew_error *error)
{
	struct mew_buffer b;

	mew_buffer_init(&b);
	mew_buffer_puts(&b, "no case matches; there are:");
	for (size_t i = 0; i < l->n; i++)
		mew_buffer_printf(&b, " %s", l->cases[i].key);
	mew_error_set(error, -ENOENT, "%s", b.data);
	mew_buffer_done(&b);
	return -ENOENT;
}

static int filter(const struct mew_run_options *o, struct listing *l, struct mew_error *error)
{
	struct mew_error why = {0};
	struct mew_filter *f = mew_filter_new(o->filters, o->n_filters, &why);
	struct mew_listed_case *kept = NULL;
	size_t n = 0;
	int err = 0;

	if (!f)
		return mew_error_set(error, why.code, "%s", why.text);
	kept = calloc(l->n + 1, sizeof *kept);
	for (size_t i = 0; kept && i < l->n; i++)
		if (mew_filter_chooses(f, l->cases[i].key, l->cases[i].label))
			kept[n++] = l->cases[i];
	if (!kept)
		err = mew_error_set(error, -ENOMEM, "out of memory");
	else if (!n)
		err = no_match(l, error);
	if (!err) {
		memcpy(l->cases, kept, n * sizeof *kept);
		l->n = n;
	}
	free(kept);
	mew_filter_free(f);
	return err;
}

/* ---- the session's head ---- */

/* Arguments as a shell would want them. */
static const char *quote_arguments(struct mew_session *s, char *const *argv)
{
	struct mew_buffer b;
	const char *text;

	mew_buffer_init(&b);
	for (size_t i = 1; argv[i]; i++) {
		if (i > 1)
			mew_buffer_putc(&b, ' ');
		mew_text_quote(&b, argv[i]);
	}
	text = b.error ? NULL : mew_session_text(s, b.data);
	mew_buffer_done(&b);
	return text;
}

static void cpu_model(char *ret, size_t bytes)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(ret, bytes, "unknown CPU");
	while (f && fgets(line, sizeof line, f)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		snprintf(ret, bytes, "%s", value + 2);
		break;
	}
	if (f)
		fclose(f);
}

static int fill_head(struct mew_run *r, struct mew_error *error)
{
	struct mew_session *s = r->session;
	struct timespec now;
	struct utsname u;
	char model[128];

	clock_gettime(CLOCK_REALTIME, &now);
	s->started_unix_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	uname(&u);
	cpu_model(model, sizeof model);
	s->program = mew_session_text(s, r->program.path);
	s->build_id = mew_session_text(s, r->program.build_id);
	s->arguments = quote_arguments(s, r->o->argv);
	s->tag = mew_session_text(s, r->o->tag ? r->o->tag : "");
	s->machine = mew_session_printf(s, "%s %s, %s", u.sysname, u.release, model);
	s->version = PACKAGE_VERSION;
	if (!s->program || !s->build_id || !s->arguments || !s->tag || !s->machine)
		return mew_error_set(error, -ENOMEM, "out of memory");
	return 0;
}

/* ---- cases ---- */

int mew_run_take_outcome(struct mew_session *s, struct mew_pcase *c, const struct mew_outcome *out)
{
	char text[160];

	if (out->label[0])
		c->label = mew_session_text(s, out->label);
	c->result = MEW_RESULT_OK;
	c->reason = "";
	c->verdict = "";
	c->hint = "";
	switch (out->how) {
	case MEW_DIALOGUE_ENDED:
		if (out->status != MEW_CASE_OK) {
			c->result = out->status == MEW_CASE_SKIPPED ? MEW_RESULT_SKIPPED
								    : MEW_RESULT_FAILED;
			c->reason = mew_session_text(s, out->reason);
		}
		break;
	case MEW_DIALOGUE_WHOLE:
		if (out->wait_status) {
			struct mew_target t = {.status = out->wait_status};

			c->result = MEW_RESULT_FAILED;
			c->reason = mew_session_text(s, mew_target_describe(&t, text, sizeof text));
		}
		break;
	default:
		c->result = MEW_RESULT_FAILED;
		c->reason = mew_session_text(s, out->reason);
		break;
	}
	return c->label && c->reason ? 0 : -ENOMEM;
}

int mew_run_take_counters(struct mew_session *s, struct mew_pcase *c, const struct mew_outcome *out,
			  uint64_t iterations, double iterations_per_s)
{
	for (size_t i = 0; i < out->n_counters; i++) {
		const struct mew_dialogue_counter *from = &out->counters[i];
		double value = from->value;

		if (from->kind != MEW_COUNTER_AS_IS)
			value /= (double)iterations;
		if (from->kind == MEW_COUNTER_PER_SECOND)
			value *= iterations_per_s;
		if (!isnan(value) && mew_case_counter(s, c, from->name, value, (int)from->kind))
			return -ENOMEM;
	}
	return 0;
}

static int begin_once(struct mew_run *r, struct mew_error *error)
{
	if (r->begun || !r->o->begin)
		return 0;
	r->begun = 1;
	return r->o->begin(r->o->arg, r->session, error);
}

/* A program run whole is named as the person typed it: `sh`, whatever that links to. */
static const char *whole_key(const struct mew_run *r)
{
	const char *word = r->o->argv[0], *base = strrchr(word, '/');

	return base ? base + 1 : word;
}

/* 1 in *ret_again: a program run whole turned out to be a benchmark. */
static int run_one(struct mew_run *r, const struct mew_run_engine *e,
		   const struct mew_listed_case *item, size_t at, size_t n, int *ret_again,
		   struct mew_error *error)
{
	const char *key = item ? item->key : whole_key(r);
	struct mew_outcome *out = calloc(1, sizeof *out);
	struct mew_pcase *c;
	int err;

	if (!out)
		return mew_error_set(error, -ENOMEM, "out of memory");
	c = mew_session_case(r->session, key, item ? item->label : "");
	if (!c) {
		free(out);
		return mew_error_set(error, -ENOMEM, "out of memory");
	}
	c->n_threads = item ? item->n_threads : 1;
	if (r->o->starting)
		r->o->starting(r->o->arg, key, c->label, at, n);
	err = e->run_case(r, item, c, out, error);
	if (err || out->how == MEW_DIALOGUE_BENCHMARK || out->how == MEW_DIALOGUE_INTERRUPTED) {
		/* nothing to show; a program that is stopped while it runs whole has its figures up
		 * to there */
		if (err || item || out->how == MEW_DIALOGUE_BENCHMARK)
			mew_session_drop_case(r->session);
		*ret_again = !err && out->how == MEW_DIALOGUE_BENCHMARK;
	}
	if (!err && !*ret_again && !item && !r->whole_chosen) {
		mew_session_drop_case(r->session);
		err = mew_error_set(error, -ENOENT,
				    "no case matches: '%s' is no benchmark of libmew and runs "
				    "whole, as one case of that name",
				    key);
	}
	if (!err && !*ret_again && (out->how != MEW_DIALOGUE_INTERRUPTED || !item)) {
		err = begin_once(r, error);
		if (!err && r->o->finished)
			err = r->o->finished(r->o->arg, r->session, c, error);
	}
	if (!err && out->how == MEW_DIALOGUE_INTERRUPTED)
		err = mew_error_set(error, -EINTR, "interrupted");
	free(out);
	return err;
}

static int run_cases(struct mew_run *r, const struct mew_run_engine *e, const struct listing *l,
		     struct mew_error *error)
{
	unsigned reps = r->o->repetitions ? r->o->repetitions : 1;
	int again = 0, err = 0;

	for (unsigned rep = 0; rep < reps; rep++)
		for (size_t i = 0; i < l->n && !err; i++)
			err = run_one(r, e, &l->cases[i], rep * l->n + i, reps * l->n, &again,
				      error);
	return err;
}

static int run_benchmark(struct mew_run *r, const struct mew_run_engine *e, struct mew_error *error)
{
	struct listing l = {0};
	int err = list_program(&r->program, r->o->argv, &l, error);

	if (!err)
		err = filter(r->o, &l, error);
	if (!err)
		err = run_cases(r, e, &l, error);
	free(l.cases);
	return err;
}

/* Do the filters choose it? One that they do not is run all the same: it may be what starts a
 * benchmark, a shell script or env(1). */
static int choose_whole(struct mew_run *r, struct mew_error *error)
{
	struct mew_error why = {0};
	struct mew_filter *f = mew_filter_new(r->o->filters, r->o->n_filters, &why);

	if (!f)
		return mew_error_set(error, why.code, "%s", why.text);
	r->whole_chosen = mew_filter_chooses(f, whole_key(r), "");
	mew_filter_free(f);
	return 0;
}

static int run_whole(struct mew_run *r, const struct mew_run_engine *e, int *ret_again,
		     struct mew_error *error)
{
	unsigned reps = r->o->repetitions ? r->o->repetitions : 1;
	int err = choose_whole(r, error);

	r->session->whole_program = 1;
	for (unsigned rep = 0; rep < reps && !err && !*ret_again; rep++)
		err = run_one(r, e, NULL, rep, reps, ret_again, error);
	return err;
}

static int run(const struct mew_run_options *o, const struct mew_run_engine *e,
	       struct mew_session **ret, struct mew_error *error)
{
	struct mew_run r = {.o = o};
	int again = 0, err;

	*ret = NULL;
	err = mew_program_inspect(o->argv[0], &r.program, error);
	if (err)
		return err;
	r.session = mew_session_new(e->kind);
	err = r.session ? fill_head(&r, error) : mew_error_set(error, -ENOMEM, "out of memory");
	if (!err)
		err = e->open(&r, error);
	if (!err && r.program.kind == MEW_PROGRAM_OTHER)
		err = run_whole(&r, e, &again, error);
	if (!err && (r.program.kind == MEW_PROGRAM_BENCHMARK || again)) {
		r.session->whole_program = 0;
		err = run_benchmark(&r, e, error);
	}
	if (e->describe && r.session && r.session->n_cases)
		e->describe(&r);
	mew_lacks_note(o);
	e->close(&r);
	mew_program_done(&r.program);
	if (err && r.session && !r.session->n_cases) {
		mew_session_free(r.session);
		r.session = NULL;
	}
	*ret = r.session;
	return err;
}

int mew_session_cpu(const struct mew_run_options *o, struct mew_session **ret,
		    struct mew_error *error)
{
	return run(o, &mew_engine_cpu, ret, error);
}

int mew_session_heap(const struct mew_run_options *o, struct mew_session **ret,
		     struct mew_error *error)
{
	return run(o, &mew_engine_heap, ret, error);
}
