/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/walk.h"

#include <stdbool.h>

#include "unwind/cpu.h"

_Static_assert(MEW_WALK_REGS > MEW_CPU_PC, "registers up to the pc");

#define SIGNAL_FRAMES_MAX 16 /* each may change the stack, so that sp no longer proves progress */
#define FRAME_BYTES_MAX (64u << 20) /* a CFA further above the copy than this is no stack's */

/* One frame. A copy of the registers would cost more than the step, so they are pointed to. */
struct frame {
	uint64_t pc, sp, fp;
	const uint64_t *regs; /* of MEW_CFA_OTHER and the link register; NULL: none is known */
	uint64_t known;
	bool fp_known;
	bool exact; /* pc is where it runs, not a return address */
};

/* At any alignment; the compiler must not make a call of it. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

static bool readable(const struct mew_walk_stack *s, uint64_t at)
{
	return at >= s->lo && s->hi >= sizeof(word) && at <= s->hi - sizeof(word);
}

/* A live stack holds red zones that only this function may look into. */
__attribute__((no_sanitize_address)) static bool read_word(const struct mew_walk_stack *s,
							   uint64_t at, uint64_t *ret)
{
	if (!readable(s, at))
		return false;
	*ret = s->bytes ? *(const word *)(s->bytes + (at - s->lo)) : *(const word *)(uintptr_t)at;
	return true;
}

/* Why the word at `at` cannot be read. */
static enum mew_walk_end unreadable(const struct mew_walk_stack *s, uint64_t at)
{
	uint64_t above = at > s->hi ? at - s->hi : 0;

	if (at < s->lo || at % 8 || above > FRAME_BYTES_MAX)
		return MEW_WALK_BAD;
	return MEW_WALK_CUT;
}

static const struct mew_rule *find_rule(const struct mew_unwind_table *t, size_t space_bytes,
					uint64_t pc, struct mew_walk_cache *cache, bool *ret_module)
{
	const struct mew_unwind_table_module *module = NULL;
	const struct mew_rule *rule;
	unsigned slot = (pc * 0x9e3779b97f4a7c15u) >> 54;

	if (cache && cache->entries[slot].pc == pc && cache->entries[slot].rule)
		return cache->entries[slot].rule;
	rule = mew_unwind_table_find(t, space_bytes, pc, &module);
	*ret_module = module != NULL;
	if (cache && rule) {
		cache->entries[slot].pc = pc;
		cache->entries[slot].rule = rule;
	}
	return rule;
}

static void cache_check(struct mew_walk_cache *cache, const struct mew_unwind_table *t)
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

/* 0, or -1 and *ret_end. */
static int find_cfa(const struct mew_rule *rule, const struct frame *f,
		    const struct mew_walk_stack *stack, uint64_t *ret_cfa,
		    enum mew_walk_end *ret_end)
{
	uint64_t off = (uint64_t)(int64_t)rule->cfa_off, at;

	*ret_end = MEW_WALK_NO_RULE;
	switch (rule->cfa) {
	case MEW_CFA_SP:
		*ret_cfa = f->sp + off;
		return 0;
	case MEW_CFA_FP:
		if (!f->fp_known)
			return -1;
		*ret_cfa = f->fp + off;
		return 0;
	case MEW_CFA_OTHER:
		if (!f->regs || rule->aux >= MEW_WALK_REGS || !(f->known >> rule->aux & 1))
			return -1;
		*ret_cfa = f->regs[rule->aux] + off;
		return 0;
	case MEW_CFA_PLT:
		*ret_cfa = mew_cpu_plt_cfa(f->pc, f->sp, rule->aux);
		return 0;
	case MEW_CFA_DEREF_FP:
		if (!f->fp_known)
			return -1;
		at = f->fp + off;
		break;
	case MEW_CFA_DEREF_SP:
		at = f->sp + off;
		break;
	default:
		return -1;
	}
	if (!read_word(stack, at, ret_cfa)) {
		*ret_end = unreadable(stack, at);
		return -1;
	}
	if (rule->cfa == MEW_CFA_DEREF_SP)
		*ret_cfa += rule->aux;
	return 0;
}

/* The caller's frame pointer; f is still the callee. */
static void restore_fp(const struct mew_rule *rule, struct frame *f,
		       const struct mew_walk_stack *stack, uint64_t cfa)
{
	uint64_t at = (uint64_t)(int64_t)rule->fp_off;

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
	/*
	 * Compilers leave the rule in place after the pop of an epilogue: the slot is below sp
	 * then, where a copied stack begins, and the register holds its value again.
	 */
	if (read_word(stack, at, &f->fp))
		f->fp_known = true;
	else if (!f->exact || at >= f->sp || f->sp - at > MEW_CPU_RED_ZONE)
		f->fp_known = false;
}

