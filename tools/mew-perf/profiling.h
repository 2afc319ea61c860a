/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiling.h: what cpu, mem and run share: find the program and the heap hook, open the recording,
 * run a session and store its cases as they finish, show it, settle the exit status.
 */
#ifndef MEW_PERF_PROFILING_H
#define MEW_PERF_PROFILING_H

#include "command.h"
#include "profile/profile.h"
#include "results.h"
#include "session/session.h"
#include "store/store.h"

struct mew_profiling {
	const struct mew_options *options;
	char **argv; /* program and arguments */
	struct mew_program program;
	struct mew_store *store;   /* NULL: nothing is recorded, or not yet */
	int is_new;                /* the store holds no case yet */
	char *heap_library;        /* path of libmew-heap.so; NULL: not looked for */
	struct mew_buffer command; /* program and arguments as a shell reads them */
};

/* 0, or the exit status (said). close takes a half-open one. */
int mew_profiling_open(struct mew_profiling *p, const struct mew_options *o, int argc, char **argv);
void mew_profiling_close(struct mew_profiling *p);

/*
 * Run one engine. *ret is the session, with the cases that finished, the caller's; NULL when it did
 * not begin. *ret_error is mew_session_*'s. The exit status; what went wrong has been said.
 */
int mew_profiling_run(struct mew_profiling *p, enum mew_session_kind kind, struct mew_session **ret,
		      int *ret_error);

/* Write the session's table to where the options say; then warnings and hints go to stderr. 0, or
 * the exit status. */
int mew_profiling_show(struct mew_profiling *p, const struct mew_session *s,
		       enum mew_results_where where);

/* cpu and mem are this. */
int mew_profiling_command(enum mew_session_kind kind, const struct mew_options *o, int argc,
			  char **argv);

/* Path of libmew-heap.so beside the running mew-perf: installed (also under another prefix), in the
 * build tree, or where configure put it. NULL: nowhere, or no memory. The caller's. */
char *mew_heap_library(void);

#endif
