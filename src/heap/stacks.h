/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h: which node of the tree the stack is of a call: walks it, in memory of its own, as far
 * as it is not the last one of the thread. Asks mew-perf for tables that are missing. Any thread at
 * any time; knows no counters.
 */
#ifndef MEW_HEAP_STACKS_H
#define MEW_HEAP_STACKS_H

#include <stdint.h>

#include "heap/client.h"
#include "heap/pages.h"
#include "heap/stack.h"
#include "heap/tree.h"
#include "unwind/walk.h"

struct mew_stacks_scratch;

/* Zeroed to start. */
struct mew_stacks {
	struct mew_client *client; /* borrowed, connected */
	struct mew_tree *tree;     /* borrowed */
	struct mew_walk_root
		root; /* where the case begins; changed when no thread is in the loop */
	struct mew_stacks_scratch *scratches;
	uint32_t n_slots;    /* given out to threads */
	uint32_t n_unloaded; /* modules, maybe, since the tables were last asked for */
	uint64_t bytes;      /* of its own, touched */
};

/* Of one thread, zeroed to start. */
struct mew_stacks_thread {
	uint32_t slot;     /* 1 + its place in the scratch memory, 0: none yet */
	uint32_t is_loops; /* it is one of those that run the loop; the main one of a program */
	struct mew_stack stack;
};

/* -ENOMEM. It stays as long as the process. */
int mew_stacks_init(struct mew_stacks *stacks, struct mew_client *client, struct mew_tree *tree,
		    const struct mew_pages *pages);

/* The leaf of the stack from a return address on, which was found by entry point entry. */
uint32_t mew_stacks_leaf(struct mew_stacks *stacks, struct mew_stacks_thread *t,
			 const struct mew_walk_start *start, uint32_t entry);

/* A module may have been unloaded. */
void mew_stacks_unloaded(struct mew_stacks *stacks);

#endif
