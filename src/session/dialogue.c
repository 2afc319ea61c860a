/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#include "session/dialogue.h"

/* How often the flag and the clock are looked at when nothing happens. */
#define TICK_MS 100
/* After END: tear-down of the process itself (atexit handlers, destructors). */
#define END_TIMEOUT_NS 10000000000u

struct dialogue {
	const struct mew_dialogue_options *o;
	const struct mew_engine *engine;
	struct mew_target target;
	int sock;          /* the benchmark's; -1 until its HELLO, -2 once it has closed it */
	pid_t pid;         /* of the benchmark */
	uint64_t ended_ns; /* END came then; 0: not yet */
	struct mew_outcome *out;
	struct pollfd fds[MEW_DIALOGUE_FDS + 3];
};

union any_message {
	struct mew_message_header header;
	struct mew_msg_maps maps;
	struct mew_msg_thread thread;
	struct mew_msg_round round;
	struct mew_msg_counter counter;
	struct mew_msg_end end;
	uint64_t align;
	char bytes[MEW_MESSAGE_MAX_BYTES];
};

static void finish(struct dialogue *d, enum mew_dialogue_how how, const char *reason)
{
	d->out->how = how;
	snprintf(d->out->reason, sizeof d->out->reason, "%s", reason);
}

static int send_run(struct dialogue *d, struct mew_error *error)
{
	struct mew_msg_run run = {.header = {MEW_MSG_RUN, sizeof run}};
	int fd = -1, err;

	run.case_index = d->o->item->index;
	memcpy(run.key, d->o->item->key, sizeof run.key);
	err = d->engine->run(d->engine->arg, &run, &fd, error);
	if (err)
		return err;
	err = mew_message_send(d->sock, &run, &fd, fd >= 0);
	return err ? mew_error_errno(error, err, "the program went away") : 0;
}

static int on_connection(struct dialogue *d, struct mew_error *error)
{
	struct mew_msg_hello hello;
	pid_t pid;
	int maps_fd, sock, err;

	sock = mew_target_accept(&d->target, &hello, &pid, &maps_fd, error);
	if (sock == -EAGAIN || sock == -EINTR || sock == -ECONNABORTED)
		return 0;
	if (sock < 0)
		return sock;
	if (hello.role == MEW_ROLE_HEAP) {
		if (d->engine->hook)
			return d->engine->hook(d->engine->arg, sock, pid, pid == d->target.pid,
					       maps_fd, error);
	} else if (!d->o->item) {
		struct mew_message_header bye = {MEW_MSG_BYE, sizeof bye};

		mew_message_send(sock, &bye, NULL, 0);
		finish(d, MEW_DIALOGUE_BENCHMARK, "");
	} else if (d->sock == -1) {
		if (maps_fd >= 0)
			close(maps_fd);
		d->sock = sock;
		d->pid = pid;
		err = send_run(d, error);
		return err;
	}
	/* a second benchmark in the same run, also when the first has ended its talk, or a hook
	 * without a heap engine */
	if (maps_fd >= 0)
		close(maps_fd);
	close(sock);
	return 0;
}

static int on_round(struct dialogue *d, const struct mew_msg_round *m, struct mew_error *error)
{
	struct mew_msg_plan plan = {.header = {MEW_MSG_PLAN, sizeof plan}};
	int err = d->engine->round(d->engine->arg, m, &plan, error);

	if (err)
		return err;
	if (m->left_early)
		plan.kind = MEW_ROUND_STOP;
	err = mew_message_send(d->sock, &plan, NULL, 0);
	if (err == -EPIPE || err == -ECONNRESET)
		return 0; /* its end is seen next */
	return err ? mew_error_errno(error, err, "cannot answer the program") : 0;
}

