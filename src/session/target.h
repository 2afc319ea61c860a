/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h: one started process and the socket that it finds us by: a private directory, a
 * listening socket, the child with its environment, who connected. Knows no engine.
 */
#ifndef MEW_SESSION_TARGET_H
#define MEW_SESSION_TARGET_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "channel/message.h"
#include "session/keeper.h"

struct mew_target {
	char dir[96]; /* private, 0700, root's 0711; "" once removed */
	char socket[120];
	char link[120]; /* to a library whose own path LD_PRELOAD cannot hold */
	int listen_fd;
	int go_fd; /* closing it lets the child exec; -1: it already may */
	pid_t pid; /* of the program; its parent is the keeper; 0: none */
	struct mew_keeper keeper;
	int report_fd;    /* the exec's errno comes here */
	const char *path; /* borrowed from the options */
	int ended;        /* 1: status and usage hold what wait4 gave */
	int status;
	struct rusage usage;
};

struct mew_target_options {
	char *const *argv;
	const char *path;    /* of the executable; argv[0] stays what the user typed */
	const char *preload; /* library to preload, NULL: none */
	int wait;            /* 1: the child waits for mew_target_go before its exec */
};

/*
 * Make the directory and the socket and start the child: its standard output is our standard error
 * (ours carries results only), MEW_SOCKET_ENV is set, it dies with us, and so does what it starts.
 * 0, or negative errno: -ENOEXEC when the exec itself failed. mew_target_stop undoes everything,
 * also after a failure.
 */
int mew_target_start(struct mew_target *t, const struct mew_target_options *o,
		     struct mew_error *error);

/* Let a waiting child exec. 0, or why the exec failed. */
int mew_target_go(struct mew_target *t, struct mew_error *error);

/* Has the program ended? */
int mew_target_ended(struct mew_target *t);

/* To be polled for its end; -1 once that is known. */
int mew_target_end_fd(const struct mew_target *t);

/* Wait for the end up to timeout_ms (it has closed its sockets); 1 when it ended. */
int mew_target_wait(struct mew_target *t, int timeout_ms);

/*
 * Close and remove all. A program that still runs, or was killed, is ended with all its
 * descendants; what one that has ended by itself has started may go on. Takes a zeroed or
 * half-started target.
 */
void mew_target_stop(struct mew_target *t);

/* "killed by signal 11 (Segmentation fault)", "ended with status 3". Text in buf. */
const char *mew_target_describe(const struct mew_target *t, char *buf, size_t bytes);

/* Accept one connection and read its HELLO: the socket, or -errno (-EPROTO: another version;
 * -EAGAIN: nobody of ours). What root has started may have become another user since. *ret_pid is
 * by SO_PEERCRED; *ret_fd the descriptor that came along (a heap hook's maps) or -1. */
int mew_target_accept(struct mew_target *t, struct mew_msg_hello *ret, pid_t *ret_pid, int *ret_fd,
		      struct mew_error *error);

#endif
