/* SPDX-License-Identifier: Apache-2.0 */
/* heap_case.h: what the heap engine knows of the case that runs. */
#ifndef MEW_SESSION_HEAP_CASE_H
#define MEW_SESSION_HEAP_CASE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/breaks.h"
#include "session/hook.h"
#include "session/memory.h"
#include "session/session.h"

struct mew_heap_case {
	const struct mew_run_options *o;
	int whole;
	unsigned n_threads; /* of the loop */
	struct mew_breaks breaks;
	struct mew_memory window;
	struct mew_hook *hooks;
	size_t n_hooks;
	pid_t pid;           /* that runs the case; 0: not known yet */
	uint64_t iterations; /* tracked, over all threads */
	uint64_t planned;    /* tracked, of each thread */
	uint64_t first;      /* allocations of the first iteration, when that is tracked too */
	unsigned n_rounds;   /* tracked, that have ended */
	int left_early, has_paused;
	unsigned n_beyond; /* images that found no room: not recorded */
	unsigned n_others; /* processes with a hook that are not the program's: its children */
	pid_t other;       /* the last of them: it may exec again */
	uint64_t begun_ns, look_ns; /* a whole program: the first hook, and the next look */
};

/* 1: the image counts, as one of the process that ran the case. */
static inline int mew_heap_counts(const struct mew_heap_case *k, const struct mew_hook *h)
{
	return h->segment.at && (k->whole || h->pid == k->pid);
}

#endif
