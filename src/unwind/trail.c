/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unwind/trail.h"

#include "unwind/memory.h"

#define SKIP_BITS 6 /* after walks that failed up to 2^6 - 1 are not tried */

enum found { NOT_FOR_THE_TRAIL, MET, WHOLE };

/* What a walk goes by. */
struct walk {
	const struct mew_unwind_table *table;
	size_t space_bytes;
	const struct mew_walk_stack *stack;
	uintptr_t shift;
	const struct mew_walk_root *root;
	struct mew_walk_cache *cache;
};

static void check_stamp(struct mew_trail *trail, const struct mew_unwind_table *t,
			const struct mew_walk_root *root)
{
	uint64_t generation = __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE);

	if (trail->generation == generation && trail->root.lo == root->lo &&
	    trail->root.hi == root->hi)
		return;
	trail->n_frames = trail->n_tagged = 0;
	trail->generation = generation;
	trail->root.lo = root->lo;
	trail->root.hi = root->hi;
}

/* How many of the first n words, which are all in the stack, hold what they held. */
static uint32_t count_valid(const struct mew_trail_word *words, uint32_t n, uintptr_t shift)
{
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4) {
		const struct mew_trail_word *w = &words[i];

		if ((mew_stack_known_word(shift, w[0].at) ^ w[0].value) |
		    (mew_stack_known_word(shift, w[1].at) ^ w[1].value) |
		    (mew_stack_known_word(shift, w[2].at) ^ w[2].value) |
		    (mew_stack_known_word(shift, w[3].at) ^ w[3].value))
			break;
	}
	while (i < n && mew_stack_known_word(shift, words[i].at) == words[i].value)
		i++;
	return i;
}

/*
 * Whether f is the remembered frame old, at the same sp, and the words of the stack are the same
 * too. *n_valid: how many of the first words are; UINT32_MAX: nobody has looked. Frames are met
 * from the inside, so those asked for later depend on fewer words.
 */
static inline int is_met(const struct mew_trail *trail, const struct mew_walk_stack *stack,
			 const struct mew_trail_frame *old, const struct mew_walk_frame *f,
			 uint32_t *n_valid)
{
	if (old->pc != f->pc || (old->needs_fp && (!f->fp_known || old->fp != f->fp)))
		return 0;
	/* None of the words is below old->sp. */
	if (f->sp < stack->lo || old->end > stack->hi)
		return 0;
	if (*n_valid == UINT32_MAX)
		*n_valid = count_valid(trail->words, old->n_words, mew_stack_shift(stack));
	return old->n_words <= *n_valid;
}

/*
 * mew_walk_step() for what nearly all frames are: known to the cache, with a CFA that is counted
 * from sp, as long as all of it is in the stack. 0: it is another one.
 */
static inline int step_quickly(const struct mew_walk_stack *stack, uintptr_t shift,
			       const struct mew_walk_cache *cache, struct mew_trail_step *step)
{
	const struct mew_walk_entry *known = mew_walk_cached(cache, step->frame.pc - 1);
	uint64_t sp = step->frame.sp, cfa, fp_at;

	if (!known)
		return 0;
	step->rule = *known->rule;
	cfa = sp + (uint64_t)(int64_t)step->rule.cfa_off;
	fp_at = cfa + (uint64_t)((int64_t)step->rule.fp_off * 8);
	if (step->rule.cfa != MEW_CFA_SP || step->rule.ra_off != -1 || MEW_CPU_HAS_LR ||
	    step->rule.fp > MEW_FP_AT_CFA || cfa <= sp || cfa > stack->hi || cfa % 8)
		return 0;
	step[1].frame.fp = step->frame.fp;
	step[1].frame.fp_known = step->frame.fp_known;
	if (step->rule.fp == MEW_FP_AT_CFA) {
		if (fp_at < sp || fp_at >= cfa)
			return 0;
		step[1].frame.fp = mew_stack_known_word(shift, fp_at);
		step[1].frame.fp_known = 1;
	}
	step[1].frame.pc = mew_stack_known_word(shift, cfa - 8);
	step[1].frame.sp = cfa;
	return 1;
}

/* Steps outwards until a remembered frame is met with all that it depends on, or the stack ends.
 * *ret_kept: how many remembered frames stay. */
static enum found look(struct mew_trail *trail, const struct walk *w, uint32_t *ret_kept)
{
	const struct mew_trail_frame *old = trail->frames + trail->n_frames;
	const struct mew_walk_root root = *w->root;
	struct mew_trail_step *step = trail->steps;
	uint32_t n_valid = UINT32_MAX;
	enum found found = NOT_FOR_THE_TRAIL;
	int end = 0;

	*ret_kept = 0;
	while (step < trail->steps + MEW_TRAIL_FRAMES) {
		uint64_t sp = step->frame.sp, pc;

		while (old > trail->frames && old[-1].sp < sp)
			old--;
		if (old > trail->frames && old[-1].sp == sp &&
		    is_met(trail, w->stack, &old[-1], &step->frame, &n_valid)) {
			*ret_kept = (uint32_t)(old - trail->frames);
			found = MET;
			break;
		}
		if (!step_quickly(w->stack, w->shift, w->cache, step))
			end = mew_walk_step(w->table, w->space_bytes, w->stack, w->cache,
					    &step->frame, &step->rule, &step[1].frame);
		step++;
		if (end) {
			found = end == MEW_WALK_OUTERMOST ? WHOLE : NOT_FOR_THE_TRAIL;
			break;
		}
		pc = step->frame.pc;
		/* A word 0 is where the ABI and hand-made stacks end; one that should come to a
		 * root is for mew_walk() to tell. */
		if (!pc && root.hi)
			break;
		if (!pc || pc - root.lo < root.hi - root.lo) {
			found = WHOLE;
			break;
		}
	}
	trail->n_steps = (uint32_t)(step - trail->steps);
	trail->is_left = !end;
	return found;
}

