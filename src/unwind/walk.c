/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/walk.h"

#include <stdbool.h>

#include "unwind/cpu.h"
#include "unwind/evaluate.h"
#include "unwind/memory.h"

_Static_assert(MEW_WALK_REGS > MEW_CPU_PC, "registers up to the pc");
_Static_assert(MEW_CPU_SAVED_N <= MEW_RULE_REGS, "a rule has room for what a CPU's functions save");

#define SIGNAL_FRAMES_MAX 16 /* each may change the stack, so that sp no longer proves progress */
#define FRAME_BYTES_MAX (64u << 20) /* a CFA further above the copy than this is no stack's */

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* One frame. A copy of the registers would cost more than the step, so they are pointed to. */
struct frame {
	uint64_t pc, sp, fp;
	const uint64_t *regs; /* other registers, if they are followed or the frame is exact */
	uint64_t known;       /* bit i: regs[i] is */
	bool fp_known;
	bool exact; /* pc is where it runs, not a return address */
};

static inline uint64_t known_of(const struct frame *f, bool follow)
{
	return f->exact || follow ? f->known : 0;
}

/* What a walk goes by. */
struct walk {
	const struct mew_unwind_table *table;
	size_t space_bytes;
	const struct mew_walk_stack *stack;
	uint64_t regs[MEW_WALK_REGS]; /* what frame.regs may point to */
	struct mew_walk_stack other;  /* of what a signal interrupted, if that is another stack */
	bool elsewhere;               /* so it is, and it is not known */
	enum mew_walk_end no_rule;    /* why w->rule is none */
	bool missing; /* a rule asked for a register that the frames below may have saved */
	uint32_t n_frames, n_by_fp;
	unsigned n_signals;
	struct mew_rule rule; /* of a frame that is no ordinary one */
};

#define RARE (-1) /* no end of a walk: the frame in hand is left by walk.rule in another way */

/* Why the word at `at` cannot be read. */
static enum mew_walk_end unreadable(const struct mew_walk_stack *s, uint64_t at)
{
	uint64_t above = at > s->hi ? at - s->hi : 0;

	if (at < s->lo || at % 8 || above > FRAME_BYTES_MAX)
		return MEW_WALK_BAD;
	return MEW_WALK_CUT;
}

/* In the table. NULL: none, and *ret_end. */
static __attribute__((noinline)) const struct mew_rule *
look_up(const struct walk *w, uint64_t pc, struct mew_walk_entry *entry, enum mew_walk_end *ret_end)
{
	const struct mew_unwind_table_module *module = NULL;
	const struct mew_rule *rule;

	rule = mew_unwind_table_find(w->table, w->space_bytes, pc, &module);
	*ret_end = module ? MEW_WALK_NO_RULE : MEW_WALK_NO_MODULE;
	if (entry && rule) {
		entry->pc = pc;
		entry->rule = rule;
	}
	return rule;
}

/* Through the cache. */
static ALWAYS_INLINE const struct mew_rule *find_rule(const struct walk *w, uint64_t pc,
						      struct mew_walk_cache *cache,
						      enum mew_walk_end *ret_end)
{
	unsigned slot = (pc * 0x9e3779b97f4a7c15u) >> (64 - MEW_WALK_CACHE_BITS);

	if (!cache)
		return look_up(w, pc, NULL, ret_end);
	if (cache->entries[slot].pc == pc && cache->entries[slot].rule)
		return cache->entries[slot].rule;
	cache->n_misses++;
	return look_up(w, pc, &cache->entries[slot], ret_end);
}

void mew_walk_cache_check(struct mew_walk_cache *cache, const struct mew_unwind_table *t)
{
	uint64_t generation = __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE);
	size_t i;

	if (cache->generation == generation)
		return;
	/* Atomic, so that the loop does not become a call of memset. */
	for (i = 0; i < sizeof(cache->entries) / sizeof(cache->entries[0]); i++)
		__atomic_store_n(&cache->entries[i].rule, NULL, __ATOMIC_RELAXED);
	cache->generation = generation;
}

