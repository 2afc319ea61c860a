/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h: which node of the tree the stack is of a call: walks it, in memory of its own, as far
 * as it is not one that the thread had lately. Asks mew-perf for tables that are missing. Any
 * thread at any time; knows no counters but that of the memory that it touches (own_bytes).
 */
#ifndef MEW_HEAP_STACKS_H
#define MEW_HEAP_STACKS_H

#include <stdint.h>

#include "heap/client.h"
#include "heap/lock.h"
#include "heap/pages.h"
#include "heap/stack.h"
#include "heap/tree.h"
#include "unwind/recall.h"
#include "unwind/trail.h"
#include "unwind/walk.h"

#define MEW_STACKS_SCRATCHES 64u /* threads that walk at the same time */

/* What a walk needs, too large for the stack of a program's thread. */
struct mew_stacks_scratch {
	struct mew_lock lock; /* tried, never waited for */
	uint32_t is_touched;
	uint16_t stripe;    /* the flags that tell the leaves of its threads from those of others */
	uint32_t n_deepest; /* frames that any stack had */
	uint32_t epoch;     /* of the tables, that the trail's tags are of */
	struct mew_walk_cache cache;
	struct mew_tree_memo memos[1u << MEW_TREE_MEMO_BITS];
	struct mew_recall recall;
	struct mew_trail trail;
	struct mew_walk_result walk;
	char text[1024];
};

/* Zeroed to start. */
struct mew_stacks {
	struct mew_client *client; /* borrowed, connected */
	struct mew_tree *tree;     /* borrowed */
	struct mew_walk_root
		root; /* where the case begins; changed when no thread is in the loop */
	struct mew_stacks_scratch *scratches;
	uint32_t n_given; /* scratches, to threads */
	/* Modules, maybe; and so many of them were gone when the tables were asked for that have
	 * come.
	 */
	uint64_t n_unloaded, n_refreshed;
};

/* Of one thread, zeroed to start. */
struct mew_stacks_thread {
	struct mew_stacks_scratch *scratch; /* the one that it tries first, NULL: none yet */
	uint32_t is_loops; /* it is one of those that run the loop; the main one of a program */
	struct mew_stack stack;
};

/* Where a function was called: its return address, sp and frame pointer once it has returned. */
struct mew_stacks_caller {
	uint64_t pc, sp, fp;
};

/* -ENOMEM. It stays as long as the process. */
int mew_stacks_init(struct mew_stacks *stacks, struct mew_client *client, struct mew_tree *tree,
		    const struct mew_pages *pages);

/* The thread's scratch, or another one when that is in use, locked. */
struct mew_stacks_scratch *mew_stacks_take(struct mew_stacks *stacks, struct mew_stacks_thread *t);

/* mew_stacks_leaf() of a stack that is not known, in a scratch that the caller has locked. */
uint32_t mew_stacks_walk(struct mew_stacks *stacks, struct mew_stacks_thread *t,
			 struct mew_stacks_scratch *s, const struct mew_stacks_caller *caller,
			 uint32_t entry);

static inline struct mew_walk_start mew_stacks_start(const struct mew_stacks_caller *caller)
{
	return (struct mew_walk_start){
		.pc = caller->pc, .sp = caller->sp, .fp = caller->fp, .pc_is_return = 1};
}

/* The tables may still have a module that was unloaded. */
static inline int mew_stacks_is_stale(const struct mew_stacks *stacks)
{
	return __atomic_load_n(&stacks->n_unloaded, __ATOMIC_RELAXED) !=
	       __atomic_load_n(&stacks->n_refreshed, __ATOMIC_ACQUIRE);
}

/* What tells leaves of the same stack apart, in one scratch. */
static inline uint64_t mew_stacks_key(const struct mew_stacks_thread *t, uint32_t entry)
{
	return entry | (uint64_t)t->is_loops << 16;
}

/* The leaf of the stack that the scratch knows from there on, of what is the thread's own stack. */
static inline __attribute__((always_inline)) int
mew_stacks_know(const struct mew_stacks *stacks, const struct mew_stacks_thread *t,
		struct mew_stacks_scratch *s, const struct mew_stacks_caller *caller,
		uint32_t entry, uint32_t *ret_leaf)
{
	const struct mew_stack_range *own = &t->stack.own;
	struct mew_walk_start start = mew_stacks_start(caller);
	struct mew_walk_stack stack = {.lo = caller->sp, .hi = own->hi};

	return caller->sp >= own->lo && caller->sp < own->hi && !mew_stacks_is_stale(stacks) &&
	       mew_recall_find(&s->recall, stacks->client->table, &start, &stack, &stacks->root,
			       mew_stacks_key(t, entry), ret_leaf);
}

/* The leaf of the stack from the caller on, which was found by entry point entry. Inlined, up to
 * the walk: most stacks are known. */
static inline __attribute__((always_inline)) uint32_t
mew_stacks_leaf(struct mew_stacks *stacks, struct mew_stacks_thread *t,
		const struct mew_stacks_caller *caller, uint32_t entry)
{
	struct mew_stacks_scratch *s = t->scratch;
	uint32_t leaf;

	if (__builtin_expect(!s || !mew_lock_try(&s->lock), 0))
		s = mew_stacks_take(stacks, t);
	if (__builtin_expect(!mew_stacks_know(stacks, t, s, caller, entry, &leaf), 0))
		leaf = mew_stacks_walk(stacks, t, s, caller, entry);
	mew_lock_release(&s->lock);
	return leaf;
}

/* A module may have been unloaded. */
void mew_stacks_unloaded(struct mew_stacks *stacks);

#endif
