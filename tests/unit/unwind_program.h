/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_program.h: a program that calls and returns on a stack of its own, with tables that say
 * how its functions are left, for the tests of what remembers stacks.
 */
#ifndef MEW_TESTS_UNWIND_PROGRAM_H
#define MEW_TESTS_UNWIND_PROGRAM_H

#include "unit.h"

#include <stdlib.h>

#include "unwind/trail.h"
#include "unwind/walk.h"
#include "unwind_space.h"

#define TOP 512         /* words of the stack */
#define BASE 0x70000000 /* address of the first one */
#define CODE 0x1000     /* function k is at CODE + k * SPAN */
#define SPAN 512

/* What functions do with the frame pointer. */
enum kind {
	START,     /* nobody called it */
	LEAVES_FP, /* does not touch it */
	SAVES_FP,  /* saves it and uses it for something else */
	BY_FP,     /* saves it and finds its frame by it */
	N_KINDS,
};

/* A program that calls and returns, with 3 words of its own in each frame. */
struct program {
	struct space space;
	uint64_t words[TOP];
	uint64_t random;
	uint64_t pc, sp, fp; /* in the innermost frame, at a call */
	unsigned depth;
	struct {
		enum kind kind;
		uint64_t cfa;
	} frames[64];
	struct mew_walk_cache cache;
	struct mew_trail trail;
	struct mew_walk_result whole; /* the caller's */
};

static inline uint64_t next_random(struct program *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random;
}

static inline uint64_t *word_at(struct program *p, uint64_t at)
{
	assert_in_range(at, BASE, BASE + (TOP - 1) * 8);
	return &p->words[(at - BASE) / 8];
}

/* The return address of one of 16 calls. */
static inline uint64_t call_in(enum kind kind, uint64_t number)
{
	return CODE + kind * SPAN + 1 + number % 16;
}

static inline struct program *program_new(void)
{
	const struct mew_rule rules[] = {
		{.start = START * SPAN, .cfa = MEW_CFA_END},
		{.start = LEAVES_FP * SPAN, .cfa = MEW_CFA_SP, .cfa_off = 32, .ra_off = -1},
		{.start = SAVES_FP * SPAN,
		 .cfa = MEW_CFA_SP,
		 .cfa_off = 40,
		 .ra_off = -1,
		 .fp = MEW_FP_AT_CFA,
		 .fp_off = -2},
		{.start = BY_FP * SPAN,
		 .cfa = MEW_CFA_FP,
		 .cfa_off = 16,
		 .ra_off = -1,
		 .fp = MEW_FP_AT_CFA,
		 .fp_off = -2},
	};
	struct program *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->space = space_new();
	space_add(&p->space, CODE, CODE + N_KINDS * SPAN, rules, N_KINDS);
	p->random = 88172645463325252u;
	p->sp = BASE + (TOP - 8) * 8;
	p->fp = 0x1234;
	p->depth = 1;
	p->pc = call_in(START, 0);
	return p;
}

static inline void program_free(struct program *p)
{
	space_free(&p->space);
	free(p);
}

/* Calls a function from its caller's call site number. */
static inline void call(struct program *p, enum kind kind, uint64_t number)
{
	p->pc = call_in(p->frames[p->depth - 1].kind, number);
	p->frames[p->depth].kind = kind;
	p->frames[p->depth++].cfa = p->sp;
	*word_at(p, p->sp - 8) = p->pc;
	if (kind != LEAVES_FP)
		*word_at(p, p->sp - 16) = p->fp;
	if (kind == BY_FP)
		p->fp = p->sp - 16;
	p->sp -= kind == LEAVES_FP ? 32 : 40;
	p->pc = call_in(kind, 0);
}

static inline void leave(struct program *p)
{
	uint64_t cfa = p->frames[--p->depth].cfa;

	if (p->frames[p->depth].kind != LEAVES_FP)
		p->fp = *word_at(p, cfa - 16);
	p->sp = cfa;
	p->pc = call_in(p->frames[p->depth - 1].kind, 0);
}

static inline struct mew_walk_start start_of(const struct program *p)
{
	return (struct mew_walk_start){.pc = p->pc, .sp = p->sp, .fp = p->fp, .pc_is_return = 1};
}

static inline struct mew_walk_stack stack_of(const struct program *p)
{
	return (struct mew_walk_stack){
		.lo = p->sp,
		.hi = BASE + TOP * 8,
		.bytes = (const uint8_t *)p->words + (p->sp - BASE),
	};
}

/* Some calls and returns, and on to another call site. */
static inline void wander(struct program *p)
{
	uint64_t n = next_random(p) % 4;

	for (; n > 0; n--) {
		if (p->depth > 1 && (p->depth > 50 || next_random(p) % 2))
			leave(p);
		else
			call(p, LEAVES_FP + next_random(p) % 3, next_random(p));
		if (p->frames[p->depth - 1].kind == SAVES_FP && next_random(p) % 2)
			p->fp = next_random(p);
	}
	p->pc = call_in(p->frames[p->depth - 1].kind, next_random(p));
}

#endif
