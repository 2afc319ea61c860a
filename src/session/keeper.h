/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h: the process between mew-perf and a target. It is the target's parent and adopts what
 * the target leaves behind, so that a time limit, Ctrl-C or the death of mew-perf itself, SIGKILL
 * included, ends all of it and leaves no file. Knows nothing of what the target runs.
 */
#ifndef MEW_SESSION_KEEPER_H
#define MEW_SESSION_KEEPER_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/* How the target ended, as wait4(2) gives it. */
struct mew_keeper_report {
	int status;
	struct rusage usage;
};

struct mew_keeper {
	pid_t pid;      /* 0: none */
	int control_fd; /* closed: all that runs is to be ended; -1: it is */
	int report_fd;  /* readable once the target has ended; -1: closed */
};

/* Run in the target's process, with no signal blocked: must not return. parent is the keeper: once
 * getppid() is another, the keeper is dead. */
typedef void (*mew_keeper_run_fn)(void *arg, pid_t parent);

/*
 * Start a keeper, and by it a process that calls run. dir, an absolute path, is removed in the end
 * with the files that are named, a NULL-terminated list (paths, borrowed by the call alone). The
 * process's pid, or negative errno.
 */
pid_t mew_keeper_start(struct mew_keeper *k, mew_keeper_run_fn run, void *arg, const char *dir,
		       const char *const *files, struct mew_error *error);

/* 1 and *ret when the target has ended, 0 when it has not. Does not wait. A keeper that was killed
 * has taken the target along: SIGKILL. */
int mew_keeper_ended(struct mew_keeper *k, struct mew_keeper_report *ret);

/* 1: the process descends from the target, or is it. */
int mew_keeper_owns(const struct mew_keeper *k, pid_t pid);

/*
 * The end of both. release 1: what the target has started may go on without it; 0: all processes
 * that descend from it are killed first, itself included. Waits; then mew_keeper_ended tells. Takes
 * one that was never started.
 */
void mew_keeper_stop(struct mew_keeper *k, int release);

/* Close and forget it. */
void mew_keeper_done(struct mew_keeper *k);

#endif
