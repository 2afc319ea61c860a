/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unwind/trail.h"

#include "unwind/cpu.h"
#include "unwind/memory.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define SKIP_BITS 6 /* after walks that failed up to 2^6 - 1 are not tried */

enum found { NOT_FOR_THE_TRAIL, MET, AT_ROOT, NOT_CALLED };

/* What a walk goes by. */
struct walk {
	const struct mew_unwind_table *table;
	size_t space_bytes;
	const struct mew_walk_stack *stack;
	const struct mew_walk_root *root;
	struct mew_walk_cache *cache;
};

static inline int is_in(const struct mew_walk_root *root, uint64_t pc)
{
	return pc >= root->lo && pc < root->hi;
}

/* Nothing is remembered that does not hold for this walk. */
static ALWAYS_INLINE void check_stamp(struct mew_trail *trail, const struct walk *w)
{
	uint64_t generation = __atomic_load_n(&w->table->generation, __ATOMIC_ACQUIRE);
	uint64_t hi = w->stack->hi;

	if (__builtin_expect(trail->hi == hi && trail->generation == generation &&
				     trail->root.lo == w->root->lo && trail->root.hi == w->root->hi,
			     1))
		return;
	if (trail->generation != generation || trail->root.lo != w->root->lo ||
	    trail->root.hi != w->root->hi)
		for (unsigned i = 0; i < 1u << MEW_TRAIL_QUICK_BITS; i++)
			__atomic_store_n(&trail->quick[i].pc, 0, __ATOMIC_RELAXED);
	trail->n_frames = trail->n_tagged = 0;
	trail->hi = hi;
	trail->generation = generation;
	trail->root.lo = w->root->lo;
	trail->root.hi = w->root->hi;
}

/* ---- remembered frames ---- */

/* 0: the word on the stack is the pc of f. */
static inline uint64_t differs(const struct mew_trail_frame *f, uintptr_t shift)
{
	return mew_cpu_return_address(mew_stack_known_word(shift, f->at)) ^ f->pc;
}

/* Whether leaving f and all frames outside of it reads what it read. All of it is in the stack. */
static ALWAYS_INLINE int is_left_alike(const struct mew_trail *trail,
				       const struct mew_trail_frame *f, uintptr_t shift)
{
	const struct mew_trail_frame *outer = mew_trail_first_found(trail);
	const struct mew_trail_word *word = trail->words, *end = word + f->n_words;

	/* By fours: which of them differs is of no interest. */
	for (; f - outer >= 4; outer += 4)
		if (differs(&outer[0], shift) | differs(&outer[1], shift) |
		    differs(&outer[2], shift) | differs(&outer[3], shift))
			return 0;
	for (; outer < f; outer++)
		if (differs(outer, shift))
			return 0;
	for (; word < end; word++)
		if (mew_stack_known_word(shift, word->at) != word->value)
			return 0;
	return 1;
}

/* The innermost frame from which on outwards all is what it was; frames[0]: none. */
static __attribute__((noinline)) struct mew_trail_frame *
innermost_alike(struct mew_trail *trail, struct mew_trail_frame *f, uintptr_t shift)
{
	const struct mew_trail_frame *outer = mew_trail_first_found(trail);
	uint32_t n_alike = 0;

	while (outer < f && !differs(outer, shift))
		outer++;
	while (n_alike < f->n_words &&
	       mew_stack_known_word(shift, trail->words[n_alike].at) == trail->words[n_alike].value)
		n_alike++;
	f = &trail->frames[outer - trail->frames];
	while (f > trail->frames && f->n_words > n_alike)
		f--;
	return f;
}

/* ---- steps ---- */

/* The next frame of the same pc may be left quickly, if all of its rule is that. */
static void remember(struct mew_trail *trail, uint64_t pc, const struct mew_rule *rule)
{
	int32_t fp_off = rule->fp == MEW_FP_AT_CFA ? rule->fp_off * 8 : 0;

	if (rule->cfa != MEW_CFA_SP || rule->ra_off != -1 || rule->cfa_off <= 0 ||
	    rule->cfa_off % 8 || MEW_CPU_HAS_LR || is_in(&trail->root, pc))
		return;
	/* fp is kept, or at a place in the frame. */
	if (rule->fp != MEW_FP_SAME &&
	    (rule->fp != MEW_FP_AT_CFA || fp_off >= 0 || fp_off < -rule->cfa_off))
		return;
	*mew_trail_quick_of(trail, pc) = (struct mew_trail_quick){pc, rule->cfa_off, fp_off};
}

