/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trail.h: one thread's last walk, remembered, so that the next one has to look at its new frames
 * alone. What lies outside of a frame depends on its pc, sp and fp, on the words of the stack that
 * the walk read there, and on the tables: if none of these has changed, the outer frames are the
 * same ones. Words are compared, not frames walked.
 *
 * Only whole stacks of ordinary frames are remembered, in one piece of memory; what is not such a
 * stack is for mew_walk(). As that, it takes no lock, allocates nothing and calls no library.
 */
#ifndef MEW_UNWIND_TRAIL_H
#define MEW_UNWIND_TRAIL_H

#include "unwind/walk.h"

#define MEW_TRAIL_FRAMES 4096                  /* a deeper stack is not for the trail */
#define MEW_TRAIL_WORDS (2 * MEW_TRAIL_FRAMES) /* a frame has two at most */

struct mew_trail_frame {
	uint64_t pc, sp, fp;
	uint64_t at;       /* where on the stack the pc was found; not of the innermost one */
	uint32_t n_words;  /* of words[], that it and all outer frames depend on too: the first ones
			    */
	uint32_t needs_fp; /* they depend on its fp too */
	uint32_t tag;      /* the caller's, of the stack from the outermost frame up to this one */
};

/* What leaving a frame read of the stack beside the pc. */
struct mew_trail_word {
	uint64_t at, value;
};

/* How a frame is left whose rule is what nearly all are: the CFA counted from sp, the return
 * address right below it. */
struct mew_trail_quick {
	uint64_t pc;     /* a return address, outside of the root; 0: none */
	int32_t cfa_off; /* of sp, above 0 */
	int32_t fp_off;  /* of the CFA, where fp is saved, below 0; 0: fp is kept */
};

#define MEW_TRAIL_QUICK_BITS 9

/* A frame in hand, and what it was left by. */
struct mew_trail_step {
	struct mew_walk_frame frame;
	uint64_t at; /* where on the stack its pc was found; 0: nowhere */
	int is_quick;
	int32_t fp_off;       /* of its mew_trail_quick, which another one may have replaced */
	struct mew_rule rule; /* not is_quick */
};

/* Of one thread at a time. Zeroed to start. Large, but touched only as deep as stacks are. */
struct mew_trail {
	uint64_t generation; /* of the tables */
	struct mew_walk_root root;
	uint64_t hi;       /* of the stack that they were found on */
	uint32_t n_frames; /* 0: nothing is remembered */
	uint32_t n_tagged; /* the first ones have their tag */
	uint32_t n_failed; /* walks in a row that were not for the trail */
	uint32_t n_skip;   /* walks that are not tried */
	uint32_t n_steps;
	int is_outermost; /* the whole stack ends at a frame that nobody has called, not at the root
			   */
	struct mew_trail_quick quick[1u << MEW_TRAIL_QUICK_BITS];
	/* From [1] on, outermost first. [0] is what that one was left to, and in no stack: the root
	 * or 0; its tag is the caller's. */
	struct mew_trail_frame frames[MEW_TRAIL_FRAMES + 1];
	struct mew_trail_word words[MEW_TRAIL_WORDS]; /* outermost first */
	/* In hand, innermost first, and the frame outside of them. */
	struct mew_trail_step steps[MEW_TRAIL_FRAMES + 1];
};

/* The outermost frame whose pc is on the stack. */
static inline const struct mew_trail_frame *mew_trail_first_found(const struct mew_trail *trail)
{
	return &trail->frames[trail->is_outermost != 0];
}

/* Where the rule of pc is, or that of another pc. */
static inline struct mew_trail_quick *mew_trail_quick_of(struct mew_trail *trail, uint64_t pc)
{
	return &trail->quick[(pc ^ pc >> MEW_TRAIL_QUICK_BITS) % (1u << MEW_TRAIL_QUICK_BITS)];
}

/*
 * Walks a live or copied stack from a return address on. 1: frames[1] up to frames[n_frames] are
 * the whole stack, which mew_walk() would find too, and end well; the first n_tagged of them are as
 * they were at an earlier walk, with their tags. The caller may tag the others and raise n_tagged.
 * 0: it is no stack for the trail.
 */
int mew_trail_walk(struct mew_trail *trail, const struct mew_unwind_table *t, size_t space_bytes,
		   const struct mew_walk_start *start, const struct mew_walk_stack *stack,
		   const struct mew_walk_root *root, struct mew_walk_cache *cache);

#endif
