/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>

#include "walk_stack.h"

static void the_root_ends_a_stack_and_is_not_in_it(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 5;
	f->words[4] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.pcs[0], LEAF);
	assert_int_equal(f->result.pcs[1], SMALL + 5);
	assert_true(exact(f, 0));
	assert_false(exact(f, 1));
	assert_int_equal(f->result.broke_at, 0);
	f->words[4] = ROOT_FUNCTION + 0xff;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->words[4] = ROOT_FUNCTION + 0x100;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
}

static void a_return_address_is_looked_up_one_byte_before(void **state)
{
	struct fixture *f = *state;

	/* The call was the last instruction of SMALL: FRAMED's rule would go wrong. */
	f->words[0] = FRAMED;
	f->words[4] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->start.pc = FRAMED;
	f->start.pc_is_return = 1;
	f->words[3] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
	assert_false(exact(f, 0));
}

static void the_start_in_the_root_function_is_no_return_address(void **state)
{
	struct fixture *f = *state;

	f->root.lo = LEAF;
	f->root.hi = LEAF + 1;
	f->words[0] = END + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 2);
}

static void frame_pointers_are_followed_and_restored(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FRAMED + 4;
	f->start.fp = LO + 8 * 4;
	f->words[4] = LO + 8 * 10; /* saved fp */
	f->words[5] = FRAMED + 9;
	f->words[10] = 0;
	f->words[11] = END + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[1], FRAMED + 9);
}

static void a_realigned_stack_keeps_its_cfa_in_memory(void **state)
{
	struct fixture *f = *state;

	f->start.pc = REALIGNED + 4;
	f->start.fp = LO + 8 * 4;
	f->words[3] = LO + 8 * 9; /* CFA */
	f->words[4] = LO + 8 * 20;
	f->words[8] = FRAMED + 1;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);

	f->start.pc = DEREF_SP;
	f->words[2] = LO + 8 * 8;
	f->words[8] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
}

static void another_register_is_lost_in_a_call_that_does_not_save_it(void **state)
{
	struct fixture *f = *state;
	uint64_t regs[MEW_WALK_REGS] = {[10] = LO + 8 * 6};

	f->start.pc = BY_R10;
	f->words[5] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.broke_at, BY_R10);
	f->start.regs = regs;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	f->start.known = 1u << 10;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->words[5] = BY_R10 + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.broke_at, BY_R10 + 1);
}

static void a_frame_is_found_by_a_register_that_its_callees_saved(void **state)
{
	struct fixture *f = *state;
	uint64_t regs[MEW_WALK_REGS] = {[3] = LO + 8 * 40};

	/* SAVES_RBX is called by SMALL, that by BY_RBX, whose frame ends where its rbx says. */
	f->start.pc = SAVES_RBX + 1;
	f->words[1] = LO + 8 * 20; /* rbx */
	f->words[2] = SMALL + 1;
	f->words[6] = BY_RBX + 1;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	/* SMALL does not say what it does with rbx. */
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.broke_at, BY_RBX + 1);
	f->words[2] = BY_RBX + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.pcs[1], BY_RBX + 1);

	/* Nobody saved it: it is what the sample says, if that says anything. */
	f->start.pc = IN_RDI + 1;
	f->start.regs = regs;
	f->start.known = 1u << 5;
	regs[5] = BY_RBX + 1;
	f->words[41] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.n_frames, 2);
	f->start.known |= 1u << 3;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
}

static void what_is_no_rule_is_evaluated(void **state)
{
	struct fixture *f = *state;
	uint64_t regs[MEW_WALK_REGS] = {[5] = SMALL + 1, [9] = 2};

	f->start.regs = regs;
	f->start.known = 1u << 5 | 1u << 9;
	f->start.pc = IN_RDI;
	f->words[3] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);

	f->start.pc = COUNTED;
	f->words[3] = LO + 8 * 30;
	f->words[30] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
	f->words[3] = LO + sizeof(f->words) + 64;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	f->words[3] = LO - 64;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);

	f->start.pc = CHANGES;
	regs[5] = LO + 8 * 50;
	f->words[50] = FRAMED + 1;
	f->words[51] = LO + 8 * 8; /* sp */
	f->words[52] = LO + 8 * 9; /* fp */
	f->words[10] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	/* Back to where it was: no progress but for the innermost frame. */
	f->words[50] = CHANGES + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE); /* rdi is not kept */
}

static void a_plt_stub_has_pushed_its_index_or_not(void **state)
{
	struct fixture *f = *state;

	f->words[0] = ROOT_FUNCTION;
	f->words[1] = SMALL; /* what is found when the stub is taken for pushed */
	f->start.pc = PLT + 0x10;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->start.pc = PLT + 0x1a;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->words[0] = 3; /* the index */
	f->words[1] = ROOT_FUNCTION;
	f->start.pc = PLT + 0x1b;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
}

/* A ucontext at words[at]. */
static void put_context(struct fixture *f, unsigned at, uint64_t pc, uint64_t sp, uint64_t fp)
{
	unsigned first = at + MEW_CPU_CONTEXT_REGS / 8, i;

	for (i = 0; i < MEW_CPU_CONTEXT_WORDS; i++) {
		unsigned reg = mew_cpu_context[i];

		f->words[first + i] = reg == MEW_CPU_PC   ? pc
				      : reg == MEW_CPU_SP ? sp
				      : reg == MEW_CPU_FP ? fp
							  : LO + 8 * 50;
	}
	assert_int_equal(f->words[at + MEW_CPU_CONTEXT_SP / 8], sp);
}

