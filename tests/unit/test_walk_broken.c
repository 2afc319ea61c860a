/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that end before their root, and what a walk may not do whatever it is given. */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "walk_stack.h"

static void code_without_rules_is_left_by_a_frame_pointer_that_can_be_one(void **state)
{
	struct fixture *f = *state;

	f->start.pc = NOTHING + 0x20;
	f->start.fp = LO + 8 * 4;
	f->words[4] = LO + 8 * 20; /* the caller's frame pointer */
	f->words[5] = FRAMED + 1;
	f->words[20] = 0;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.n_by_fp, 1);
	f->words[5] = 0x77777; /* in no module */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	assert_int_equal(f->result.n_by_fp, 0);
	f->words[5] = FRAMED + 1;
	f->start.sp = LO + 8 * 5; /* the pointer is below it */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	f->start.sp = LO;
	f->start.fp = LO + 8 * 4 + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	f->start.fp = LO + sizeof(f->words) - 8; /* the word above it is not there */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);

	/* Code that no module covers. */
	f->start.pc = 0x5000;
	f->start.fp = LO + 8 * 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->start.fp = 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
}

static void a_return_to_the_first_instruction_of_a_function_is_a_made_stack(void **state)
{
	struct fixture *f = *state;

	/* BACKWARDS comes after NOTHING: no call is there to have left its address. */
	f->words[0] = BACKWARDS;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 2);
	assert_true(exact(f, 1));
	/* Behind SMALL there may be a call. */
	f->words[0] = FRAMED;
	f->words[4] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static void a_stack_that_ends_early_is_cut_and_not_bad(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 1;
	f->words[4] = SMALL + 2;
	f->words[8] = ROOT_FUNCTION;
	f->stack.hi = LO + 8 * 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.broke_at, SMALL + 2);
	f->stack.hi = LO + 8 * 8 + 7; /* one byte short */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	f->stack.hi = LO + 8 * 8 + 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->stack.hi = LO; /* no byte at all */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	assert_int_equal(f->result.n_frames, 1);

	/* A ucontext of which the half is there. */
	f->words[0] = SIGNAL + 1;
	f->stack.hi = LO + 8 * 12;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	assert_int_equal(f->result.n_frames, 2);
}

static void an_address_that_is_no_stack_is_bad(void **state)
{
	struct fixture *f = *state;
	static const uint64_t fps[] = {
		0, 8, LO - 0x1000, LO + 3, LO + (1ull << 40), UINT64_MAX - 7, UINT64_MAX, 1 << 20,
	};
	size_t i;

	f->start.pc = FRAMED + 1;
	for (i = 0; i < sizeof(fps) / sizeof(fps[0]); i++) {
		f->start.fp = fps[i];
		walk(f);
		assert_int_equal(f->result.end, MEW_WALK_BAD);
		assert_int_equal(f->result.n_frames, 1);
		assert_int_equal(f->result.broke_at, FRAMED + 1);
	}
	f->start.pc = BACKWARDS + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
}

static void a_frame_that_does_not_advance_ends_the_walk(void **state)
{
	struct fixture *f = *state;

	/* fp points to its own slot: the CFA would stay. */
	f->start.pc = FRAMED + 1;
	f->start.fp = LO + 8 * 4;
	f->words[4] = LO + 8 * 4;
	f->words[5] = FRAMED + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	assert_int_equal(f->result.n_frames, 2);
}

static void rules_that_cannot_be_said_break_the_stack(void **state)
{
	struct fixture *f = *state;

	f->words[0] = HARD + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.broke_at, HARD + 1);
	f->words[0] = NOTHING + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	f->words[0] = 0xdeadbeef;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
	assert_int_equal(f->result.broke_at, 0xdeadbeef);
	assert_int_equal(f->result.n_frames, 2);
}

static void a_return_address_of_zero_ends_a_stack(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 1;
	f->words[4] = 0;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ZERO);
	assert_int_equal(f->result.n_frames, 2);
}

static void a_lost_frame_pointer_breaks_only_who_needs_it(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FP_LOST;
	f->start.fp = LO + 8 * 20;
	f->words[1] = SMALL + 1;
	f->words[5] = FRAMED + 1;
	f->words[20] = 0;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.n_frames, 3);
	f->words[5] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? random_state % below : 0;
}

/* A number as an attacker would choose it: often a pc, often near an edge of the stack. */
static uint64_t rnd_word(uint64_t lo, uint64_t hi)
{
	switch (rnd(8)) {
	case 0:
		return rnd(4) ? rnd(UINT64_MAX) : 0;
	case 1:
		return hi - 16 + rnd(32);
	case 2:
		return lo - 16 + rnd(32);
	case 3:
	case 4:
		return lo + rnd((hi - lo) / 8) * 8;
	default:
		return MODULE + rnd(MODULE_END - MODULE);
	}
}

/*
 * Between two pages that nobody may touch: reading one byte outside ends the test. Tables, stacks
 * and registers are random.
 */
