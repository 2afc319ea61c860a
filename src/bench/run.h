/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h: one run of one case: its threads, which meet between rounds, and what it counted. Knows
 * nothing of who decides the rounds: a runner does (plain.h, serve.h).
 *
 * The loop of every thread consists of rounds. Between two rounds all threads wait; the last one to
 * come acts for all (the "turn"): it sums up the round that has ended and asks the runner for the
 * next plan. A thread that leaves its loop early closes its own part of the round first and then
 * waits like the others, whose loops end with the iteration they are in.
 *
 * In a forked child (forkmark.h) nothing here acts: the loop ends with its round, and the child
 * ends by _exit(0) where the entry's function returns.
 */
#ifndef MEW_BENCH_RUN_H
#define MEW_BENCH_RUN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mew/mew.h>

#include "base/error.h"
#include "bench/event.h"
#include "bench/registry.h"
#include "channel/forkmark.h"
#include "channel/gate.h"
#include "channel/message.h"
#include "channel/window.h"

#define MEW_RUN_COUNTERS 32
#define MEW_COUNTER_NAME_BYTES 64

/* A round as all threads ran it. Spans of time are without pauses where nothing else is said. */
struct mew_round {
	uint64_t iterations; /* summed, one left early included */
	uint64_t loop_ns;    /* summed */
	uint64_t wall_ns;    /* the longest thread's */
	uint64_t real_ns;    /* the longest thread's, pauses included */
	uint64_t cpu_ns;     /* CPU time of the threads, summed; plain runs only */
	uint64_t paused_ns;  /* summed */
	uint64_t n_pauses;   /* outermost ones, summed */
	uint64_t cost_ns;    /* plain runs: what the pauses cost, taken out of loop_ns */
};

/* What a pause does beside noting the clock. */
enum mew_pause_by {
	MEW_PAUSE_BY_CPU,    /* plain runs: reads the thread's CPU clock too */
	MEW_PAUSE_BY_CLOCK,  /* nothing */
	MEW_PAUSE_BY_EVENTS, /* ioctl, in plan.pause_mode */
	MEW_PAUSE_BY_GATE,   /* tells the heap hook */
};

struct mew_plan {
	enum mew_round_kind kind; /* STOP: the loop is over */
	uint64_t iterations;      /* of each thread, 1 or more */
	enum mew_pause_by pause_by;
	enum mew_pause_mode pause_mode;
	enum mew_gate_phase phase; /* with a gate: for the round */
	bool sampled;              /* events are on during the round */
};

struct mew_run;

/* Who decides the rounds. Called in turns: all threads of the loop wait. */
struct mew_runner {
	/* The loop is about to start: fill run->plan. */
	void (*first)(struct mew_run *run, void *arg);
	/* run->round has ended: fill run->plan. A run that is over does not follow it. */
	void (*next)(struct mew_run *run, void *arg);
	void *arg;
};

/* Where a thread is. */
enum mew_place { MEW_BEFORE_LOOP, MEW_IN_LOOP, MEW_AFTER_LOOP };

struct mew_thread {
	struct mew_state state; /* first: what the benchmark sees */
	struct mew_run *run;
	unsigned index;
	int32_t tid;
	pthread_t handle;
	enum mew_place place;
	const char *loop_func;        /* __func__ of the loop */
	uint64_t round_iterations;    /* asked for in the present round */
	uint64_t iterations;          /* done in all rounds */
	struct mew_round round;       /* this thread's part of it */
	uint64_t begin_ns, cpu_begin; /* of the round */
	/* pause */
	unsigned depth;           /* open pauses */
	unsigned ended_by_loop;   /* pauses that were open when the loop ended */
	const char *broken_pause; /* __func__ of a MEW_PAUSE left early in this iteration */
	uint64_t pause_begin_ns, pause_cpu_begin;
	struct mew_window_thread *window; /* NULL: nobody reads it */
	struct mew_events events;
	/* what it counted */
	double bytes, items; /* an iteration */
	double counters[MEW_RUN_COUNTERS];
} __attribute__((aligned(64))); /* what one writes in its loop shares no cache line with another */

struct mew_counter {
	char name[MEW_COUNTER_NAME_BYTES];
	enum mew_counter_kind kind;
};

