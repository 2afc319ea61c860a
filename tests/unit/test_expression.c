/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unit.h"
#include "unwind/expression.h"

#include <dwarf.h>

#define N(ops) (sizeof(ops) / sizeof((ops)[0]))

static struct mew_rule cfa(const Dwarf_Op *ops, size_t n, bool signal)
{
	struct mew_rule rule = {.fp_off = 77};

	mew_expression_cfa(ops, n, signal, &rule);
	assert_int_equal(rule.fp_off, 77);
	return rule;
}

static void a_register_and_an_offset_are_a_plain_rule(void **state)
{
	const Dwarf_Op sp[] = {{.atom = DW_OP_bregx, .number = 7, .number2 = 48}};
	const Dwarf_Op fp[] = {{.atom = DW_OP_breg6, .number = 16}};
	const Dwarf_Op r10[] = {{.atom = DW_OP_breg10, .number = (Dwarf_Word)-8}};
	const Dwarf_Op far[] = {{.atom = DW_OP_breg7, .number = 1ull << 32}};
	const Dwarf_Op xmm[] = {{.atom = DW_OP_bregx, .number = 17, .number2 = 0}};
	struct mew_rule rule;

	(void)state;
	rule = cfa(sp, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_SP);
	assert_int_equal(rule.cfa_off, 48);
	rule = cfa(fp, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_FP);
	assert_int_equal(rule.cfa_off, 16);
	rule = cfa(r10, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_OTHER);
	assert_int_equal(rule.aux, 10);
	assert_int_equal(rule.cfa_off, -8);
	assert_int_equal(cfa(far, 1, false).cfa, MEW_CFA_EVALUATE);
	assert_int_equal(cfa(xmm, 1, false).cfa, MEW_CFA_EVALUATE);
}

static void a_dereferenced_register_is_a_realigned_stack(void **state)
{
	const Dwarf_Op fp[] = {{.atom = DW_OP_breg6, .number = (Dwarf_Word)-8},
			       {.atom = DW_OP_deref}};
	const Dwarf_Op sp[] = {{.atom = DW_OP_breg7, .number = 152},
			       {.atom = DW_OP_deref},
			       {.atom = DW_OP_plus_uconst, .number = 8}};
	const Dwarf_Op big[] = {{.atom = DW_OP_breg7, .number = 152},
				{.atom = DW_OP_deref},
				{.atom = DW_OP_plus_uconst, .number = 256}};
	const Dwarf_Op rbx[] = {{.atom = DW_OP_breg3, .number = 8}, {.atom = DW_OP_deref}};
	struct mew_rule rule;

	(void)state;
	rule = cfa(fp, N(fp), false);
	assert_int_equal(rule.cfa, MEW_CFA_DEREF_FP);
	assert_int_equal(rule.cfa_off, -8);
	rule = cfa(sp, N(sp), false);
	assert_int_equal(rule.cfa, MEW_CFA_DEREF_SP);
	assert_int_equal(rule.cfa_off, 152);
	assert_int_equal(rule.aux, 8);
	assert_int_equal(cfa(sp, 2, false).aux, 0);
	assert_int_equal(cfa(big, N(big), false).cfa, MEW_CFA_EVALUATE);
	assert_int_equal(cfa(rbx, N(rbx), false).cfa, MEW_CFA_EVALUATE);
	assert_int_equal(cfa(rbx, N(rbx), false).cfa_off, 0);
}

static void a_plt_stub_is_known_by_its_whole_expression(void **state)
{
	Dwarf_Op ops[] = {
		{.atom = DW_OP_breg7, .number = 8},
		{.atom = DW_OP_breg16},
		{.atom = DW_OP_lit15},
		{.atom = DW_OP_and},
		{.atom = DW_OP_lit11},
		{.atom = DW_OP_ge},
		{.atom = DW_OP_lit3},
		{.atom = DW_OP_shl},
		{.atom = DW_OP_plus},
	};
	struct mew_rule rule = cfa(ops, N(ops), false);
	size_t i;

	(void)state;
	assert_int_equal(rule.cfa, MEW_CFA_PLT);
	assert_int_equal(rule.aux, 11);
	for (i = 0; i < N(ops); i++) {
		Dwarf_Op good = ops[i];

		assert_int_equal(cfa(ops, i + 1, false).cfa == MEW_CFA_PLT, i + 1 == N(ops));
		ops[i].atom = DW_OP_nop;
		assert_int_equal(cfa(ops, N(ops), false).cfa, MEW_CFA_EVALUATE);
		ops[i] = good;
	}
}

static void a_signal_frame_is_a_word_of_the_ucontext(void **state)
{
	const Dwarf_Op ops[] = {{.atom = DW_OP_breg7, .number = 168}, {.atom = DW_OP_deref}};
	const Dwarf_Op plain[] = {{.atom = DW_OP_breg7, .number = 160}};
	struct mew_rule rule = cfa(ops, N(ops), true);

	(void)state;
	assert_int_equal(rule.cfa, MEW_CFA_SIGNAL);
	assert_int_equal(rule.cfa_off, 8);
	assert_int_equal(cfa(plain, 1, true).cfa, MEW_CFA_EVALUATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_register_and_an_offset_are_a_plain_rule),
		cmocka_unit_test(a_dereferenced_register_is_a_realigned_stack),
		cmocka_unit_test(a_plt_stub_is_known_by_its_whole_expression),
		cmocka_unit_test(a_signal_frame_is_a_word_of_the_ucontext),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