static void nothing_outside_the_stack_is_read_whatever_the_tables_say(void **state)
{
	struct fixture *f = *state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *area = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mew_rule *table_rules;
	struct mew_op *table_ops;
	struct mew_walk_cache *cache = calloc(1, sizeof(*cache));
	uint64_t regs[MEW_WALK_REGS];
	unsigned ends[MEW_WALK_DEEP + 1] = {0}, i, j;

	assert_true(area != MAP_FAILED && cache);
	assert_int_equal(mprotect(area + page, page, PROT_READ | PROT_WRITE), 0);
	random_state = 88172645463325252u;
	table_rules = (struct mew_rule *)(void *)((char *)f->space.table +
						  f->space.table->modules[0].rules_off);
	table_ops = (struct mew_op *)(void *)((char *)f->space.table +
					      f->space.table->modules[0].ops_off);
	f->start.regs = regs;
	for (i = 0; i < 30000; i++) {
		size_t bytes = rnd(page / 8 + 1) * 8 + (rnd(8) ? 0 : rnd(8));
		uint8_t *at = area + page;
		bool live = rnd(2);
		uint64_t lo, hi;

		if (bytes > page)
			bytes = page;
		if (rnd(2))
			at += page - bytes; /* the upper guard page follows */
		lo = live ? (uintptr_t)at : LO;
		hi = lo + bytes;
		for (j = 0; j < 64; j++) {
			uint64_t value = rnd_word(lo, hi);

			if (bytes >= 8)
				memcpy(at + rnd(bytes / 8) * 8, &value, 8);
		}
		for (j = 0; j < sizeof(rules) / sizeof(rules[0]); j++) {
			struct mew_rule *r = &table_rules[j];

			*r = rules[j];
			if (rnd(2)) {
				r->cfa = (uint8_t)rnd(MEW_CFA_DEREF_SP + 3);
				r->fp = (uint8_t)rnd(MEW_FP_AT_FP + 3);
				r->cfa_off =
					rnd(4) ? (int32_t)rnd(64) * 8 : (int32_t)rnd(1ull << 32);
				if (r->cfa == MEW_CFA_EVALUATE)
					r->cfa_off = (int32_t)rnd(sizeof(ops) / sizeof(ops[0]) + 2);
				r->fp_off = rnd(4) ? (int16_t)-rnd(8) : (int16_t)rnd(1u << 16);
				r->aux = (uint8_t)rnd(256);
				r->ra_off = rnd(4) ? -1 : (int16_t)rnd(1u << 16);
				r->saves = (uint8_t)rnd(4);
			}
		}
		for (j = 0; j < sizeof(ops) / sizeof(ops[0]); j++) {
			table_ops[j] = ops[j];
			if (!rnd(8))
				table_ops[j].atom = (uint32_t)rnd(0xa0);
			if (!rnd(8))
				table_ops[j].value = (int64_t)rnd(UINT64_MAX);
			if (!rnd(8))
				table_ops[j].reg = (uint32_t)rnd(20);
		}
		for (j = 0; j < MEW_WALK_REGS; j++)
			regs[j] = rnd_word(lo, hi);
		f->start.pc = rnd_word(lo, hi);
		f->start.sp = rnd(8) ? lo + rnd(16) * 8 : rnd_word(lo, hi);
		f->start.fp = rnd_word(lo, hi);
		f->start.known = (uint32_t)rnd(1ull << 32);
		f->start.pc_is_return = (int)rnd(2);
		f->stack.lo = lo;
		f->stack.hi = hi;
		f->stack.bytes = live ? NULL : at;
		f->space.table->generation++;
		mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root,
			 rnd(2) ? cache : NULL, &f->result);
		assert_in_range(f->result.end, MEW_WALK_ROOT, MEW_WALK_DEEP);
		assert_in_range(f->result.n_frames, 1, MEW_WALK_FRAMES);
		assert_int_equal(f->result.pcs[0], f->start.pc);
		ends[f->result.end]++;
	}
	/* It went everywhere but to the deepest frame. */
	for (i = MEW_WALK_OUTERMOST; i < MEW_WALK_DEEP; i++)
		assert_true(ends[i] > 10);
	munmap(area, 3 * page);
	free(cache);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(code_without_rules_is_left_by_a_frame_pointer_that_can_be_one),
		TEST(a_return_to_the_first_instruction_of_a_function_is_a_made_stack),
		TEST(a_stack_that_ends_early_is_cut_and_not_bad),
		TEST(an_address_that_is_no_stack_is_bad),
		TEST(a_frame_that_does_not_advance_ends_the_walk),
		TEST(rules_that_cannot_be_said_break_the_stack),
		TEST(a_return_address_of_zero_ends_a_stack),
		TEST(a_lost_frame_pointer_breaks_only_who_needs_it),
		TEST(nothing_outside_the_stack_is_read_whatever_the_tables_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