/* Where the return address was saved. */
static uint64_t return_slot(const struct mew_rule *rule, uint64_t cfa)
{
	if (rule->ra_off != MEW_RA_FAR)
		return cfa + (uint64_t)((int64_t)rule->ra_off * 8);
	return cfa + (uint64_t)(int64_t)rule->fp_off + (rule->fp == MEW_FP_AT_CFA ? 8 : 0);
}

/* Read it. 0, or -1 and *ret_end. */
static int find_return(const struct mew_rule *rule, const struct frame *f,
		       const struct mew_walk_stack *stack, uint64_t cfa, uint64_t *ret,
		       enum mew_walk_end *ret_end)
{
	bool in_register = MEW_CPU_HAS_LR && !rule->ra_off;
	uint64_t at = return_slot(rule, cfa);

	*ret_end = MEW_WALK_BAD;
	/* Only a frame that has stored nothing begins where it ends. */
	if (cfa < f->sp || (cfa == f->sp && !in_register) || cfa % 8)
		return -1;
	if (in_register) {
		if (!f->regs || !(f->known >> MEW_CPU_LR & 1))
			return -1;
		*ret = f->regs[MEW_CPU_LR];
	} else if (at < f->sp) {
		return -1;
	} else if (!read_word(stack, at, ret)) {
		*ret_end = unreadable(stack, at);
		return -1;
	}
	*ret = mew_cpu_return_address(*ret);
	return 0;
}

/* Leaves an ordinary frame: f becomes its caller. 0, or -1 and *ret_end. */
static int leave(const struct mew_rule *rule, struct frame *f, const struct mew_walk_stack *stack,
		 enum mew_walk_end *ret_end)
{
	uint64_t cfa, pc;

	if (find_cfa(rule, f, stack, &cfa, ret_end) ||
	    find_return(rule, f, stack, cfa, &pc, ret_end))
		return -1;
	restore_fp(rule, f, stack, cfa);
	f->pc = pc;
	f->sp = cfa;
	f->regs = NULL;
	f->exact = false;
	return 0;
}

/* Leaves a signal frame: f becomes what the signal interrupted. regs: where its registers go. */
static int leave_signal(const struct mew_rule *rule, struct frame *f,
			const struct mew_walk_stack *stack, uint64_t regs[MEW_WALK_REGS],
			enum mew_walk_end *ret_end)
{
	uint64_t at = f->sp + (uint64_t)(int64_t)rule->cfa_off + MEW_CPU_CONTEXT_REGS;
	unsigned i;

	for (i = 0; i < MEW_CPU_CONTEXT_WORDS; i++, at += 8) {
		if (!read_word(stack, at, &regs[mew_cpu_context[i]])) {
			*ret_end = unreadable(stack, at);
			return -1;
		}
	}
	f->pc = regs[MEW_CPU_PC];
	f->sp = regs[MEW_CPU_SP];
	f->fp = regs[MEW_CPU_FP];
	f->fp_known = true;
	f->regs = regs;
	f->known = MEW_WALK_REGS_ALL;
	f->exact = true;
	return 0;
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
		.known = start->known,
		.fp_known = true,
		.exact = !start->pc_is_return,
	};
	uint64_t regs[MEW_WALK_REGS], broke_at;
	unsigned n_signals = 0;
	enum mew_walk_end end;
	uint32_t n = 0, i;

	if (cache)
		cache_check(cache, t);
	for (i = 0; i < MEW_WALK_FRAMES / 64; i++)
		__atomic_store_n(&ret->exact[i], 0, __ATOMIC_RELAXED);

	for (;;) {
		const struct mew_rule *found;
		struct mew_rule rule;
		bool in_module = false;

		broke_at = f.pc;
		end = MEW_WALK_DEEP;
		if (n == MEW_WALK_FRAMES)
			break;
		ret->pcs[n] = f.pc;
		if (f.exact)
			ret->exact[n / 64] |= (uint64_t)1 << n % 64;
		n++;

		found = find_rule(t, space_bytes, f.exact ? f.pc : f.pc - 1, cache, &in_module);
		end = in_module ? MEW_WALK_NO_RULE : MEW_WALK_NO_MODULE;
		if (!found)
			break;
		rule = *found; /* shared memory: looked at once */
		if (rule.cfa == MEW_CFA_END) {
			end = MEW_WALK_OUTERMOST;
			break;
		}
		if (rule.cfa == MEW_CFA_SIGNAL) {
			end = MEW_WALK_BAD;
			if (n_signals++ == SIGNAL_FRAMES_MAX ||
			    leave_signal(&rule, &f, stack, regs, &end))
				break;
			continue;
		}
		if (leave(&rule, &f, stack, &end))
			break;
		/* A word 0 is where the ABI and hand-made stacks end. */
		end = f.pc ? MEW_WALK_ROOT : MEW_WALK_OUTERMOST;
		if (!f.pc || (f.pc >= root->lo && f.pc < root->hi))
			break;
	}
	ret->end = end;
	ret->n_frames = n;
	ret->broke_at = end == MEW_WALK_ROOT || end == MEW_WALK_OUTERMOST ? 0 : broke_at;
}
