/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unit.h"
#include "unwind/table.h"
#include "unwind_space.h"

static const struct mew_rule rules[] = {
	{.start = 0x10, .cfa = MEW_CFA_SP, .cfa_off = 8},
	{.start = 0x20, .cfa = MEW_CFA_NONE},
	{.start = 0x40, .cfa = MEW_CFA_FP, .cfa_off = 16},
};

static void a_rule_holds_up_to_the_next_one(void **state)
{
	struct space s = space_new();
	const struct mew_rule *rule;

	(void)state;
	space_add(&s, 0x1000, 0x2000, rules, 3);
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x100f, NULL));
	rule = mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL);
	assert_non_null(rule);
	assert_int_equal(rule->cfa, MEW_CFA_SP);
	assert_ptr_equal(mew_unwind_table_find(s.table, s.bytes, 0x101f, NULL), rule);
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1020, NULL));
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x103f, NULL));
	assert_int_equal(mew_unwind_table_find(s.table, s.bytes, 0x1fff, NULL)->cfa, MEW_CFA_FP);
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x2000, NULL));
	space_free(&s);
}

static void the_module_is_told_even_without_a_rule(void **state)
{
	struct space s = space_new();
	struct mew_unwind_table_module *module = space_add(&s, 0x1000, 0x2000, rules, 3);
	const struct mew_unwind_table_module *found = NULL;

	(void)state;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1000, &found));
	assert_ptr_equal(found, module);
	found = NULL;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0xfff, &found));
	assert_null(found);
	space_free(&s);
}

static void the_newest_mapping_wins_and_a_gone_one_is_not_there(void **state)
{
	struct space s = space_new();
	struct mew_unwind_table_module *old = space_add(&s, 0x1000, 0x3000, rules, 3), *new;
	const struct mew_unwind_table_module *found;

	(void)state;
	new = space_add(&s, 0x2000, 0x3000, rules, 1);
	assert_non_null(mew_unwind_table_find(s.table, s.bytes, 0x2010, &found));
	assert_ptr_equal(found, new);
	assert_non_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, &found));
	assert_ptr_equal(found, old);
	new->end_pc = 0;
	assert_non_null(mew_unwind_table_find(s.table, s.bytes, 0x2010, &found));
	assert_ptr_equal(found, old);
	old->end_pc = 0;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x2010, NULL));
	space_free(&s);
}

static void rules_outside_the_space_are_not_read(void **state)
{
	struct space s = space_new();
	struct mew_unwind_table_module *m = space_add(&s, 0x1000, 0x2000, rules, 3);
	uint64_t off = m->rules_off;

	(void)state;
	m->n_rules = UINT32_MAX;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	m->n_rules = 3;
	m->rules_off = s.bytes;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	m->rules_off = UINT64_MAX - 7;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	m->rules_off = off + 4;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	m->rules_off = off;
	m->base = 0x1020;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	m->base = 0x1010 - ((uint64_t)1 << 32);
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	m->base = 0x1000;
	assert_non_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	assert_null(mew_unwind_table_find(s.table, off + 2 * sizeof(*rules), 0x1010, NULL));
	assert_null(
		mew_unwind_table_find(s.table, sizeof(struct mew_unwind_table) - 1, 0x1010, NULL));
	s.table->n_modules = UINT32_MAX;
	assert_non_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	s.table->magic = 0;
	assert_null(mew_unwind_table_find(s.table, s.bytes, 0x1010, NULL));
	space_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_holds_up_to_the_next_one),
		cmocka_unit_test(the_module_is_told_even_without_a_rule),
		cmocka_unit_test(the_newest_mapping_wins_and_a_gone_one_is_not_there),
		cmocka_unit_test(rules_outside_the_space_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