/* 0, or how the walk ends: never at its root. So do all that follow. */
static ALWAYS_INLINE int find_cfa(struct walk *w, const struct mew_walk_stack *stack,
				  const struct mew_rule *rule, const struct frame *f, bool follow,
				  uint64_t *ret_cfa)
{
	uint64_t off = (uint64_t)(int64_t)rule->cfa_off, at;

	switch (rule->cfa) {
	case MEW_CFA_SP:
		*ret_cfa = f->sp + off;
		return 0;
	case MEW_CFA_FP:
		if (!f->fp_known)
			return MEW_WALK_EVALUATE;
		*ret_cfa = f->fp + off;
		return 0;
	case MEW_CFA_OTHER:
		if (rule->aux >= MEW_WALK_REGS || !(known_of(f, follow) >> rule->aux & 1)) {
			w->missing = true;
			return MEW_WALK_EVALUATE;
		}
		*ret_cfa = f->regs[rule->aux] + off;
		return 0;
	case MEW_CFA_PLT:
		*ret_cfa = mew_cpu_plt_cfa(f->pc, f->sp, rule->aux);
		return 0;
	case MEW_CFA_DEREF_FP:
		if (!f->fp_known)
			return MEW_WALK_EVALUATE;
		at = f->fp + off;
		break;
	case MEW_CFA_DEREF_SP:
		at = f->sp + off;
		break;
	case MEW_CFA_END:
		return MEW_WALK_OUTERMOST;
	default:
		w->rule = *rule;
		return RARE;
	}
	if (!mew_stack_word(stack, at, ret_cfa)) {
		return unreadable(w->stack, at);
	}
	if (rule->cfa == MEW_CFA_DEREF_SP)
		*ret_cfa += rule->aux;
	return 0;
}

/*
 * Whether a slot that cannot be read was popped: compilers leave the rule in place after the pop of
 * an epilogue. The slot is below sp then, where a copied stack begins, and the register holds its
 * value again.
 */
static inline bool is_popped(const struct frame *f, uint64_t at)
{
	return f->exact && at < f->sp && f->sp - at <= MEW_CPU_RED_ZONE;
}

/* The caller's frame pointer; f is still the callee. */
static ALWAYS_INLINE void restore_fp(const struct mew_walk_stack *stack,
				     const struct mew_rule *rule, struct frame *f, uint64_t cfa)
{
	uint64_t at = (uint64_t)((int64_t)rule->fp_off * 8);

	switch (rule->fp) {
	case MEW_FP_SAME:
		return;
	case MEW_FP_AT_CFA:
		at += cfa;
		break;
	case MEW_FP_AT_FP:
		at += f->fp;
		if (f->fp_known)
			break;
		return;
	default:
		f->fp_known = false;
		return;
	}
	if (mew_stack_word(stack, at, &f->fp))
		f->fp_known = true;
	else if (!is_popped(f, at))
		f->fp_known = false;
}

/* The caller's other registers, in w->regs; which of them are known. f is still the callee. */
static uint64_t restore_others(struct walk *w, const struct mew_rule *rule, struct frame f,
			       uint64_t cfa)
{
	const struct mew_unwind_table_module *module = NULL;
	const struct mew_rule_saves *saves = NULL;
	uint64_t known = f.known & MEW_CPU_SAVED_MASK;
	unsigned i;

	mew_unwind_table_find(w->table, w->space_bytes, f.exact ? f.pc : f.pc - 1, &module);
	if (module)
		saves = mew_unwind_table_saves(w->table, w->space_bytes, module, rule->saves);
	for (i = 0; i < MEW_CPU_SAVED_N; i++) {
		unsigned reg = mew_cpu_saved[i], kind = saves ? saves->of[i].at : MEW_FP_UNDEFINED;
		uint64_t at = saves ? (uint64_t)((int64_t)saves->of[i].off * 8) : 0;

		if (kind == MEW_FP_SAME)
			continue;
		at += kind == MEW_FP_AT_FP ? f.fp : cfa;
		if ((kind == MEW_FP_AT_CFA || (kind == MEW_FP_AT_FP && f.fp_known)) &&
		    mew_stack_word(w->stack, at, &w->regs[reg]))
			known |= (uint64_t)1 << reg;
		else if (kind == MEW_FP_UNDEFINED || !is_popped(&f, at))
			known &= ~((uint64_t)1 << reg);
	}
	return known;
}

