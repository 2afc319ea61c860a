/* SPDX-License-Identifier: Apache-2.0 */
/* What aarch64 adds to the walk: the link register, far and signed return addresses, its signal
 * frames. */
#include "config.h"

#include "walk_fixture.h"

#define SIGNED 0xabcd000000000000 /* what a signature puts above an address */

/* One function a rule, 0x100 bytes each: the return addresses below name them. */
enum {
	LEAF = MODULE,                /* CFA = sp, return address in x30 */
	LEAF_LOCALS = MODULE + 0x100, /* CFA = sp + 32, return address in x30 */
	RECORD = MODULE + 0x200,      /* CFA = sp + 32, x29 at CFA - 32, x30 at CFA - 24 */
	FAR = MODULE + 0x300,         /* CFA = sp + 256, x29 at CFA - 256, x30 above it */
	FAR_ALONE = MODULE + 0x400,   /* CFA = sp + 256, x30 at CFA - 256 */
	SIGNAL = MODULE + 0x500,
	BY_X9 = MODULE + 0x600, /* CFA = x9 + 16, x30 at CFA - 16 */
	END = MODULE + 0x700,
	FRAMED = MODULE + 0x800, /* CFA = x29 + 32, x29 at CFA - 32, x30 at CFA - 24 */
};

static const struct mew_rule rules[] = {
	{.start = 0x000, .cfa = MEW_CFA_SP},
	{.start = 0x100, .cfa = MEW_CFA_SP, .cfa_off = 32},
	{.start = 0x200,
	 .cfa = MEW_CFA_SP,
	 .cfa_off = 32,
	 .fp = MEW_FP_AT_CFA,
	 .fp_off = -4,
	 .ra_off = -3},
	{.start = 0x300,
	 .cfa = MEW_CFA_SP,
	 .cfa_off = 256,
	 .fp = MEW_FP_AT_CFA,
	 .fp_off = -32,
	 .ra_off = -31},
	{.start = 0x400, .cfa = MEW_CFA_SP, .cfa_off = 256, .ra_off = -32},
	{.start = 0x500, .cfa = MEW_CFA_SIGNAL, .cfa_off = 128},
	{.start = 0x600, .cfa = MEW_CFA_OTHER, .aux = 9, .cfa_off = 16, .ra_off = -2},
	{.start = 0x700, .cfa = MEW_CFA_END},
	{.start = 0x800,
	 .cfa = MEW_CFA_FP,
	 .cfa_off = 32,
	 .fp = MEW_FP_AT_CFA,
	 .fp_off = -4,
	 .ra_off = -3},
};

static int set_up(void **state)
{
	struct fixture *f = fixture_anew();

	space_add(&f->space, MODULE, MODULE + 0x1000, rules, sizeof(rules) / sizeof(rules[0]));
	f->start.regs = f->regs;
	f->start.known = MEW_WALK_REGS_ALL;
	*state = f;
	return 0;
}

static void a_leaf_is_left_by_the_link_register(void **state)
{
	struct fixture *f = *state;

	f->regs[30] = ROOT_FUNCTION + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);

	f->start.pc = LEAF_LOCALS + 8;
	f->regs[30] = RECORD + 8;
	f->words[5] = ROOT_FUNCTION + 4; /* sp + 32 is the caller's: its x30 at sp + 8 */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.pcs[1], RECORD + 8);
}

static void the_link_register_is_known_in_the_innermost_frame_alone(void **state)
{
	struct fixture *f = *state;

	f->regs[30] = LEAF + 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	assert_int_equal(f->result.n_frames, 2);

	f->regs[30] = ROOT_FUNCTION + 4;
	f->start.known &= ~(1ull << 30);
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	f->start.regs = NULL;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	assert_int_equal(f->result.n_frames, 1);
}

static void a_frame_record_is_found_by_sp_and_by_the_frame_pointer(void **state)
{
	struct fixture *f = *state;

	f->start.pc = RECORD + 8;
	f->words[0] = LO + 8 * 12; /* x29 */
	f->words[1] = FRAMED + 12;
	f->words[12] = 0;
	f->words[13] = END + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[1], FRAMED + 12);
	assert_int_equal(f->result.pcs[2], END + 4);
}

static void a_return_address_below_many_locals_is_found(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FAR + 8;
	f->words[0] = LO + 8 * 40;
	f->words[1] = FAR_ALONE + 8; /* CFA: word 32 */
	f->words[32] = FRAMED + 8;   /* CFA: word 64 */
	f->words[40] = 0;
	f->words[41] = ROOT_FUNCTION + 4;
	f->start.sp = LO;
	walk(f);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[1], FAR_ALONE + 8);
	assert_int_equal(f->result.pcs[2], FRAMED + 8);
	/* The frame pointer went through the second function untouched: but FRAMED's CFA lies below
	 * sp then. */
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	f->words[0] = LO + 8 * 70;
	f->words[71] = ROOT_FUNCTION + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static void signatures_are_taken_off_return_addresses(void **state)
{
	struct fixture *f = *state;

	f->regs[30] = SIGNED | (RECORD + 8);
	f->words[1] = SIGNED | (ROOT_FUNCTION + 4);
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.pcs[1], RECORD + 8);
}

/* A signal frame whose struct rt_sigframe is at word 0: 128 bytes, a ucontext whose sigcontext is
 * at byte 176 and begins with a word of its own. */
static void a_signal_frame_gives_all_registers_and_an_exact_pc(void **state)
{
	struct fixture *f = *state;
	unsigned regs = (128 + 176 + 8) / 8;

	f->start.pc = SIGNAL;
	f->words[regs + 9] = LO + 8 * 80;  /* x9 */
	f->words[regs + 30] = RECORD + 8;  /* x30 */
	f->words[regs + 31] = LO + 8 * 78; /* sp */
	f->words[regs + 32] = BY_X9;       /* pc: CFA word 82, x30 in word 80 */
	f->words[80] = RECORD + 8;
	f->words[83] = ROOT_FUNCTION + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[1], BY_X9);
	assert_int_equal(f->result.exact[0], 3);

	/* A leaf that a signal interrupted still has its return address in x30. */
	f->words[regs + 32] = LEAF;
	f->words[79] = ROOT_FUNCTION + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[2], RECORD + 8);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_leaf_is_left_by_the_link_register),
		TEST(the_link_register_is_known_in_the_innermost_frame_alone),
		TEST(a_frame_record_is_found_by_sp_and_by_the_frame_pointer),
		TEST(a_return_address_below_many_locals_is_found),
		TEST(signatures_are_taken_off_return_addresses),
		TEST(a_signal_frame_gives_all_registers_and_an_exact_pc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