static void a_signal_frame_gives_all_registers_and_an_exact_pc(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SIGNAL + 1; /* LEAF is the handler */
	put_context(f, 1, FRAMED, LO + 8 * 30, LO + 8 * 40);
	f->words[40] = 0;
	f->words[41] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[2], FRAMED); /* its first instruction: pc - 1 is SMALL */
	assert_false(exact(f, 1));
	assert_true(exact(f, 2));

	put_context(f, 1, BY_R10, LO + 8 * 30, 0);
	f->words[49] = ROOT_FUNCTION; /* every other register is LO + 8 * 50 */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static void a_signal_may_have_come_on_another_stack_but_not_for_ever(void **state)
{
	struct fixture *f = *state;

	f->start.sp = LO + 8 * 10;
	f->words[10] = SIGNAL + 1;
	put_context(f, 11, LEAF, LO + 8 * 2, 0);
	f->words[2] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);

	/* The interrupted code returns into the same signal frame. */
	put_context(f, 11, LEAF, LO + 8 * 10, 0);
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	assert_true(f->result.n_frames < 64);

	/* On a copied stack the other one is not there. */
	put_context(f, 11, LEAF, LO - 0x10000, 0);
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ELSEWHERE);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[2], LEAF);
}

/* Of a stack that the walk is not given. */
struct elsewhere {
	uint64_t lo, hi;
	unsigned n;
};

static uint64_t end_of(void *arg, uint64_t sp)
{
	struct elsewhere *e = arg;

	e->n++;
	return sp >= e->lo && sp < e->hi ? e->hi : sp;
}

static void a_live_walk_goes_on_in_the_stack_that_a_signal_interrupted(void **state)
{
	struct fixture *f = *state;
	uint64_t other[8] = {0};
	struct elsewhere e = {(uintptr_t)other, (uintptr_t)(other + 8), 0};

	f->start.sp = f->stack.lo = (uintptr_t)f->words;
	f->stack.hi = (uintptr_t)(f->words + WORDS);
	f->stack.bytes = NULL;
	f->stack.end_of = end_of;
	f->stack.arg = &e;
	f->words[0] = SIGNAL + 1;
	put_context(f, 1, SMALL, (uintptr_t)other, 0);
	other[3] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(e.n, 1);
	/* It ends earlier than its frame. */
	e.hi -= 5 * 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	/* Nobody knows it. */
	e.lo = e.hi = 0;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ELSEWHERE);
	f->stack.end_of = NULL;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ELSEWHERE);
}

static void a_frame_pointer_popped_in_the_epilogue_is_in_its_register(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FP_POPPED + 8;
	f->start.fp = LO + 8 * 20;
	f->words[0] = FRAMED + 1;
	f->words[20] = 0;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	/* Below a return address there is no such slot. */
	f->start.pc_is_return = 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
}

static void the_deepest_stack_that_fits_is_whole_and_one_more_is_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t *words = calloc(MEW_WALK_FRAMES + 1, 8);
	unsigned i;

	assert_non_null(words);
	for (i = 0; i < MEW_WALK_FRAMES; i++)
		words[i] = LEAF + 1;
	f->stack.bytes = (const uint8_t *)words;
	f->stack.hi = LO + 8 * (MEW_WALK_FRAMES + 1);
	words[MEW_WALK_FRAMES] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_DEEP);
	assert_int_equal(f->result.n_frames, MEW_WALK_FRAMES);
	words[MEW_WALK_FRAMES - 1] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, MEW_WALK_FRAMES);
	free(words);
}

static void a_cache_follows_the_generation(void **state)
{
	struct fixture *f = *state;
	struct mew_walk_cache *cache = calloc(1, sizeof(*cache));
	struct mew_rule changed[2] = {{.start = 0, .cfa = MEW_CFA_SP, .cfa_off = 16, .ra_off = -1}};

	assert_non_null(cache);
	f->words[0] = f->words[1] = ROOT_FUNCTION;
	f->words[1] = END + 1;
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, cache, &f->result);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	/* Without a change of generation the cache is what is used ... */
	f->space.table->modules[0].end_pc = 0;
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, cache, &f->result);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	/* ... and with it the new rules are. */
	space_add(&f->space, MODULE, MODULE + 0x700, changed, 1);
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, cache, &f->result);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
	assert_int_equal(f->result.pcs[1], END + 1);
	free(cache);
}

static void a_live_stack_is_read_in_place(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 1;
	f->words[4] = ROOT_FUNCTION;
	f->start.sp = f->stack.lo = (uintptr_t)f->words;
	f->stack.hi = (uintptr_t)(f->words + WORDS);
	f->stack.bytes = NULL;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_root_ends_a_stack_and_is_not_in_it),
		TEST(a_return_address_is_looked_up_one_byte_before),
		TEST(the_start_in_the_root_function_is_no_return_address),
		TEST(frame_pointers_are_followed_and_restored),
		TEST(a_realigned_stack_keeps_its_cfa_in_memory),
		TEST(another_register_is_lost_in_a_call_that_does_not_save_it),
		TEST(a_frame_is_found_by_a_register_that_its_callees_saved),
		TEST(what_is_no_rule_is_evaluated),
		TEST(a_plt_stub_has_pushed_its_index_or_not),
		TEST(a_signal_frame_gives_all_registers_and_an_exact_pc),
		TEST(a_signal_may_have_come_on_another_stack_but_not_for_ever),
		TEST(a_live_walk_goes_on_in_the_stack_that_a_signal_interrupted),
		TEST(a_frame_pointer_popped_in_the_epilogue_is_in_its_register),
		TEST(the_deepest_stack_that_fits_is_whole_and_one_more_is_deep),
		TEST(a_cache_follows_the_generation),
		TEST(a_live_stack_is_read_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
