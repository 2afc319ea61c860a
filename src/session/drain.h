/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h: the rings of a benchmark's threads while its case runs: each record is placed in the
 * loop, in a pause or outside, each sample is unwound at once, and each round is closed with what
 * its threads did.
 */
#ifndef MEW_SESSION_DRAIN_H
#define MEW_SESSION_DRAIN_H

#include <poll.h>
#include <stdint.h>

#include "base/error.h"
#include "channel/message.h"
#include "channel/window.h"
#include "kernel/event.h"
#include "kernel/record.h"
#include "kernel/ring.h"
#include "profile/account.h"
#include "session/collect.h"
#include "unwind/modules.h"
#include "unwind/walk.h"

struct mew_drain_thread {
	int tid;
	enum mew_thread_kind kind;
	uint32_t slot; /* of the window; pool threads go by slot 0 */
	int fds[3];
	unsigned n_fds;
	struct mew_ring samples, notes, clock; /* as the attrs; clock only with a companion */
	uint64_t count, clock_count;           /* as last read */
	uint64_t n_lost, n_clock_lost;         /* likewise */
	uint64_t out_since_ns;                 /* off the CPU since; 0: on it */
	/* the open round */
	uint64_t ticks, off_ns, off_paused_ns, lost;
	uint64_t interrupts; /* ticks with and without a record; known once the round is closed */
};

/* What did not go as it should; whole case. */
struct mew_drain_losses {
	uint64_t lost;   /* samples that the kernel dropped or that could not be placed */
	uint64_t cut;    /* stacks longer than their copy */
	uint64_t broken; /* stacks that did not reach the case otherwise */
	uint64_t throttled, bad_records;
	uint64_t threads_started, children; /* in the loop, warm-up included: not sampled */
};

struct mew_drain {
	const struct mew_event *event; /* borrowed */
	const struct mew_window *window;
	unsigned n_slots; /* of the window: the target may overwrite what it says itself */
	unsigned n_loop;  /* loop threads */
	struct mew_modules *modules; /* borrowed */
	size_t table_bytes;
	struct mew_walk_root root;
	struct mew_collect collect;
	struct mew_drain_thread *threads;
	size_t n_threads, cap_threads;
	struct mew_walk_cache cache;
	struct mew_walk_result walk;
	struct mew_drain_losses losses;
	int sampling;     /* the present round is SAMPLED */
	uint64_t samples; /* collected since the start or the last forget */
};

int mew_drain_init(struct mew_drain *d, const struct mew_event *event,
		   const struct mew_window *window, unsigned n_slots);
void mew_drain_done(struct mew_drain *d);

/* The thread's descriptors become the drain's. */
int mew_drain_add(struct mew_drain *d, const struct mew_msg_thread *m, const int *fds,
		  unsigned n_fds, struct mew_error *error);

size_t mew_drain_watch(const struct mew_drain *d, struct pollfd *fds, size_t max);

/* Empty all rings. 0 or negative errno. */
int mew_drain_all(struct mew_drain *d, struct mew_error *error);

/* A round begins: what was drained up to now is not of it. */
int mew_drain_begin(struct mew_drain *d, int sampling, struct mew_error *error);

/*
 * The sampled round has ended: empty the rings, read the counts, account for each loop thread.
 * period_ns: of the clock that ticked, not 0. output_paused: pauses count their samples as lost.
 */
int mew_drain_end(struct mew_drain *d, uint64_t period_ns, int output_paused, struct mew_account *a,
		  struct mew_error *error);

/* Forget the samples so far (the interval was still being found). */
void mew_drain_forget(struct mew_drain *d);

#endif