/* The return address. */
static ALWAYS_INLINE int find_return(struct walk *w, const struct mew_walk_stack *stack,
				     const struct mew_rule *rule, const struct frame *f,
				     bool follow, uint64_t cfa, uint64_t *ret)
{
	bool in_register = MEW_CPU_HAS_LR && !rule->ra_off;
	uint64_t at = cfa + (uint64_t)((int64_t)rule->ra_off * 8);

	/* Only a frame that has stored nothing begins where it ends. */
	if (cfa < f->sp || (cfa == f->sp && !in_register) || cfa % 8)
		return MEW_WALK_BAD;
	if (in_register) {
		if (!(known_of(f, follow) >> MEW_CPU_LR & 1))
			return MEW_WALK_BAD;
		*ret = f->regs[MEW_CPU_LR];
	} else if (at < f->sp) {
		return MEW_WALK_BAD;
	} else if (!mew_stack_word(stack, at, ret)) {
		return unreadable(w->stack, at);
	}
	*ret = mew_cpu_return_address(*ret);
	return 0;
}

/* Leaves an ordinary frame: f becomes its caller. follow: with its other registers. */
static ALWAYS_INLINE int leave(struct walk *w, const struct mew_walk_stack *stack,
			       const struct mew_rule *rule, struct frame *f, bool follow)
{
	uint64_t cfa, pc;
	int rc;

	rc = find_cfa(w, stack, rule, f, follow, &cfa);
	if (rc)
		return rc;
	rc = find_return(w, stack, rule, f, follow, cfa, &pc);
	if (rc)
		return rc;
	if (follow)
		f->known = restore_others(w, rule, *f, cfa);
	restore_fp(stack, rule, f, cfa);
	f->pc = pc;
	f->sp = cfa;
	f->exact = false;
	return 0;
}

/* The interrupted code may have been on another stack: sigaltstack(2). */
static void change_stack(struct walk *w, uint64_t sp)
{
	const struct mew_walk_stack *s = w->stack;
	uint64_t end = sp;

	if (sp >= s->lo && sp <= s->hi)
		return;
	if (!s->bytes && s->end_of)
		end = s->end_of(s->arg, sp);
	w->elsewhere = end <= sp;
	if (w->elsewhere)
		return;
	w->other = (struct mew_walk_stack){sp, end, NULL, s->end_of, s->arg};
	w->stack = &w->other;
}

/* Leaves a signal frame: f becomes what the signal interrupted. */
static enum mew_walk_end leave_signal(struct walk *w, const struct mew_rule *rule, struct frame *f)
{
	uint64_t at = f->sp + (uint64_t)(int64_t)rule->cfa_off + MEW_CPU_CONTEXT_REGS;
	unsigned i;

	for (i = 0; i < MEW_CPU_CONTEXT_WORDS; i++, at += 8) {
		if (!mew_stack_word(w->stack, at, &w->regs[mew_cpu_context[i]])) {
			return unreadable(w->stack, at);
		}
	}
	f->pc = w->regs[MEW_CPU_PC];
	f->sp = w->regs[MEW_CPU_SP];
	change_stack(w, f->sp);
	f->fp = w->regs[MEW_CPU_FP];
	f->fp_known = true;
	f->regs = w->regs;
	f->known = MEW_WALK_REGS_ALL;
	f->exact = true;
	return 0;
}

/* What a frame's programs say of its caller. */
struct evaluated {
	uint64_t cfa, pc, sp, fp;
	enum mew_op_end pc_end, sp_end, fp_end;
};

