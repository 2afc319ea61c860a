/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unwind/recall.h"

#define DUE_BITS 6 /* a stack that changes each time is kept every 2^6th time */

void mew_recall_forget(struct mew_recall *r, uint64_t generation, const struct mew_walk_root *root)
{
	/* Atomic, so that the loop does not become a call of memset. */
	for (unsigned i = 0; i < 1u << MEW_RECALL_BITS; i++)
		__atomic_store_n(&r->stacks[i].is_known, 0, __ATOMIC_RELAXED);
	r->generation = generation;
	r->root.lo = root->lo;
	r->root.hi = root->hi;
}

/* Whether it has come so often that it is likely to come again. */
static int is_due(struct mew_recall_stack *s, const struct mew_walk_start *start,
		  const struct mew_walk_stack *stack, uint64_t key)
{
	if (!mew_recall_is(s, start, stack, key)) {
		s->pc = start->pc;
		s->sp = start->sp;
		s->hi = stack->hi;
		s->key = key;
		s->is_known = s->n_failed = 0;
		s->n_due = 0;
		return 0;
	}
	if (s->n_due > 0) {
		s->n_due--;
		return 0;
	}
	s->n_due = (1u << (s->n_failed < DUE_BITS ? s->n_failed : DUE_BITS)) - 1;
	return 1;
}

void mew_recall_keep(struct mew_recall *r, const struct mew_trail *trail,
		     const struct mew_walk_start *start, const struct mew_walk_stack *stack,
		     uint64_t key, uint32_t tag)
{
	struct mew_recall_stack *s = mew_recall_at(r, start);
	const struct mew_trail_frame *inner = &trail->frames[trail->n_frames];
	const struct mew_trail_frame *f = mew_trail_first_found(trail);
	const uintptr_t shift = mew_stack_shift(stack);
	struct mew_trail_word *w = s->words;

	if (inner - f + inner->n_words > MEW_RECALL_WORDS || !is_due(s, start, stack, key))
		return;
	/* The innermost first: they change most. */
	for (const struct mew_trail_frame *outer = inner; outer-- > f; w++)
		*w = (struct mew_trail_word){outer->at, mew_stack_known_word(shift, outer->at)};
	for (uint32_t i = inner->n_words; i-- > 0;)
		*w++ = trail->words[i];
	for (; (w - s->words) % 4; w++)
		*w = w[-1];
	s->n_words = (uint32_t)(w - s->words);
	s->fp = start->fp;
	s->needs_fp = inner->needs_fp;
	s->tag = tag;
	s->is_known = 1;
}
