/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.h: whole stacks that a thread had lately, by where their innermost frame is: a call that
 * is made again, from the same place of the same stack, need not be walked. As with the trail,
 * which they come from, what a stack depends on is compared word by word: if none of it has
 * changed, the stack has not. Takes no lock, allocates nothing and calls no library.
 */
#ifndef MEW_UNWIND_RECALL_H
#define MEW_UNWIND_RECALL_H

#include "unwind/memory.h"
#include "unwind/trail.h"
#include "unwind/walk.h"

#define MEW_RECALL_BITS 6
#define MEW_RECALL_WORDS 64 /* a stack that depends on more is not for it */

struct mew_recall_stack {
	/* What must be the same: the innermost frame, the end of the stack, and the caller's key.
	 */
	uint64_t pc, sp, hi, key;
	uint64_t fp; /* of the innermost frame, and if needs_fp, the same too */
	uint32_t needs_fp;
	uint32_t tag;      /* the caller's */
	uint32_t is_known; /* what follows is; else it only came */
	uint32_t n_due;    /* so often is it to come before it is worth knowing */
	uint32_t n_failed; /* so often it was known, and had changed */
	uint32_t n_words;  /* a multiple of 4: the last one may be there again */
	struct mew_trail_word words[MEW_RECALL_WORDS];
};

/* Of one thread at a time. Zeroed to start. */
struct mew_recall {
	uint64_t generation; /* of the tables */
	struct mew_walk_root root;
	struct mew_recall_stack stacks[1u << MEW_RECALL_BITS];
};

/* Nothing is known of other tables or of another root. */
void mew_recall_forget(struct mew_recall *r, uint64_t generation, const struct mew_walk_root *root);

/* Keeps the stack that the trail has just found from start on, with its tag; if it comes often. */
void mew_recall_keep(struct mew_recall *r, const struct mew_trail *trail,
		     const struct mew_walk_start *start, const struct mew_walk_stack *stack,
		     uint64_t key, uint32_t tag);

static inline struct mew_recall_stack *mew_recall_at(struct mew_recall *r,
						     const struct mew_walk_start *start)
{
	uint64_t h = (start->pc ^ start->sp << 20) * 0x9e3779b97f4a7c15u;

	return &r->stacks[h >> (64 - MEW_RECALL_BITS)];
}

static inline int mew_recall_is(const struct mew_recall_stack *s,
				const struct mew_walk_start *start,
				const struct mew_walk_stack *stack, uint64_t key)
{
	return s->pc == start->pc && s->sp == start->sp && s->hi == stack->hi && s->key == key;
}

/* Whether the words are what they were. */
static inline __attribute__((always_inline)) int mew_recall_holds(const struct mew_recall_stack *s,
								  uintptr_t shift)
{
	const struct mew_trail_word *end = s->words + s->n_words;

	for (const struct mew_trail_word *w = s->words; w < end; w += 4)
		if ((mew_stack_known_word(shift, w[0].at) ^ w[0].value) |
		    (mew_stack_known_word(shift, w[1].at) ^ w[1].value) |
		    (mew_stack_known_word(shift, w[2].at) ^ w[2].value) |
		    (mew_stack_known_word(shift, w[3].at) ^ w[3].value))
			return 0;
	return 1;
}

/* 1 and *ret_tag: the stack from start, a return address, is the one that was kept with that tag
 * under the same key. 0: it is not known, or not any more. */
static inline __attribute__((always_inline)) int
mew_recall_find(struct mew_recall *r, const struct mew_unwind_table *t,
		const struct mew_walk_start *start, const struct mew_walk_stack *stack,
		const struct mew_walk_root *root, uint64_t key, uint32_t *ret_tag)
{
	uint64_t generation = __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE);
	struct mew_recall_stack *s = mew_recall_at(r, start);

	if (__builtin_expect(r->generation != generation || r->root.lo != root->lo ||
				     r->root.hi != root->hi,
			     0)) {
		mew_recall_forget(r, generation, root);
		return 0;
	}
	if (!s->is_known || !mew_recall_is(s, start, stack, key) || start->sp < stack->lo)
		return 0;
	if ((s->needs_fp && s->fp != start->fp) || !mew_recall_holds(s, mew_stack_shift(stack))) {
		s->is_known = 0;
		s->n_failed++;
		return 0;
	}
	*ret_tag = s->tag;
	return 1;
}

#endif