static enum mew_walk_end evaluate(struct walk *w, const struct mew_rule *rule,
				  const struct frame *f, bool follow, struct evaluated *ret)
{
	const struct mew_unwind_table_module *module = NULL;
	const struct mew_op *ops = NULL;
	enum mew_evaluate_result result;
	uint64_t regs[MEW_WALK_REGS];
	struct mew_evaluate e = {.stack = w->stack, .regs = regs};
	enum mew_op_end end;
	uint32_t n = 0;
	unsigned i;

	mew_unwind_table_find(w->table, w->space_bytes, f->exact ? f->pc : f->pc - 1, &module);
	if (module)
		ops = mew_unwind_table_ops(w->table, w->space_bytes, module, rule->cfa_off, &n);
	if (!ops)
		return MEW_WALK_EVALUATE;
	e.known = known_of(f, follow);
	for (i = 0; i < MEW_WALK_REGS; i++)
		__atomic_store_n(&regs[i], e.known >> i & 1 ? f->regs[i] : 0, __ATOMIC_RELAXED);
	regs[MEW_CPU_SP] = f->sp;
	regs[MEW_CPU_FP] = f->fp;
	regs[MEW_CPU_PC] = f->pc;
	e.known &= ~((uint64_t)1 << MEW_CPU_FP);
	e.known |= (uint64_t)1 << MEW_CPU_SP | (uint64_t)1 << MEW_CPU_PC |
		   (uint64_t)f->fp_known << MEW_CPU_FP;
	result = mew_evaluate(&e, &ops, &n, &ret->cfa, &end);
	e.cfa = ret->cfa;
	if (result == MEW_EVALUATED && end != MEW_OP_VALUE && end != MEW_OP_LOCATION)
		result = MEW_EVALUATE_BAD;
	if (result == MEW_EVALUATED)
		result = mew_evaluate(&e, &ops, &n, &ret->pc, &ret->pc_end);
	if (result == MEW_EVALUATED)
		result = mew_evaluate(&e, &ops, &n, &ret->sp, &ret->sp_end);
	if (result == MEW_EVALUATED) {
		result = mew_evaluate(&e, &ops, &n, &ret->fp, &ret->fp_end);
		if (result == MEW_EVALUATE_UNREADABLE || result == MEW_EVALUATE_UNKNOWN) {
			ret->fp_end = MEW_OP_UNDEFINED;
			return 0;
		}
	}
	w->missing |= result == MEW_EVALUATE_UNKNOWN;
	if (result == MEW_EVALUATE_UNREADABLE)
		return unreadable(w->stack, e.bad_at);
	return result == MEW_EVALUATED ? 0 : MEW_WALK_EVALUATE;
}

/* Leaves a frame by its programs. */
static enum mew_walk_end leave_evaluated(struct walk *w, const struct mew_rule *rule,
					 struct frame *f, bool follow)
{
	enum mew_walk_end end;
	struct evaluated to;

	end = evaluate(w, rule, f, follow, &to);
	if (end)
		return end;
	if (to.sp_end != MEW_OP_VALUE && to.sp_end != MEW_OP_LOCATION)
		to.sp = to.cfa;
	if (to.pc_end == MEW_OP_UNDEFINED)
		return MEW_WALK_OUTERMOST;
	if (to.pc_end == MEW_OP_SAME) {
		if (!MEW_CPU_HAS_LR || !(known_of(f, follow) >> MEW_CPU_LR & 1))
			return MEW_WALK_BAD;
		to.pc = f->regs[MEW_CPU_LR];
	}
	/* What runs may have taken its return address off the stack. */
	if (to.sp % 8 || (!rule->aux && (to.sp < f->sp || (to.sp == f->sp && !f->exact))))
		return MEW_WALK_BAD;
	f->known = follow && !rule->aux ? restore_others(w, rule, *f, to.cfa) : 0;
	if (to.fp_end == MEW_OP_UNDEFINED)
		f->fp_known = false;
	else if (to.fp_end != MEW_OP_SAME) {
		f->fp = to.fp;
		f->fp_known = true;
	}
	f->pc = mew_cpu_return_address(to.pc);
	f->sp = to.sp;
	f->exact = rule->aux != 0;
	return 0;
}

/* Whether no call can have left this return address: a function begins there, and before it is
 * nothing. So a stack begins that was made by hand (makecontext). */
static bool is_made(const struct walk *w, uint64_t pc)
{
	const struct mew_unwind_table_module *module = NULL;
	const struct mew_rule *rule = mew_unwind_table_find(w->table, w->space_bytes, pc, &module);

	return rule && module && module->base + rule->start == pc;
}

