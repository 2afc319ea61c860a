/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unit.h"
#include "unwind/cpu.h"
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
	const Dwarf_Op sp[] = {{.atom = DW_OP_bregx, .number = 31, .number2 = 48}};
	const Dwarf_Op short_sp[] = {{.atom = DW_OP_breg31, .number = 0}};
	const Dwarf_Op fp[] = {{.atom = DW_OP_breg29, .number = 32}};
	const Dwarf_Op x9[] = {{.atom = DW_OP_breg9, .number = (Dwarf_Word)-8}};
	const Dwarf_Op far[] = {{.atom = DW_OP_breg31, .number = 1ull << 32}};
	const Dwarf_Op vector[] = {{.atom = DW_OP_bregx, .number = 64, .number2 = 0}};
	struct mew_rule rule;

	(void)state;
	rule = cfa(sp, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_SP);
	assert_int_equal(rule.cfa_off, 48);
	rule = cfa(short_sp, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_SP);
	assert_int_equal(rule.cfa_off, 0);
	rule = cfa(fp, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_FP);
	assert_int_equal(rule.cfa_off, 32);
	rule = cfa(x9, 1, false);
	assert_int_equal(rule.cfa, MEW_CFA_OTHER);
	assert_int_equal(rule.aux, 9);
	assert_int_equal(rule.cfa_off, -8);
	assert_int_equal(cfa(far, 1, false).cfa, MEW_CFA_EVALUATE);
	assert_int_equal(cfa(far, 1, false).cfa_off, 0);
	assert_int_equal(cfa(vector, 1, false).cfa, MEW_CFA_EVALUATE);
}

static void what_is_no_register_is_left_to_evaluation(void **state)
{
	const Dwarf_Op deref[] = {{.atom = DW_OP_breg29, .number = 0}, {.atom = DW_OP_deref}};

	(void)state;
	assert_int_equal(cfa(deref, N(deref), false).cfa, MEW_CFA_EVALUATE);
}

static void a_signal_frame_is_where_the_kernel_puts_it(void **state)
{
	const Dwarf_Op fp[] = {{.atom = DW_OP_breg29, .number = 0}};
	struct mew_rule rule;

	(void)state;
	rule = cfa(fp, 1, true);
	assert_int_equal(rule.cfa, MEW_CFA_SIGNAL);
	assert_int_equal(rule.cfa_off, 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_register_and_an_offset_are_a_plain_rule),
		cmocka_unit_test(what_is_no_register_is_left_to_evaluation),
		cmocka_unit_test(a_signal_frame_is_where_the_kernel_puts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
