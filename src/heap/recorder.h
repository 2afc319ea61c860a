/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h: what the entry points tell, and the state of the process that decides what becomes of
 * it: phase, pauses, fork. Knows the figures only through counters.h, and no entry point by name.
 *
 * An entry point asks mew_recorder_mode; when nothing is on, it calls the real function and that is
 * all. Else mew_recorder_enter(), the real call, and one of the others, which leaves.
 */
#ifndef MEW_HEAP_RECORDER_H
#define MEW_HEAP_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "channel/forkmark.h"
#include "heap/counters.h"
#include "heap/stacks.h"

enum mew_recorder_mode {
	MEW_RECORDER_CALLS = 1, /* allocations are recorded */
	MEW_RECORDER_FREES = 2, /* frees are: as long as the window is open or a block tracked */
};

enum mew_recorder_inside {
	MEW_INSIDE_REAL = 1,     /* in the real function: a call from there is a part of it */
	MEW_INSIDE_RECORDER = 2, /* in the recorder: only a signal handler can call from there */
};

/* Of a thread. */
struct mew_recorder_thread {
	uint64_t n_calls;  /* not yet in the segment's n_hooked */
	uint64_t outer_sp; /* of the outermost call in progress */
	uint32_t inside;   /* what that call is in: 0 none, else enum mew_recorder_inside */
	uint32_t paused;   /* serial of the window that its pause belongs to, 0: none */
	int *error;        /* its errno, NULL: not asked yet */
	struct mew_counters_thread counters;
	struct mew_stacks_thread stacks;
};

extern struct mew_forkmark mew_recorder_mark __attribute__((visibility("hidden")));
extern uint32_t mew_recorder_mode
	__attribute__((visibility("hidden"))); /* enum mew_recorder_mode bits */
extern __thread struct mew_recorder_thread mew_recorder_thread
	__attribute__((visibility("hidden")));

int mew_recorder_enter_again(uint64_t sp, int is_allocation);

/* sp: the caller's. 1: the call is to be recorded. 0: it is nested in another one, comes from a
 * signal handler that interrupted the recorder (is_allocation: counted as lost), or the process is
 * a forked child. */
static inline int mew_recorder_enter(uint64_t sp, int is_allocation)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (__builtin_expect(t->inside || !mew_forkmark_ours(&mew_recorder_mark), 0))
		return mew_recorder_enter_again(sp, is_allocation);
	t->outer_sp = sp;
	t->inside = MEW_INSIDE_REAL;
	return 1;
}

/* An allocation came back; p NULL: it failed. */
void mew_recorder_allocated(const struct mew_stacks_caller *caller, uint32_t entry, const void *p,
			    size_t bytes);

/* p is about to be freed, then it was. */
void mew_recorder_freeing(const void *p);
static inline void mew_recorder_freed(void)
{
	mew_recorder_thread.inside = 0;
}

/* p, not NULL, is about to be resized: 1 and *ret_old when it was tracked; and came back as q. */
int mew_recorder_resizing(const void *p, struct mew_live_block *ret_old);
void mew_recorder_resized(const struct mew_stacks_caller *caller, uint32_t entry,
			  const struct mew_live_block *old, const void *q, size_t bytes);

/*
 * mmap and its relatives. 1: they are recorded, and nothing else of this thread until the end; the
 * others follow the real call, as often as it takes. 0: nothing is to be told.
 */
int mew_recorder_maps_begin(void);
void mew_recorder_mapped(const void *p, size_t bytes);
void mew_recorder_unmapped(const void *p, size_t bytes);
void mew_recorder_maps_end(void);

/* The process has made a child, or is about to; and it is one that the parent has counted. */
void mew_recorder_forked(void);
void mew_recorder_is_child(void);

/* The process is about to become another program's (1), or has not (0). */
void mew_recorder_leaving(int is_leaving);

/* A module may be unloaded now; and may have been. */
void mew_recorder_closing(void);
void mew_recorder_closed(void);

#endif