/*
 * Leaves a frame that has no rule by the frame pointer, as code that is generated mostly keeps it,
 * if all that can be looked at agrees: the pointer lies in the stack, and the word above it is an
 * address in known code. A function that has not set up its frame loses its caller this way.
 */
static enum mew_walk_end leave_by_fp(struct walk *w, struct frame *f)
{
	const struct mew_unwind_table_module *module = NULL;
	uint64_t fp, pc;

	if (!MEW_CPU_FP_STEP || !f->fp_known || f->fp % 8 || f->fp < f->sp ||
	    !mew_stack_word(w->stack, f->fp, &fp) || !mew_stack_word(w->stack, f->fp + 8, &pc))
		return w->no_rule;
	if (pc) {
		mew_unwind_table_find(w->table, w->space_bytes, pc - 1, &module);
		if (!module)
			return w->no_rule;
	}
	w->n_by_fp++;
	f->sp = f->fp + 16;
	f->fp = fp;
	f->pc = pc;
	f->known = 0;
	f->exact = false;
	return 0;
}

static enum mew_walk_end leave_without(struct walk *w, struct frame *f)
{
	if (f->exact || w->n_by_fp || !is_made(w, f->pc))
		return leave_by_fp(w, f);
	f->exact = true; /* where it would run, one day */
	return MEW_WALK_OUTERMOST;
}

/* Leaves a signal frame, one that has programs, or one that has no rule. */
static enum mew_walk_end leave_rarely(struct walk *w, struct frame *f, bool follow)
{
	const struct mew_rule *rule = &w->rule;

	if (rule->cfa == MEW_CFA_NONE)
		return leave_without(w, f);

	if ((rule->cfa == MEW_CFA_SIGNAL || rule->aux) && w->n_signals++ == SIGNAL_FRAMES_MAX)
		return MEW_WALK_BAD;
	if (rule->cfa == MEW_CFA_SIGNAL)
		return leave_signal(w, rule, f);
	if (rule->cfa != MEW_CFA_EVALUATE)
		return MEW_WALK_EVALUATE;
	return leave_evaluated(w, rule, f, follow);
}

/* Marks f as frame n of the result. */
static ALWAYS_INLINE void put_frame(struct mew_walk_result *ret, uint32_t n, const struct frame *f)
{
	if (n % 64 == 0)
		ret->exact[n / 64] = 0;
	ret->pcs[n] = f->pc;
	if (f->exact)
		ret->exact[n / 64] |= (uint64_t)1 << n % 64;
}

/*
 * Leaves ordinary frames from *at on, until the stack ends or a frame is no ordinary one: RARE. The
 * frame stays in registers, whose addresses nobody takes.
 */
static ALWAYS_INLINE int run(struct walk *w, struct frame *at, const struct mew_walk_root *root,
			     struct mew_walk_cache *cache, bool follow, struct mew_walk_result *ret)
{
	const struct mew_walk_stack stack = *w->stack;
	enum mew_walk_end end = MEW_WALK_DEEP;
	uint32_t n = w->n_frames;
	struct frame f = *at;
	int rc;

	for (;;) {
		const struct mew_rule *found;
		struct mew_rule rule;

		rc = MEW_WALK_DEEP;
		if (n == MEW_WALK_FRAMES)
			break;
		put_frame(ret, n++, &f);
		found = find_rule(w, f.exact ? f.pc : f.pc - 1, cache, &end);
		if (!found) {
			w->rule.cfa = MEW_CFA_NONE;
			w->no_rule = end;
			rc = RARE;
			break;
		}
		rule = *found; /* shared memory: looked at once */
		rc = leave(w, &stack, &rule, &f, follow);
		if (rc)
			break;
		/* A word 0 is where the ABI and hand-made stacks end. */
		rc = f.pc ? MEW_WALK_ROOT : MEW_WALK_ZERO;
		if (!f.pc || (f.pc >= root->lo && f.pc < root->hi))
			break;
	}
	w->n_frames = n;
	*at = f;
	return rc;
}

