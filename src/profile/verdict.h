/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h: what a row says about its own quality: a text of clauses joined by "; ", worst first,
 * whether the row is marked as doubtful, and options worth trying. Pure: numbers in, text out.
 */
#ifndef MEW_PROFILE_VERDICT_H
#define MEW_PROFILE_VERDICT_H

#include <stdint.h>

#include "profile/profile.h"

struct mew_verdict {
	char text[512]; /* "ok", "ok; pauses by clock", "noisy: +-6.3% over 30 iterations; ..." */
	char hint[128]; /* options of the same command: "-n 300"; "" when there is none */
	int doubtful;
};

/* What a CPU row does not hold itself. */
struct mew_verdict_cpu {
	double unexplained_s;  /* of mew_account, summed over the threads; NAN: cannot be told */
	double threads_wall_s; /* what unexplained_s is a share of: thread-time of the sampled loop
				*/
	double unticked_share; /* of the time on the CPU, what may have come after the last ticks of
				* threads and children: in no other figure; mew_account */
	double pauses_s; /* what the pauses of the sampled loop cost by themselves, over all threads
			  */
	uint64_t broken; /* samples whose stack did not reach its root */
	unsigned threads_not_sampled; /* that ran in the loop without an event of their own */
	unsigned n_children;          /* forked in the loop: not sampled */
	unsigned n_threads;           /* of the loop */
	uint64_t iterations_given;    /* -n; 0: not given */
	int left_early;
	int whole_program;    /* no loop: one iteration is all there is */
	int pause_by_clock;   /* the case pauses, and the events were not switched */
	uint32_t stack_bytes; /* of a sample: for the hint */
	const char *note;     /* something else worth a clause that is no doubt; NULL: nothing */
	const char *doubt;    /* something else that makes the row doubtful; NULL: nothing */
};

/* Reads row (all of it that is filled in) and facts. */
void mew_verdict_cpu(const struct mew_cpu_row *row, const struct mew_verdict_cpu *facts,
		     struct mew_verdict *ret);

struct mew_verdict_heap {
	uint64_t broken;        /* allocations whose stack did not reach its root */
	unsigned n_threads;     /* that allocated in the window */
	unsigned n_children;    /* forked in the window: not recorded */
	uint64_t n_mapped_lost; /* mappings that could not be remembered */
	int left_early;
	int ended_inside; /* the process ended in the loop: held bytes are what was live then */
	const char *note, *doubt; /* as above */
};

void mew_verdict_heap(const struct mew_heap_row *row, const struct mew_verdict_heap *facts,
		      struct mew_verdict *ret);

/* Puts v into the case (texts of the session's arena). 0 or -ENOMEM. */
int mew_verdict_store(struct mew_session *s, struct mew_pcase *c, const struct mew_verdict *v);

#endif