/* Any other frame than one that is left quickly: mew_walk_step(). */
static __attribute__((noinline)) int step_slowly(struct mew_trail *trail, const struct walk *w,
						 struct mew_trail_step *step)
{
	int64_t ra_off;
	int end;

	mew_walk_cache_check(w->cache, w->table);
	end = mew_walk_step(w->table, w->space_bytes, w->stack, w->cache, &step->frame, &step->rule,
			    &step[1].frame);
	step->is_quick = 0;
	if (end)
		return end;
	ra_off = step->rule.ra_off;
	step[1].at = ra_off ? step[1].frame.sp + (uint64_t)(ra_off * 8) : 0;
	remember(trail, step->frame.pc, &step->rule);
	return 0;
}

/* The last step has come to old, whose pc it found: how many frames stay. */
static ALWAYS_INLINE uint32_t keep(const struct mew_trail *trail, const struct mew_trail_step *step,
				   struct mew_trail_frame *old, uint64_t pc)
{
	/* One that was the innermost was not found on the stack; it is now. */
	if (step > trail->steps) {
		old->pc = pc;
		old->at = step->at;
	}
	return (uint32_t)(old - trail->frames);
}

/*
 * Steps outwards from f until a remembered frame is met with all that it depends on, or the stack
 * ends. *ret_kept: how many remembered frames stay. The frame stays in registers, whose addresses
 * nobody takes.
 */
static ALWAYS_INLINE enum found look(struct mew_trail *trail, const struct walk *w,
				     struct mew_walk_frame f, uint32_t *ret_kept)
{
	struct mew_trail_frame *old = &trail->frames[trail->n_frames];
	struct mew_trail_step *step = trail->steps, *last = step + MEW_TRAIL_FRAMES;
	const uintptr_t shift = mew_stack_shift(w->stack);
	const uint64_t hi = w->stack->hi;
	enum found found = NOT_FOR_THE_TRAIL;
	int is_alike = 0;

	trail->frames[0].sp = UINT64_MAX; /* where the search for sp ends */
	step->frame = f;
	step->at = 0;
	for (; step < last; step++) {
		const struct mew_trail_quick *quick = mew_trail_quick_of(trail, f.pc);
		uint64_t cfa;
		int end;

		while (old->sp < f.sp)
			old--;
		if (old->sp == f.sp && old->pc == f.pc &&
		    (!old->needs_fp || (f.fp_known && old->fp == f.fp))) {
			if (!is_alike && !is_left_alike(trail, old, shift))
				old = innermost_alike(trail, old, shift);
			is_alike = 1;
			if (old->sp == f.sp) {
				found = MET;
				break;
			}
		}
		cfa = f.sp + (uint64_t)(int64_t)quick->cfa_off;
		if (quick->pc == f.pc && f.pc && cfa <= hi) {
			step->is_quick = 1;
			step->fp_off = quick->fp_off;
			f.pc = mew_stack_known_word(shift, cfa - 8);
			f.sp = cfa;
			if (quick->fp_off) {
				uint64_t at = cfa + (uint64_t)(int64_t)quick->fp_off;

				f.fp = mew_stack_known_word(shift, at);
				f.fp_known = 1;
			}
			step[1].frame = f;
			step[1].at = cfa - 8;
			continue;
		}
		/* A word 0 is where the ABI and hand-made stacks end; one that should come to a
		 * root is for mew_walk() to tell. */
		if (step > trail->steps && (!f.pc || is_in(w->root, f.pc))) {
			found = f.pc || !w->root->hi ? AT_ROOT : NOT_FOR_THE_TRAIL;
			break;
		}
		end = step_slowly(trail, w, step);
		if (end == MEW_WALK_OUTERMOST) {
			found = NOT_CALLED;
			step->is_quick = 1; /* nothing was read */
			step->fp_off = 0;
			step++;
		}
		if (end)
			break;
		f = step[1].frame;
	}
	trail->n_steps = (uint32_t)(step - trail->steps);
	if (found != NOT_FOR_THE_TRAIL)
		*ret_kept = keep(trail, step, found == MET ? old : trail->frames, f.pc);
	if (found != NOT_FOR_THE_TRAIL && found != MET)
		trail->is_outermost = found == NOT_CALLED;
	return found;
}

