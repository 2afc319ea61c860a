/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h: the walk over one stack by the tables: registers and a way to read memory in, return
 * addresses out. Takes no lock, allocates nothing, calls no library: it runs inside malloc. Knows
 * nothing of samples, threads or symbols.
 */
#ifndef MEW_UNWIND_WALK_H
#define MEW_UNWIND_WALK_H

#include "unwind/cpu.h"
#include "unwind/table.h"

#define MEW_WALK_FRAMES 16384 /* frames a stack at most; a deeper one is cut: MEW_WALK_DEEP */
#define MEW_WALK_CACHE_BITS 10
#define MEW_WALK_REGS MEW_CPU_REGS
#define MEW_WALK_REGS_ALL (((uint64_t)1 << MEW_WALK_REGS) - 1) /* all of them are known */

/* Where the walk starts. Registers by DWARF number; known has a bit for each that is (pc, sp, fp at
 * least). */
struct mew_walk_start {
	uint64_t pc, sp, fp;
	const uint64_t *regs; /* MEW_WALK_REGS values, or NULL */
	uint64_t known;
	int pc_is_return; /* 1: pc is a return address (the hook's caller): the rule is looked up at
			     pc - 1 */
};

/* The stack's memory: either copied bytes (CPU samples) or the live stack (bytes == NULL: addresses
 * are read directly). */
struct mew_walk_stack {
	uint64_t lo, hi;      /* readable addresses: [lo, hi); nothing outside is ever read */
	const uint8_t *bytes; /* of lo, or NULL: live */
	/* Live: the end of what is readable above sp, where a signal has interrupted code on
	 * another stack; sp: nothing is. NULL: no other stack is walked. Called in the walk. */
	uint64_t (*end_of)(void *arg, uint64_t sp);
	void *arg;
};

/* Where a stack may end well. */
struct mew_walk_root {
	uint64_t lo, hi; /* a return address in [lo, hi): the frame before it is the case's entry.
			    0,0: only the outermost frame */
};

enum mew_walk_end {
	MEW_WALK_ROOT, /* reached the root range: complete; the runner's own frame is not in the
			  result */
	MEW_WALK_OUTERMOST, /* reached a frame whose return address is undefined (thread start,
			     * _start): complete for a whole program or a pool thread, not for a
			     * loop thread */
	MEW_WALK_ZERO, /* reached a return address of 0, where hand-made stacks end: as OUTERMOST,
			* but it may as well be a wrong turn */
	MEW_WALK_CUT,  /* the next word lies above hi: the copy was too small */
	MEW_WALK_NO_MODULE, /* pc in no module of the table */
	MEW_WALK_NO_RULE,   /* module known, no rule there */
	MEW_WALK_EVALUATE,  /* the rule asks for a register that is not known, or its program cannot
			     * be run */
	MEW_WALK_BAD,       /* the CFA did not grow, or an address is not the stack's: broken */
	MEW_WALK_ELSEWHERE, /* goes on in a stack that was not given: a signal's handler has one of
			     * its own */
	MEW_WALK_DEEP,
};

#define MEW_WALK_ENDS (MEW_WALK_DEEP + 1)

struct mew_walk_result {
	enum mew_walk_end end;
	uint32_t n_frames;
	uint32_t n_by_fp;     /* frames that were left by the frame pointer, for want of a rule */
	uint64_t stack_bytes; /* from start.sp to the sp of the last frame's caller */
	uint64_t broke_at; /* pc of the frame that could not be left, for all but ROOT and OUTERMOST
			    */
	/* Innermost first. Frame 0 is start.pc; the others are return addresses (look symbols up at
	 * pc - 1), unless bit i%64 of exact[i/64] is set: a frame that a signal interrupted (look
	 * it up at pc). */
	uint64_t exact[MEW_WALK_FRAMES / 64];
	uint64_t pcs[MEW_WALK_FRAMES];
};

/* Whether frame i is to be looked up at its pc. */
static inline int mew_walk_is_exact(const struct mew_walk_result *w, uint32_t i)
{
	return i == 0 || (w->exact[i / 64] >> i % 64 & 1);
}

/* A small cache of rules by pc, the caller's, one a thread or drainer; zeroed to start. Stamped
 * with the table's generation. */
struct mew_walk_cache {
	uint64_t generation;
	uint64_t n_misses; /* look-ups in the table */
	struct mew_walk_entry {
		uint64_t pc;
		const struct mew_rule *rule;
	} entries[1u << MEW_WALK_CACHE_BITS];
};

/* The entry that pc's rule is in, or NULL: it is not in the cache. */
static inline const struct mew_walk_entry *mew_walk_cached(const struct mew_walk_cache *cache,
							   uint64_t pc)
{
	const struct mew_walk_entry *entry =
		&cache->entries[(pc * 0x9e3779b97f4a7c15u) >> (64 - MEW_WALK_CACHE_BITS)];

	return entry->pc == pc && entry->rule ? entry : NULL;
}

/* Walk. cache may be NULL. Never fails: ret->end tells how it ended. */
void mew_walk(const struct mew_unwind_table *t, size_t space_bytes,
	      const struct mew_walk_start *start, const struct mew_walk_stack *stack,
	      const struct mew_walk_root *root, struct mew_walk_cache *cache,
	      struct mew_walk_result *ret);

/* An ordinary frame: pc is a return address. */
struct mew_walk_frame {
	uint64_t pc, sp, fp;
	int fp_known;
};

/*
 * Leaves frame f, by *ret_rule, to its caller. 0, or else how the stack ends there, which
 * may be well: MEW_WALK_OUTERMOST; or a number that is none of these: it is no ordinary frame.
 * Before the first step comes mew_walk_cache_check(): rules of other tables are forgotten.
 */
int mew_walk_step(const struct mew_unwind_table *t, size_t space_bytes,
		  const struct mew_walk_stack *stack, struct mew_walk_cache *cache,
		  const struct mew_walk_frame *f, struct mew_rule *ret_rule,
		  struct mew_walk_frame *ret_caller);
void mew_walk_cache_check(struct mew_walk_cache *cache, const struct mew_unwind_table *t);

#endif