struct mew_run {
	const struct mew_case *c;
	const struct mew_runner *runner;
	unsigned n_threads;
	struct mew_thread *threads; /* owned */
	struct mew_forkmark mark;
	struct mew_window *window;   /* borrowed; NULL: none */
	const struct mew_gate *gate; /* borrowed; NULL: none */
	struct mew_events *pool;     /* owned: of threads that are not the loop's */
	size_t n_pool;

	/* turns */
	pthread_mutex_t lock;
	pthread_cond_t turned;
	unsigned n_present, n_waiting;
	uint64_t n_turns;
	bool over;       /* no further round */
	bool left_early; /* by one thread at least */
	struct mew_plan plan;
	struct mew_round round; /* the one that has ended */
	struct mew_round total; /* of all rounds; wall_ns and real_ns are sums of theirs */

	/* what it says of itself */
	pthread_mutex_t text_lock;
	enum mew_case_status status;
	bool stopped; /* skip or fail: no further iteration */
	char text[MEW_TEXT_BYTES];
	char label[MEW_LABEL_BYTES];
	struct mew_counter counters[MEW_RUN_COUNTERS];
	unsigned n_counters;
};

/* ret->window and ret->gate may be set before execute. -ENOMEM, or -EINVAL without fork marks. */
int mew_run_init(struct mew_run *ret, const struct mew_case *c, const struct mew_runner *runner,
		 struct mew_error *error);
void mew_run_done(struct mew_run *run);

/* Runs the case on all its threads, the calling one is thread 0; returns when all have ended. */
void mew_run_execute(struct mew_run *run);

/* Whether this is the process that runs the case, not a child that it forked. */
static inline bool mew_run_ours(const struct mew_run *run)
{
	return mew_forkmark_ours(&run->mark);
}

static inline struct mew_thread *mew_thread_of(const struct mew_state *state)
{
	return (struct mew_thread *)(uintptr_t)state;
}

/* The case ends with this status and reason, unless it has one already: loops end. */
void mew_run_decide(struct mew_run *run, enum mew_case_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void mew_run_vdecide(struct mew_run *run, enum mew_case_status status, const char *format,
		     va_list ap) __attribute__((format(printf, 3, 0)));

/*
 * Bytes of the state's word that stops the loop. Each has one writer at a time: the thread itself,
 * and whoever stops the run (never taken back). So neither needs a locked instruction.
 */
enum mew_attention {
	MEW_ATTEND_PAUSE = 0,
	MEW_ATTEND_STOP = 1,
	MEW_ATTEND_ITERATION = 2, /* the heap hook is told of each iteration's end */
};
static inline void mew_attend(struct mew_thread *t, enum mew_attention which, unsigned char on)
{
	__atomic_store_n((unsigned char *)&t->state.attention_ + which, on, __ATOMIC_RELAXED);
}

/*
 * The open pause of a thread ends with its iteration, or with its round: at now_ns, the events
 * being off already.
 */
void mew_pause_end_iteration(struct mew_thread *t);
void mew_pause_end_round(struct mew_thread *t, uint64_t now_ns);

/*
 * What a pause pair of a plain round leaves in the figures, measured: ns of time and of CPU time.
 * In the first turn, for one thread, whose part of the round is 0 afterwards.
 */
void mew_pause_calibrate(struct mew_thread *t, uint64_t *ret_time_ns, uint64_t *ret_cpu_ns);

/*
 * What a pause pair costs in a sampled round, insides and all: the median. In the first turn, for
 * the calling thread; what it leaves in its round and its window is taken back.
 */
uint64_t mew_pause_pair_ns(struct mew_thread *t, enum mew_pause_by by, enum mew_pause_mode mode);

/* What the threads counted, summed (state.c). */
double mew_run_counter(const struct mew_run *run, unsigned i);
/* Bytes and items an iteration, over all threads; 0: the case does not tell. */
double mew_run_bytes(const struct mew_run *run);
double mew_run_items(const struct mew_run *run);

uint64_t mew_clock_ns(void);     /* CLOCK_MONOTONIC */
uint64_t mew_cpu_clock_ns(void); /* of the calling thread */

#endif
