/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of walk.h, of either CPU: a stack copy to fill, and a walk of it. */
#ifndef MEW_TESTS_WALK_FIXTURE_H
#define MEW_TESTS_WALK_FIXTURE_H

#include <string.h>

#include "unit.h"
#include "unwind/cpu.h"
#include "unwind/walk.h"
#include "unwind_space.h"

#define MODULE 0x10000        /* what functions are in */
#define ROOT_FUNCTION 0x90000 /* in another place, no module needed */
#define LO 0x7ffc00000000     /* address of the copied stack's first byte */
#define WORDS 96

struct fixture {
	struct space space;
	uint64_t words[WORDS]; /* the stack from LO on */
	uint64_t regs[MEW_WALK_REGS];
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	struct mew_walk_root root;
	struct mew_walk_result result;
};

/* The one of the test that runs, with a space of no modules, at MODULE. */
static inline struct fixture *fixture_anew(void)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	f.space = space_new();
	f.start.pc = MODULE;
	f.start.sp = LO;
	f.stack.lo = LO;
	f.stack.hi = LO + sizeof(f.words);
	f.stack.bytes = (const uint8_t *)f.words;
	f.root.lo = ROOT_FUNCTION;
	f.root.hi = ROOT_FUNCTION + 0x100;
	return &f;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;

	space_free(&f->space);
	return 0;
}

static inline void walk(struct fixture *f)
{
	memset(&f->result, 0xff, sizeof(f->result));
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, NULL, &f->result);
}

#endif