/* Words that are being added. */
struct words {
	const struct mew_walk_stack *stack;
	uintptr_t shift;
	struct mew_trail_word *next;
	uint64_t end;
};

static inline void add(struct words *words, uint64_t at)
{
	words->next->at = at;
	words->next->value = mew_stack_known_word(words->shift, at);
	words->next++;
	if (words->end < at + sizeof(uint64_t))
		words->end = at + sizeof(uint64_t);
}

/* A word that leaving the frame at sp may have read. -1: it did not, or below sp, where it could
 * not be read when the frame is met from another one. */
static inline int add_checked(struct words *words, uint64_t at, uint64_t sp)
{
	if (at < sp || !mew_stack_has(words->stack, at, sizeof(uint64_t)))
		return -1;
	add(words, at);
	return 0;
}

/*
 * The words that leaving a frame has read. *needs_fp: the frame outside of it depends on its fp;
 * then: this one does. -1: this is not for the trail.
 */
static int add_words(struct words *words, const struct mew_trail_step *step, uint32_t *needs_fp)
{
	const struct mew_rule *rule = &step->rule;
	uint64_t sp = step->frame.sp, fp = step->frame.fp, cfa = step[1].frame.sp;
	uint64_t cfa_off = (uint64_t)(int64_t)rule->cfa_off;
	uint64_t fp_off = (uint64_t)((int64_t)rule->fp_off * 8);
	int rc = 0, outer_needs_fp = *needs_fp != 0;

	/* 0: not on the stack. */
	if (!rule->ra_off)
		return -1;
	add(words, cfa + (uint64_t)((int64_t)rule->ra_off * 8));
	*needs_fp = rule->cfa == MEW_CFA_FP || rule->cfa == MEW_CFA_DEREF_FP;
	if (rule->cfa == MEW_CFA_DEREF_FP)
		rc = add_checked(words, fp + cfa_off, sp);
	else if (rule->cfa == MEW_CFA_DEREF_SP)
		rc = add_checked(words, sp + cfa_off, sp);
	if (rc || !outer_needs_fp)
		return rc;
	if (rule->fp == MEW_FP_AT_CFA)
		return add_checked(words, cfa + fp_off, sp);
	*needs_fp = 1;
	if (rule->fp == MEW_FP_AT_FP)
		return add_checked(words, fp + fp_off, sp);
	return rule->fp == MEW_FP_SAME ? 0 : -1;
}

/* The steps become frames, outermost first, inside of those that are kept. */
static int push(struct mew_trail *trail, const struct mew_walk_stack *stack, uint32_t kept)
{
	struct mew_trail_frame *f = &trail->frames[kept];
	struct words words = {stack, mew_stack_shift(stack), trail->words, 0};
	int is_left = trail->is_left;
	uint32_t needs_fp = 0;

	if (trail->n_steps > MEW_TRAIL_FRAMES - kept)
		return -1;
	if (kept) {
		words.next += f[-1].n_words;
		words.end = f[-1].end;
		needs_fp = f[-1].needs_fp;
	}
	for (uint32_t i = trail->n_steps; i-- > 0; f++) {
		const struct mew_trail_step *step = &trail->steps[i];

		if (is_left && add_words(&words, step, &needs_fp))
			return -1;
		f->pc = step->frame.pc;
		f->sp = step->frame.sp;
		f->fp = step->frame.fp;
		f->end = words.end;
		f->n_words = (uint32_t)(words.next - trail->words);
		f->needs_fp = needs_fp;
		is_left = 1;
	}
	return 0;
}

static int fail(struct mew_trail *trail)
{
	if (trail->n_failed < SKIP_BITS)
		trail->n_failed++;
	trail->n_skip = (1u << trail->n_failed) - 1;
	return 0;
}

int mew_trail_walk(struct mew_trail *trail, const struct mew_unwind_table *t, size_t space_bytes,
		   const struct mew_walk_start *start, const struct mew_walk_stack *stack,
		   const struct mew_walk_root *root, struct mew_walk_cache *cache)
{
	struct walk w = {t, space_bytes, stack, mew_stack_shift(stack), root, cache};
	struct mew_walk_frame *f = &trail->steps[0].frame;
	uint32_t kept;

	if (trail->n_skip > 0) {
		trail->n_skip--;
		return 0;
	}
	check_stamp(trail, t, root);
	mew_walk_cache_check(cache, t);
	f->pc = start->pc;
	f->sp = start->sp;
	f->fp = start->fp;
	f->fp_known = 1;
	if (look(trail, &w, &kept) == NOT_FOR_THE_TRAIL)
		return fail(trail);
	trail->n_frames = kept;
	if (trail->n_tagged > kept)
		trail->n_tagged = kept;
	if (push(trail, stack, kept)) {
		trail->n_frames = trail->n_tagged = 0;
		return fail(trail);
	}
	trail->n_frames = kept + trail->n_steps;
	trail->n_failed = 0;
	return 1;
}
