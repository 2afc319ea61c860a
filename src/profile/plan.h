/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: the rounds of a CPU case: how many iterations, sampled or not, at which interval, and
 * when it is enough; and what the unsampled rounds say about time per iteration and slowdown. Pure:
 * facts of the last round in, the next round out. Knows no clock, no event and no process.
 *
 * Life: init, then next(NULL), then next(facts of the round that was run) until a round of kind
 * STOP; the result may be asked at any time.
 */
#ifndef MEW_PROFILE_PLAN_H
#define MEW_PROFILE_PLAN_H

#include <stdint.h>

#include "channel/message.h"

/* Pairs of a PLAIN and a SAMPLED round at most. */
#define MEW_PLAN_PAIRS 256

struct mew_plan_options {
	uint64_t iterations; /* PLAIN and SAMPLED ones of each thread, exactly; 0: adapt */
	double interval_s;   /* of the clock, exactly; 0: adapt */
	double start_s; /* when it adapts: from here, to four times as much; 0: from 100 us, to 10
			   ms */
	unsigned n_threads; /* in the loop, 1 or more */
	uint64_t seed;      /* of the jitter */
};

/* The round that has ended, as MEW_MSG_ROUND tells it, and its ticks. */
struct mew_plan_facts {
	enum mew_round_kind kind;
	uint64_t iterations; /* summed over the threads */
	uint64_t loop_ns;    /* thread-time: summed, pauses taken out */
	uint64_t wall_ns;    /* the longest thread, pauses taken out */
	uint64_t paused_ns;  /* summed */
	uint64_t ticks;      /* SAMPLED: all that interrupted the loop: samples in it and in its
				pauses */
	uint64_t samples;    /* SAMPLED: those in the loop, outside pauses */
	int left_early;
	int useless; /* SAMPLED: forget this round and those before it, if that can be afforded */
};

struct mew_plan_round {
	enum mew_round_kind kind; /* WARM_UP, PLAIN, SAMPLED or STOP */
	uint64_t iterations;      /* of each thread, 1 or more */
	uint64_t period_ns; /* SAMPLED: the interval, jittered by up to 10 %; so that it does not
			       run in step with the loop */
	int discard;        /* 1: forget what was sampled so far: the interval changed. At most
			       MEW_PLAN_DISCARDS times, never with options.iterations given */
};

#define MEW_PLAN_DISCARDS 4

struct mew_plan_result {
	double time_per_iteration_s; /* thread-time of PLAIN rounds / their iterations; NAN: none */
	double time_spread; /* half width of the 95 % interval of that, as a share; NAN: one round
			       or none */
	double slowdown;    /* median over the pairs of SAMPLED to PLAIN time per iteration; NAN: no
			       pair */
	double tick_cost_s; /* what a tick adds to the loop; NAN: not known */
	double interval_s;  /* nominal, of the last SAMPLED rounds */
	uint64_t sampled_iterations; /* summed over the threads, not discarded */
	uint64_t plain_iterations;
	unsigned n_pairs;
};

/* Sums over SAMPLED rounds, and what the same iterations take unsampled. */
struct mew_plan_sampled {
	double sampled_s, plain_s; /* thread-time */
	uint64_t iterations, ticks, samples;
};

struct mew_plan {
	struct mew_plan_options options;
	struct mew_plan_round round; /* the one that runs now */
	double interval_s, interval_max_s;
	uint64_t random;
	double iteration_s;         /* of a thread, pauses taken out; by the last round */
	double least_iteration_s;   /* of the warm-up: what else runs may have come into it */
	double elapsed_iteration_s; /* with the pauses */
	uint64_t warm_iterations;
	double warm_elapsed_s;
	double elapsed_s;         /* all rounds, with the pauses */
	double sampled_wall_s;    /* SAMPLED rounds, discarded ones too */
	uint64_t n_chunks, chunk; /* options.iterations in so many pairs; the one at hand */
	double plain_s;           /* thread-time of the PLAIN rounds */
	uint64_t plain_iterations;
	double plain[MEW_PLAN_PAIRS]; /* time per iteration of each PLAIN round */
	double ratio[MEW_PLAN_PAIRS]; /* SAMPLED to PLAIN of each pair since the last discard */
	unsigned n_plain, n_ratios, n_discards;
	struct mew_plan_sampled sampled;     /* since the last discard */
	struct mew_plan_sampled at_interval; /* since the interval changed */
};

void mew_plan_init(struct mew_plan *p, const struct mew_plan_options *options);

/* facts: NULL for the first round. After STOP only STOP follows. */
struct mew_plan_round mew_plan_next(struct mew_plan *p, const struct mew_plan_facts *facts);

struct mew_plan_result mew_plan_result(const struct mew_plan *p);

#endif
