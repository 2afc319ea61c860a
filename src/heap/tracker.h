/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracker.h: the one tracker of the process, which recorder.c feeds and gate.c switches. Nobody
 * else looks at it.
 */
#ifndef MEW_HEAP_TRACKER_H
#define MEW_HEAP_TRACKER_H

#include <stdint.h>

#include "channel/forkmark.h"
#include "channel/gate.h"
#include "heap/client.h"
#include "heap/counters.h"
#include "heap/lock.h"
#include "heap/mapped.h"
#include "heap/pages.h"
#include "heap/recorder.h"
#include "heap/stacks.h"
#include "heap/tree.h"

struct mew_tracker {
	struct mew_lock gate;      /* for who changes what follows, and mew_recorder_mode */
	enum mew_gate_phase phase; /* stays as it is between mew_counters_enter() and _leave() */
	uint32_t serial;           /* of the first iteration's or the window's opening, from 1 */
	uint32_t open; /* the window's while it is open and not paused as a whole, or 0 */
	uint32_t whole_paused;
	int status;
	struct mew_client client;
	struct mew_pages pages;
	struct mew_tree tree;
	struct mew_counters counters;
	struct mew_stacks stacks;
	struct mew_lock maps_lock; /* of what is mapped; held across the real calls */
	struct mew_pages maps_pages;
	struct mew_mapped mapped;
};

extern struct mew_tracker mew_tracker __attribute__((visibility("hidden")));

static inline int mew_tracker_is_on(void)
{
	return !mew_tracker.status && mew_forkmark_ours(&mew_recorder_mark);
}

static inline int mew_tracker_is_set(enum mew_heap_flags flag)
{
	return (mew_tracker.client.flags & flag) != 0;
}

static inline int mew_tracker_has_interest(const struct mew_recorder_thread *t)
{
	return t->stacks.is_loops || !mew_tracker_is_set(MEW_HEAP_SELF);
}

static inline int mew_tracker_in_window(const struct mew_recorder_thread *t)
{
	uint32_t open = __atomic_load_n(&mew_tracker.open, __ATOMIC_RELAXED);

	return open && t->paused != open && mew_tracker_has_interest(t);
}

static inline int mew_tracker_in_first(const struct mew_recorder_thread *t)
{
	return __atomic_load_n(&mew_tracker.phase, __ATOMIC_RELAXED) == MEW_GATE_FIRST &&
	       !__atomic_load_n(&mew_tracker.whole_paused, __ATOMIC_RELAXED) &&
	       t->paused != __atomic_load_n(&mew_tracker.serial, __ATOMIC_RELAXED) &&
	       mew_tracker_has_interest(t);
}

/* From here on a signal handler must not come in. */
static inline uint32_t mew_tracker_begin(struct mew_recorder_thread *t)
{
	uint32_t inside = t->inside;

	t->inside = MEW_INSIDE_RECORDER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return inside;
}

static inline void mew_tracker_end(struct mew_recorder_thread *t, uint32_t inside)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->inside = inside;
}

/* Of the outermost call: it is over. */
static inline void mew_tracker_leave(struct mew_recorder_thread *t)
{
	t->inside = 0;
}

/* For who changes phase, serial or whole_paused; what is to be recorded from now on follows from
 * these when the gate is left. */
static inline void mew_tracker_lock_gate(void)
{
	mew_lock_acquire(&mew_tracker.gate);
}

void mew_tracker_unlock_gate(void);

/* The window of a whole program, which has no harness to open it. */
void mew_tracker_open_whole(void);

#endif
