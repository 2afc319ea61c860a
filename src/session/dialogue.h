/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialogue.h: mew-perf's side of one case's conversation (channel/message.h): start the process,
 * answer it until it ends, say how it ended. What the engines do with threads, rounds and heaps
 * they do in their own functions.
 */
#ifndef MEW_SESSION_DIALOGUE_H
#define MEW_SESSION_DIALOGUE_H

#include <poll.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "session/session.h"
#include "session/target.h"

/* Descriptors that an engine wants watched at most: rings of all threads, hooks of all processes.
 */
#define MEW_DIALOGUE_FDS 2048

/*
 * An engine's part. Functions return 0 or a negative errno with error set: then the case fails with
 * that text. Descriptors that are handed over (maps_fd, fds) become the engine's. A NULL function:
 * that message is a protocol error.
 */
struct mew_engine {
	void *arg;
	/* Fill run (kind, attrs, modes, window_bytes) and say which memfd goes along; -1: none yet
	 * possible. */
	int (*run)(void *arg, struct mew_msg_run *run, int *ret_window_fd, struct mew_error *error);
	/* pid: of the process that runs the case, by SO_PEERCRED */
	int (*maps)(void *arg, pid_t pid, const struct mew_msg_maps *m, int maps_fd,
		    struct mew_error *error);
	int (*thread)(void *arg, const struct mew_msg_thread *m, const int *fds, unsigned n_fds,
		      struct mew_error *error);
	int (*round)(void *arg, const struct mew_msg_round *m, struct mew_msg_plan *ret,
		     struct mew_error *error);
	/* A heap hook said hello; the socket is the engine's. started: pid is the process that we
	 * started. */
	int (*hook)(void *arg, int sock, pid_t pid, int started, int maps_fd,
		    struct mew_error *error);
	/* Descriptors to watch besides: fill at most max, return how many; then ready() after each
	 * poll that found one, or every wait_ms(), 100 when that is NULL. */
	size_t (*watch)(void *arg, struct pollfd *fds, size_t max);
	int (*wait_ms)(void *arg);
	int (*ready)(void *arg, const struct pollfd *fds, size_t n, struct mew_error *error);
};

enum mew_dialogue_how {
	MEW_DIALOGUE_ENDED, /* END came: outcome as the target says */
	MEW_DIALOGUE_DIED,  /* it ended without END: reason says how */
	MEW_DIALOGUE_TIMEOUT,
	MEW_DIALOGUE_INTERRUPTED, /* by the caller's flag */
	MEW_DIALOGUE_BROKEN,      /* protocol or engine error: reason says which */
	MEW_DIALOGUE_WHOLE, /* a program that is no benchmark has ended: target.status tells how */
	MEW_DIALOGUE_BENCHMARK, /* a program taken for no benchmark turned out to be one: it was
				   stopped before it ran anything */
};

struct mew_dialogue_counter {
	char name[MEW_LABEL_BYTES];
	double value;
	uint32_t kind;
};

struct mew_outcome {
	enum mew_dialogue_how how;
	enum mew_case_status status;
	int left_early;
	int wait_status; /* of the process, as waitpid gives it */
	double user_s,
		kernel_s; /* what the kernel charged the process and the children it waited for */
	char label[MEW_LABEL_BYTES];
	char reason[MEW_TEXT_BYTES];
	struct mew_dialogue_counter counters[64];
	size_t n_counters;
};

/* What to start and for which case. */
struct mew_dialogue_options {
	const struct mew_run_options *run;
	const struct mew_program *program;
	const char *preload;                /* NULL: none */
	const struct mew_listed_case *item; /* NULL: run the program whole */
	/* whole: called between fork and exec of the child, to open events on it. */
	int (*before_exec)(void *arg, pid_t pid, struct mew_error *error);
};

/* One process from start to end. 0 with *ret filled whatever became of the case; negative errno
 * (error set) when nothing could be started at all. */
int mew_dialogue(const struct mew_dialogue_options *o, const struct mew_engine *engine,
		 struct mew_outcome *ret, struct mew_error *error);

#endif
