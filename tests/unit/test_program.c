/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dwarf.h>
#include <string.h>

#include "unit.h"
#include "unwind/program.h"

/* Whether the bytes are a good program of FDEs with addresses of 4 bytes; how many instructions. */
#define CHECK(...) check((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), 4)

static size_t n_found;

static bool check(const uint8_t *p, size_t n, size_t address_bytes)
{
	n_found = 77;
	return mew_program_check(p, p + n, address_bytes, &n_found);
}

static void what_compilers_write_is_good(void **state)
{
	(void)state;
	assert_true(CHECK(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, DW_CFA_nop, DW_CFA_nop));
	assert_int_equal(n_found, 4);
	assert_true(CHECK(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
			  DW_CFA_advance_loc1, 200, DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8,
			  DW_CFA_advance_loc2, 1, 1, DW_CFA_restore_state, DW_CFA_advance_loc4, 1,
			  0, 0, 0, DW_CFA_def_cfa_register, 6));
	assert_int_equal(n_found, 10);
	assert_true(CHECK(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
			  DW_CFA_expression, 6, 2, DW_OP_breg6, 0));
	assert_int_equal(n_found, 2);
	assert_true(check((const uint8_t *)"", 0, 4));
	assert_int_equal(n_found, 0);
}

static void instructions_that_end_early_are_bad(void **state)
{
	(void)state;
	assert_false(CHECK(DW_CFA_def_cfa, 7));
	assert_false(CHECK(DW_CFA_def_cfa_offset, 0x80));
	assert_false(CHECK(DW_CFA_advance_loc4, 0, 0, 0));
	assert_false(CHECK(DW_CFA_def_cfa_expression, 2, DW_OP_breg6));
	assert_false(CHECK(DW_CFA_offset | 6));
	assert_false(CHECK(DW_CFA_set_loc, 0, 0, 0));
	assert_int_equal(n_found, 77);
}

static void unknown_instructions_are_bad(void **state)
{
	(void)state;
	assert_false(CHECK(DW_CFA_nop, 0x3c));
	assert_false(CHECK(0x17));
}

static void an_address_has_the_size_of_its_encoding(void **state)
{
	const uint8_t p[] = {DW_CFA_set_loc, 1, 2, 3, 4, DW_CFA_nop, 0, 0, 0};

	(void)state;
	assert_true(check(p, sizeof(p), 8));
	assert_int_equal(n_found, 1);
	assert_true(check(p, sizeof(p), 4));
	assert_int_equal(n_found, 5);
	assert_false(check(p, sizeof(p), 0));
}

static void registers_that_no_cpu_has_are_bad(void **state)
{
	(void)state;
	assert_true(CHECK(DW_CFA_undefined, 0xff, 0x01));  /* 255 */
	assert_false(CHECK(DW_CFA_undefined, 0x80, 0x02)); /* 256 */
	/* A gigabyte to libdw. */
	assert_false(CHECK(DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0x3f, 1));
	assert_false(CHECK(DW_CFA_register, 3, 0xff, 0x7f));
	/* Eleven bytes, of which libdw reads ten. */
	assert_false(CHECK(DW_CFA_same_value, 0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			   0x80, 0x01));
}

static void states_are_remembered_within_limits(void **state)
{
	uint8_t p[2 * MEW_PROGRAM_STATES + 2];

	(void)state;
	memset(p, DW_CFA_remember_state, sizeof(p));
	assert_true(check(p, MEW_PROGRAM_STATES, 4));
	assert_false(check(p, MEW_PROGRAM_STATES + 1, 4));
	p[MEW_PROGRAM_STATES - 1] = DW_CFA_restore_state;
	assert_true(check(p, MEW_PROGRAM_STATES + 1, 4));
}

static void a_number_ends_where_it_says(void **state)
{
	const uint8_t bytes[] = {0xe5, 0x8e, 0x26, 0x80};
	const uint8_t *p = bytes;
	uint64_t value = 0;

	(void)state;
	assert_true(mew_program_number(&p, bytes + sizeof(bytes), &value));
	assert_int_equal(value, 624485);
	assert_ptr_equal(p, bytes + 3);
	assert_false(mew_program_number(&p, bytes + sizeof(bytes), &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_compilers_write_is_good),
		cmocka_unit_test(instructions_that_end_early_are_bad),
		cmocka_unit_test(unknown_instructions_are_bad),
		cmocka_unit_test(an_address_has_the_size_of_its_encoding),
		cmocka_unit_test(registers_that_no_cpu_has_are_bad),
		cmocka_unit_test(states_are_remembered_within_limits),
		cmocka_unit_test(a_number_ends_where_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