static int on_message(struct dialogue *d, struct mew_error *error)
{
	union any_message m;
	int fds[MEW_MESSAGE_MAX_FDS], type, err = 0;
	unsigned n_fds = 0, kept = 0;

	type = mew_message_receive(d->sock, &m, fds, &n_fds);
	if (type == -EAGAIN || type == -EINTR)
		return 0;
	if (type == 0 || type == -ECONNRESET || type == -EPIPE) {
		close(d->sock);
		d->sock = -2;
		return 0;
	}
	if (type == -EMFILE)
		return mew_error_errno(error, type, "cannot take the program's descriptors");
	if (type < 0)
		return mew_error_errno(error, type,
				       "the program sent something else than it should");
	switch (type) {
	case MEW_MSG_MAPS:
		if (n_fds != 1 || !d->engine->maps)
			goto wrong;
		kept = 1;
		err = d->engine->maps(d->engine->arg, d->pid, &m.maps, fds[0], error);
		break;
	case MEW_MSG_THREAD:
		if (n_fds != m.thread.n_fds || !d->engine->thread)
			goto wrong;
		kept = n_fds;
		err = d->engine->thread(d->engine->arg, &m.thread, fds, n_fds, error);
		break;
	case MEW_MSG_ROUND:
		err = on_round(d, &m.round, error);
		break;
	case MEW_MSG_COUNTER:
		if (d->out->n_counters < sizeof d->out->counters / sizeof *d->out->counters) {
			struct mew_dialogue_counter *c = &d->out->counters[d->out->n_counters++];

			memcpy(c->name, m.counter.name, sizeof c->name);
			c->value = m.counter.value;
			c->kind = m.counter.kind;
		}
		break;
	case MEW_MSG_END:
		d->ended_ns = mew_monotonic_ns();
		d->out->status = m.end.status;
		d->out->left_early = m.end.left_early != 0;
		memcpy(d->out->label, m.end.label, sizeof d->out->label);
		memcpy(d->out->reason, m.end.text, sizeof d->out->reason);
		d->out->how = MEW_DIALOGUE_ENDED;
		break;
	default:
		goto wrong;
	}
	for (unsigned i = kept; i < n_fds; i++)
		close(fds[i]);
	return err;
wrong:
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
	return mew_error_set(error, -EPROTO, "the program sent message %d out of turn", type);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* The process has ended: what that means for the case. */
static void on_death(struct dialogue *d)
{
	char text[128];

	if (!d->o->item) {
		finish(d, MEW_DIALOGUE_WHOLE, "");
	} else if (!d->ended_ns) {
		char reason[sizeof text + 96];
		int status = d->target.status;

		/* libmew's own failure: it says which, where stderr is still open. */
		snprintf(reason, sizeof reason, "%s before its end%s",
			 mew_target_describe(&d->target, text, sizeof text),
			 WIFEXITED(status) && WEXITSTATUS(status) == 125
				 ? ": libmew could not go on; it says why on stderr, if the "
				   "program closed no descriptor of others"
				 : "");
		finish(d, MEW_DIALOGUE_DIED,
		       d->sock == -1 ? "the program ended without running the case" : reason);
	}
}

static int stop_wanted(const struct mew_run_options *o)
{
	return o->interrupted && *o->interrupted;
}

/* Until the process has ended or something ended the case. */
static int converse(struct dialogue *d, struct mew_error *error)
{
	uint64_t begin = mew_monotonic_ns();
	const struct mew_run_options *o = d->o->run;
	int err;

	for (;;) {
		size_t n = 0, n_watch;
		int wait_ms = d->engine->wait_ms ? d->engine->wait_ms(d->engine->arg) : TICK_MS;
		int dead;

		d->fds[n++] =
			(struct pollfd){.fd = mew_target_end_fd(&d->target), .events = POLLIN};
		d->fds[n++] = (struct pollfd){.fd = d->target.listen_fd, .events = POLLIN};
		d->fds[n++] = (struct pollfd){.fd = d->sock < 0 ? -1 : d->sock, .events = POLLIN};
		n_watch = d->engine->watch
				  ? d->engine->watch(d->engine->arg, d->fds + n, MEW_DIALOGUE_FDS)
				  : 0;
		if (poll(d->fds, n + n_watch, wait_ms) < 0 && errno != EINTR)
			return mew_error_errno(error, -errno, "cannot wait for the program");
		if (stop_wanted(o)) {
			finish(d, MEW_DIALOGUE_INTERRUPTED, "interrupted");
			return 0;
		}
		if (o->timeout_s > 0 && (double)(mew_monotonic_ns() - begin) > o->timeout_s * 1e9) {
			finish(d, MEW_DIALOGUE_TIMEOUT, "time limit reached");
			return 0;
		}
		if (d->ended_ns && mew_monotonic_ns() - d->ended_ns > END_TIMEOUT_NS)
			return 0;
		/* looked at before the messages: what it sent before it died is still read */
		dead = mew_target_ended(&d->target);
		if (d->fds[1].revents && (err = on_connection(d, error)))
			return err;
		if (d->engine->ready &&
		    (err = d->engine->ready(d->engine->arg, d->fds + n, n_watch, error)))
			return err;
		if (d->out->how == MEW_DIALOGUE_BENCHMARK)
			return 0;
		while (d->sock >= 0) {
			struct pollfd p = {.fd = d->sock, .events = POLLIN};

			if (poll(&p, 1, 0) <= 0)
				break;
			err = on_message(d, error);
			if (err)
				return err;
		}
		if (dead) {
			on_death(d);
			return 0;
		}
	}
}

int mew_dialogue(const struct mew_dialogue_options *o, const struct mew_engine *engine,
		 struct mew_outcome *ret, struct mew_error *error)
{
	struct mew_target_options t = {
		.argv = o->run->argv,
		.path = o->program->path,
		.preload = o->preload,
		.wait = o->before_exec != NULL,
	};
	struct dialogue *d = calloc(1, sizeof *d);
	struct mew_error inner = {0};
	int err;

	if (!d)
		return mew_error_set(error, -ENOMEM, "out of memory");
	memset(ret, 0, sizeof *ret);
	d->o = o;
	d->engine = engine;
	d->out = ret;
	d->sock = -1;
	err = mew_target_start(&d->target, &t, error);
	if (!err && o->before_exec) {
		err = o->before_exec(engine->arg, d->target.pid, error);
		if (!err)
			err = mew_target_go(&d->target, error);
	}
	if (err)
		goto out;
	if (converse(d, &inner))
		finish(d, MEW_DIALOGUE_BROKEN, inner.text);
out:
	/* Not the other way round: a program that is stopped would say that we are gone. */
	mew_target_stop(&d->target);
	if (d->sock >= 0)
		close(d->sock);
	ret->wait_status = d->target.status;
	ret->user_s = seconds(&d->target.usage.ru_utime);
	ret->kernel_s = seconds(&d->target.usage.ru_stime);
	free(d);
	return err;
}