/* From start on. follow: the other registers are followed from frame to frame, which takes longer.
 */
static ALWAYS_INLINE void walk_frames(struct walk *w, struct frame f,
				      const struct mew_walk_root *root,
				      struct mew_walk_cache *cache, bool follow,
				      struct mew_walk_result *ret)
{
	uint64_t sp = f.sp;
	int rc;

	w->n_frames = w->n_by_fp = w->n_signals = 0;
	w->missing = w->elsewhere = false;
	for (;;) {
		rc = run(w, &f, root, cache, follow, ret);
		if (rc != RARE)
			break;
		rc = leave_rarely(w, &f, follow);
		if (rc == MEW_WALK_OUTERMOST)
			put_frame(ret, w->n_frames - 1, &f);
		if (rc)
			break;
		rc = f.pc ? MEW_WALK_ROOT : MEW_WALK_ZERO;
		if (!f.exact && (!f.pc || (f.pc >= root->lo && f.pc < root->hi)))
			break;
	}
	if (w->elsewhere && (rc == MEW_WALK_BAD || rc == MEW_WALK_CUT))
		rc = MEW_WALK_ELSEWHERE;
	ret->end = (enum mew_walk_end)rc;
	ret->n_frames = w->n_frames;
	ret->n_by_fp = w->n_by_fp;
	ret->stack_bytes = f.sp > sp ? f.sp - sp : 0;
	ret->broke_at = rc <= MEW_WALK_ZERO ? 0 : ret->pcs[w->n_frames - 1];
}

/* The same once more, for the rare frame that is found by a register its callees have saved. */
static __attribute__((noinline)) void walk_following(struct walk *w, struct frame f,
						     const struct mew_walk_root *root,
						     struct mew_walk_cache *cache,
						     struct mew_walk_result *ret)
{
	unsigned i;

	for (i = 0; i < MEW_WALK_REGS && f.known; i++)
		__atomic_store_n(&w->regs[i], f.regs[i], __ATOMIC_RELAXED);
	f.regs = w->regs;
	walk_frames(w, f, root, cache, true, ret);
}

void mew_walk(const struct mew_unwind_table *t, size_t space_bytes,
	      const struct mew_walk_start *start, const struct mew_walk_stack *stack,
	      const struct mew_walk_root *root, struct mew_walk_cache *cache,
	      struct mew_walk_result *ret)
{
	struct frame f = {
		.pc = start->pc,
		.sp = start->sp,
		.fp = start->fp,
		.regs = start->regs,
		.known = start->regs ? start->known : 0,
		.fp_known = true,
		.exact = !start->pc_is_return,
	};
	struct walk w;

	w.table = t;
	w.space_bytes = space_bytes;
	w.stack = stack;
	w.missing = false;
	if (cache)
		mew_walk_cache_check(cache, t);
	walk_frames(&w, f, root, cache, false, ret);
	w.stack = stack;
	if (ret->end == MEW_WALK_EVALUATE && w.missing && ret->n_frames > 1)
		walk_following(&w, f, root, cache, ret);
}

int mew_walk_step(const struct mew_unwind_table *t, size_t space_bytes,
		  const struct mew_walk_stack *stack, struct mew_walk_cache *cache,
		  const struct mew_walk_frame *f, struct mew_rule *ret_rule,
		  struct mew_walk_frame *ret_caller)
{
	struct frame at = {.pc = f->pc, .sp = f->sp, .fp = f->fp, .fp_known = f->fp_known};
	enum mew_walk_end end = MEW_WALK_NO_RULE;
	const struct mew_rule *found;
	struct walk w;
	int rc;

	w.table = t;
	w.space_bytes = space_bytes;
	w.stack = stack;
	found = find_rule(&w, at.pc - 1, cache, &end);
	if (!found)
		return end;
	*ret_rule = *found;
	rc = leave(&w, stack, ret_rule, &at, false);
	if (rc)
		return rc;
	ret_caller->pc = at.pc;
	ret_caller->sp = at.sp;
	ret_caller->fp = at.fp;
	ret_caller->fp_known = at.fp_known;
	return 0;
}
