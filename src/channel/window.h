/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h: the loop's window as the target writes it down while it runs, in memory shared with
 * mew-perf: when each thread's loop ran, and each pause's begin and end. All times are
 * CLOCK_MONOTONIC in ns, the events' clock too. The target writes, mew-perf reads at any moment;
 * mew-perf made the memfd, sealed against shrinking.
 */
#ifndef MEW_CHANNEL_WINDOW_H
#define MEW_CHANNEL_WINDOW_H

#include <stdint.h>

#define MEW_WINDOW_MAGIC 0x31574f444e49574dull /* "MWINDOW1" */
#define MEW_WINDOW_THREADS 256                 /* harness threads of a case at most */
#define MEW_WINDOW_PAUSES 65536u               /* pauses remembered a thread, a power of two */

struct mew_window_pause {
	uint64_t begin_ns;
	uint64_t end_ns; /* 0: still open */
};

/* One harness thread. Written by that thread alone. */
struct mew_window_thread {
	uint64_t begin_ns; /* of the present or last round's loop; 0: none yet. Stored with release
			    */
	uint64_t end_ns;   /* 0 while the loop runs */
	/* Pauses opened since the case began: pause i stands in pauses[i % MEW_WINDOW_PAUSES].
	 * begin_ns is written, end_ns is 0, then n_opened is raised with release; end_ns is stored
	 * with release when the pause ends. */
	uint64_t n_opened;
	uint64_t paused_ns; /* closed pauses of the present round */
	uint64_t pad[4];
	struct mew_window_pause pauses[MEW_WINDOW_PAUSES];
};

struct mew_window {
	uint64_t magic;
	uint32_t n_threads; /* threads[] that the memfd holds; set by mew-perf, 1 to
			       MEW_WINDOW_THREADS */
	uint32_t pad[13];
	struct mew_window_thread threads[];
};

enum mew_window_place {
	MEW_WINDOW_INSIDE, /* in the loop, in no pause */
	MEW_WINDOW_PAUSED,
	MEW_WINDOW_OUTSIDE,   /* before the round's begin or after its end */
	MEW_WINDOW_FORGOTTEN, /* the pauses of that time are overwritten: cannot be told */
};

/* Bytes of a window for n_threads harness threads. */
uint64_t mew_window_bytes(unsigned n_threads);

/* Where time_ns lies for thread slot. Safe against a target that writes meanwhile. A slot of
 * w->n_threads or more is OUTSIDE; but the target can write n_threads too, so a reader compares
 * slot with the number that it mapped itself. */
enum mew_window_place mew_window_place(const struct mew_window *w, unsigned slot, uint64_t time_ns);

/* The part of [from_ns, to_ns), in ns, that lies inside pauses of slot: for off-CPU time.
 * *ret_forgotten is set to 1 when some of it cannot be told. */
uint64_t mew_window_paused(const struct mew_window *w, unsigned slot, uint64_t from_ns,
			   uint64_t to_ns, int *ret_forgotten);

/* The target's side. Each is called by the thread that t belongs to, and by no other. */

/* A round starts. Until the loop has begun nothing is inside. */
static inline void mew_window_round(struct mew_window_thread *t)
{
	__atomic_store_n(&t->begin_ns, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&t->end_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&t->paused_ns, 0, __ATOMIC_RELAXED);
}

static inline void mew_window_begin(struct mew_window_thread *t, uint64_t now_ns)
{
	__atomic_store_n(&t->begin_ns, now_ns, __ATOMIC_RELEASE);
}

static inline void mew_window_end(struct mew_window_thread *t, uint64_t now_ns)
{
	__atomic_store_n(&t->end_ns, now_ns, __ATOMIC_RELEASE);
}

static inline void mew_window_pause(struct mew_window_thread *t, uint64_t now_ns)
{
	uint64_t i = t->n_opened;
	struct mew_window_pause *p = &t->pauses[i % MEW_WINDOW_PAUSES];

	__atomic_store_n(&p->begin_ns, now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&p->end_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&t->n_opened, i + 1, __ATOMIC_RELEASE);
}

/* Ends the pause that the last mew_window_pause began at begin_ns. */
static inline void mew_window_resume(struct mew_window_thread *t, uint64_t begin_ns,
				     uint64_t now_ns)
{
	struct mew_window_pause *p = &t->pauses[(t->n_opened - 1) % MEW_WINDOW_PAUSES];

	__atomic_store_n(&t->paused_ns, t->paused_ns + (now_ns - begin_ns), __ATOMIC_RELAXED);
	__atomic_store_n(&p->end_ns, now_ns, __ATOMIC_RELEASE);
}

#endif
