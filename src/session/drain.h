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
#include "session/breaks.h"
#include "session/collect.h"
#include "session/count.h"
#include "unwind/modules.h"
#include "unwind/walk.h"

struct mew_drain_thread {
	int tid;
	enum mew_thread_kind kind;
	uint32_t slot; /* of the window; pool threads go by slot 0 */
	int fds[3];
	unsigned n_fds;
	struct mew_ring samples, notes, clock; /* as the attrs; clock only with a companion */
	struct mew_count read, clock_read;     /* as last read */
	uint64_t out_since_ns;                 /* off the CPU since; 0: on it */
	/* the open round */
	uint64_t ticks, off_ns, off_paused_ns, lost;
	uint64_t interrupts; /* ticks with and without a record; known once the round is closed */
};

/* Code that was mapped, and is not known to `modules` before the samples of earlier are walked. */
struct mew_drain_map {
	struct mew_mapped mapped;
	char *path; /* owned; mapped.path */
};

/* What did not go as it should; whole case. */
struct mew_drain_losses {
	uint64_t lost; /* samples that the kernel dropped or that could not be placed */
	uint64_t cut;  /* stacks longer than their copy, which has all that was asked for: a page
			  that nobody has touched ends a copy as well */
	uint64_t coroutines; /* whole stacks that are not the loop's */
	uint64_t throttled, bad_records;
	uint64_t threads_started, children; /* in the loop, warm-up included: not sampled */
};

struct mew_drain {
	const struct mew_event *event; /* borrowed */
	const struct mew_window *window;
	unsigned n_slots; /* of the window: the target may overwrite what it says itself */
	unsigned n_loop;  /* loop threads */
	struct mew_modules *modules; /* borrowed */
	struct mew_drain_map *maps;  /* empty between two drains */
	size_t n_maps, cap_maps;
	size_t table_bytes;
	struct mew_walk_root root;
	struct mew_collect collect;
	struct mew_drain_thread *threads;
	size_t n_threads, cap_threads;
	struct mew_walk_cache cache;
	struct mew_walk_result walk;
	struct mew_breaks breaks;
	struct mew_drain_losses losses;
	/* of the sampling event, in all threads and sampled rounds */
	struct mew_count total;
	uint64_t delivered, expected; /* its samples, in pauses too, and how many its count makes */
	int sampling;                 /* the present round is SAMPLED */
	uint64_t samples;             /* collected since the start or the last forget */
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

/* How a sampled round was run. */
struct mew_drain_round {
	uint64_t period;  /* the sampling event's, in what it counts; not 0 */
	uint64_t tick_ns; /* of the clock that tells user from kernel time: the companion or the
			     event itself; not 0 */
	enum mew_pause_mode pause_mode; /* OUTPUT counts the samples of pauses as lost */
};

/* The sampled round has ended: empty the rings, read the counts, account for each loop thread. */
int mew_drain_end(struct mew_drain *d, const struct mew_drain_round *of, struct mew_account *a,
		  struct mew_error *error);

/* Forget the samples so far (the interval was still being found). */
void mew_drain_forget(struct mew_drain *d);

#endif