/* ---- words ---- */

/* Words that are being added. */
struct words {
	const struct mew_walk_stack *stack;
	struct mew_trail_word *next;
};

/* A word that leaving the frame at sp may have read. -1: it did not, or below sp, where it could
 * not be read when the frame is met from another one. */
static inline int add_word(struct words *words, uint64_t at, uint64_t sp)
{
	if (at < sp || !mew_stack_has(words->stack, at, sizeof(uint64_t)))
		return -1;
	*words->next++ = (struct mew_trail_word){
		at, mew_stack_known_word(mew_stack_shift(words->stack), at)};
	return 0;
}

/*
 * The words that leaving a frame has read, beside the return address. *needs_fp: the frame outside
 * of it depends on its fp; then: this one does. -1: this is not for the trail.
 */
static __attribute__((noinline)) int
add_words(struct words *words, const struct mew_trail_step *step, uint32_t *needs_fp)
{
	const struct mew_rule *rule = &step->rule;
	uint64_t sp = step->frame.sp, fp = step->frame.fp, cfa = step[1].frame.sp;
	uint64_t cfa_off = (uint64_t)(int64_t)rule->cfa_off;
	uint64_t fp_off = (uint64_t)((int64_t)rule->fp_off * 8);
	int rc = 0, outer_needs_fp = *needs_fp != 0;

	/* 0: not on the stack. */
	if (!rule->ra_off)
		return -1;
	*needs_fp = rule->cfa == MEW_CFA_FP || rule->cfa == MEW_CFA_DEREF_FP;
	if (rule->cfa == MEW_CFA_DEREF_FP)
		rc = add_word(words, fp + cfa_off, sp);
	else if (rule->cfa == MEW_CFA_DEREF_SP)
		rc = add_word(words, sp + cfa_off, sp);
	if (rc || !outer_needs_fp)
		return rc;
	if (rule->fp == MEW_FP_AT_CFA)
		return add_word(words, cfa + fp_off, sp);
	*needs_fp = 1;
	if (rule->fp == MEW_FP_AT_FP)
		return add_word(words, fp + fp_off, sp);
	return rule->fp == MEW_FP_SAME ? 0 : -1;
}

/* The steps become frames, outermost first, inside of those that are kept. */
static ALWAYS_INLINE int push(struct mew_trail *trail, const struct mew_walk_stack *stack,
			      uint32_t kept)
{
	struct mew_trail_frame *f = &trail->frames[kept];
	const struct mew_trail_step *step = &trail->steps[trail->n_steps];
	struct words words = {stack, trail->words};
	uint32_t needs_fp = 0;

	if (trail->n_steps > MEW_TRAIL_FRAMES - kept)
		return -1;
	if (kept) {
		words.next += f->n_words;
		needs_fp = f->needs_fp;
	}
	while (step-- > trail->steps) {
		if (!step->is_quick) {
			if (add_words(&words, step, &needs_fp))
				return -1;
		} else if (needs_fp && step->fp_off) {
			*words.next++ = (struct mew_trail_word){
				step[1].frame.sp + (uint64_t)(int64_t)step->fp_off,
				step[1].frame.fp};
			needs_fp = 0;
		}
		f++;
		f->pc = step->frame.pc;
		f->sp = step->frame.sp;
		f->fp = step->frame.fp;
		f->at = step->at;
		f->n_words = (uint32_t)(words.next - trail->words);
		f->needs_fp = needs_fp;
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
	struct walk w = {t, space_bytes, stack, root, cache};
	struct mew_walk_frame f = {start->pc, start->sp, start->fp, 1};
	uint32_t kept;

	if (!start->pc || start->sp < stack->lo || start->sp % 8)
		return 0;
	if (trail->n_skip > 0) {
		trail->n_skip--;
		return 0;
	}
	check_stamp(trail, &w);
	if (look(trail, &w, f, &kept) == NOT_FOR_THE_TRAIL)
		return fail(trail);
	if (push(trail, stack, kept)) {
		trail->n_frames = trail->n_tagged = 0;
		return fail(trail);
	}
	trail->n_frames = kept + trail->n_steps;
	if (trail->n_tagged > kept)
		trail->n_tagged = kept;
	trail->n_failed = 0;
	return 1;
}
