/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unwind/trail.h"

#include "unwind/memory.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define SKIP_BITS 6 /* after walks that failed up to 2^6 - 1 are not tried */

enum found { NOT_FOR_THE_TRAIL, MET, WHOLE };

/* What a walk goes by. */
struct walk {
	const struct mew_unwind_table *table;
	size_t space_bytes;
	const struct mew_walk_stack *stack;
	uint64_t lo, hi; /* of the stack */
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
	if (trail->generation != generation)
		for (unsigned i = 0; i < 1u << MEW_TRAIL_QUICK_BITS; i++)
			__atomic_store_n(&trail->quick[i].pc, 0, __ATOMIC_RELAXED);
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
static ALWAYS_INLINE int is_met(const struct mew_trail *trail, const struct walk *w,
				const struct mew_trail_frame *old, const struct mew_walk_frame *f,
				uint32_t *n_valid)
{
	if (old->pc != f->pc || (old->needs_fp && (!f->fp_known || old->fp != f->fp)))
		return 0;
	/* None of the words is below old->sp. */
	if (f->sp < w->lo || old->end > w->hi)
		return 0;
	if (*n_valid == UINT32_MAX)
		*n_valid = count_valid(trail->words, old->n_words, w->shift);
	return old->n_words <= *n_valid;
}

/* The next frame of the same pc may be left quickly, if all of its rule is that. */
static void remember(struct mew_trail *trail, uint64_t pc, const struct mew_rule *rule)
{
	int32_t fp_off = rule->fp == MEW_FP_AT_CFA ? rule->fp_off * 8 : 0;

	if (rule->cfa != MEW_CFA_SP || rule->ra_off != -1 || rule->cfa_off <= 0 ||
	    rule->cfa_off % 8 || MEW_CPU_HAS_LR)
		return;
	/* fp is kept, or at a place in the frame. */
	if (rule->fp != MEW_FP_SAME &&
	    (rule->fp != MEW_FP_AT_CFA || fp_off >= 0 || fp_off < -rule->cfa_off))
		return;
	*mew_trail_quick_of(trail, pc) = (struct mew_trail_quick){pc, rule->cfa_off, fp_off};
}

/* mew_walk_step() for a frame that can be left quickly, as long as all of it is in the stack: f
 * becomes its caller. 0: it is another one. */
static ALWAYS_INLINE int step_quickly(const struct walk *w, const struct mew_trail_quick *quick,
				      struct mew_walk_frame *f)
{
	uint64_t cfa = f->sp + (uint64_t)(int64_t)quick->cfa_off;

	if (quick->pc != f->pc || cfa > w->hi || cfa % 8)
		return 0;
	f->pc = mew_stack_known_word(w->shift, cfa - 8);
	f->sp = cfa;
	if (quick->fp_off) {
		f->fp = mew_stack_known_word(w->shift, cfa + (uint64_t)(int64_t)quick->fp_off);
		f->fp_known = 1;
	}
	return 1;
}

/* mew_walk_step() for any other frame. */
static __attribute__((noinline)) int step_slowly(struct mew_trail *trail, const struct walk *w,
						 struct mew_trail_step *step)
{
	int end = mew_walk_step(w->table, w->space_bytes, w->stack, w->cache, &step->frame,
				&step->rule, &step[1].frame);

	step->is_quick = 0;
	if (!end)
		remember(trail, step->frame.pc, &step->rule);
	return end;
}

/*
 * Steps outwards from f until a remembered frame is met with all that it depends on, or the stack
 * ends. *ret_kept: how many remembered frames stay. The frame stays in registers, whose addresses
 * nobody takes.
 */
static ALWAYS_INLINE enum found look(struct mew_trail *trail, const struct walk *w,
				     struct mew_walk_frame f, uint32_t *ret_kept)
{
	const struct mew_trail_frame *old = trail->frames + trail->n_frames;
	const uint64_t root_lo = w->root->lo, root_bytes = w->root->hi - root_lo;
	struct mew_trail_step *step = trail->steps, *last = step + MEW_TRAIL_FRAMES;
	uint32_t n_valid = UINT32_MAX;
	enum found found = NOT_FOR_THE_TRAIL;
	int end = 0;

	*ret_kept = 0;
	step->frame = f;
	while (step < last) {
		const struct mew_trail_quick *quick = mew_trail_quick_of(trail, f.pc);

		while (old > trail->frames && old[-1].sp < f.sp)
			old--;
		if (old > trail->frames && old[-1].sp == f.sp &&
		    is_met(trail, w, &old[-1], &f, &n_valid)) {
			*ret_kept = (uint32_t)(old - trail->frames);
			found = MET;
			break;
		}
		if (step_quickly(w, quick, &f)) {
			step->is_quick = 1;
			step->fp_off = quick->fp_off;
			step[1].frame = f;
		} else {
			end = step_slowly(trail, w, step);
			f = step[1].frame;
		}
		step++;
		if (end) {
			found = end == MEW_WALK_OUTERMOST ? WHOLE : NOT_FOR_THE_TRAIL;
			break;
		}
		/* A word 0 is where the ABI and hand-made stacks end; one that should come to a
		 * root is for mew_walk() to tell. */
		if (__builtin_expect(f.pc - root_lo < root_bytes || !f.pc, 0)) {
			found = f.pc || !w->root->hi ? WHOLE : NOT_FOR_THE_TRAIL;
			break;
		}
	}
	trail->n_steps = (uint32_t)(step - trail->steps);
	trail->is_left = !end;
	/* What is met ends as it did. */
	if (found == WHOLE)
		trail->is_outermost = end != 0;
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

/* add_words() for a frame that was left quickly: they were read already. */
static inline void add_quick_words(struct words *words, const struct mew_trail_step *step,
				   uint32_t *needs_fp)
{
	uint64_t cfa = step[1].frame.sp;

	*words->next++ = (struct mew_trail_word){cfa - 8, step[1].frame.pc};
	if (words->end < cfa)
		words->end = cfa;
	if (*needs_fp && step->fp_off) {
		uint64_t at = cfa + (uint64_t)(int64_t)step->fp_off;

		*words->next++ = (struct mew_trail_word){at, step[1].frame.fp};
		*needs_fp = 0;
	}
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

		if (is_left && step->is_quick)
			add_quick_words(&words, step, &needs_fp);
		else if (is_left && add_words(&words, step, &needs_fp))
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
	struct walk w = {.table = t,
			 .space_bytes = space_bytes,
			 .stack = stack,
			 .lo = stack->lo,
			 .hi = stack->hi,
			 .shift = mew_stack_shift(stack),
			 .root = root,
			 .cache = cache};
	struct mew_walk_frame f = {start->pc, start->sp, start->fp, 1};
	uint32_t kept;

	if (!start->pc)
		return 0;
	if (trail->n_skip > 0) {
		trail->n_skip--;
		return 0;
	}
	check_stamp(trail, t, root);
	mew_walk_cache_check(cache, t);
	if (look(trail, &w, f, &kept) == NOT_FOR_THE_TRAIL)
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
