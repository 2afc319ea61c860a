/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unit.h"
#include "unwind/evaluate.h"

#include <dwarf.h>

#define LO 0x7ffc00000000
#define N(ops) (sizeof(ops) / sizeof((ops)[0]))

#define PUSH(v) ((struct mew_op){.atom = DW_OP_const8s, .value = (v)})
#define OP(name) ((struct mew_op){.atom = DW_OP_##name})
#define BREG(r, v) ((struct mew_op){.atom = DW_OP_breg0, .reg = (r), .value = (v)})
#define DEREF(n) ((struct mew_op){.atom = DW_OP_deref_size, .reg = (n)})
#define VALUE ((struct mew_op){.value = MEW_OP_VALUE})

static const uint64_t words[4] = {0x1122334455667788, LO + 24, 7, 0xfedcba9876543210};
static const uint64_t regs[MEW_WALK_REGS] = {[3] = 5, [7] = LO, [9] = 1};
static const struct mew_walk_stack stack = {LO, LO + sizeof(words), (const uint8_t *)words};

static enum mew_evaluate_result run(const struct mew_op *ops, uint32_t n, uint64_t *ret)
{
	struct mew_evaluate e = {.stack = &stack, .regs = regs, .cfa = LO + 0x100};
	enum mew_op_end end;

	e.known = 1u << 3 | 1u << 7 | 1u << 9;
	return mew_evaluate(&e, &ops, &n, ret, &end);
}

static uint64_t value_of(const struct mew_op *ops, uint32_t n)
{
	uint64_t value = 0;

	assert_int_equal(run(ops, n, &value), MEW_EVALUATED);
	return value;
}

static enum mew_evaluate_result result_of(const struct mew_op *ops, uint32_t n)
{
	uint64_t value = 0;

	return run(ops, n, &value);
}

#define PROGRAM(...) (const struct mew_op[]){__VA_ARGS__}, N(((const struct mew_op[]){__VA_ARGS__}))
#define VALUE_OF(...) value_of(PROGRAM(__VA_ARGS__, VALUE))
#define RESULT_OF(...) result_of(PROGRAM(__VA_ARGS__))

static void operations_mean_what_the_standard_says(void **state)
{
	(void)state;
	assert_int_equal(VALUE_OF(PUSH(7), PUSH(3), OP(minus)), 4);
	assert_int_equal(VALUE_OF(PUSH(7), PUSH(3), OP(mod)), 1);
	assert_int_equal((int64_t)VALUE_OF(PUSH(-7), PUSH(3), OP(div)), -2);
	assert_int_equal(VALUE_OF(PUSH(6), PUSH(3), OP(mul)), 18);
	assert_int_equal(VALUE_OF(PUSH(6), PUSH(3), OP(and)), 2);
	assert_int_equal(VALUE_OF(PUSH(6), PUSH(3), OP(or)), 7);
	assert_int_equal(VALUE_OF(PUSH(6), PUSH(3), OP(xor)), 5);
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(4), OP(shl)), 16);
	assert_int_equal(VALUE_OF(PUSH(-1), PUSH(60), OP(shr)), 15);
	assert_int_equal((int64_t)VALUE_OF(PUSH(-16), PUSH(2), OP(shra)), -4);
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(200), OP(shl)), 0);
	assert_int_equal((int64_t)VALUE_OF(PUSH(-1), PUSH(200), OP(shra)), -1);
	assert_int_equal(VALUE_OF(PUSH(-5), OP(abs)), 5);
	assert_int_equal((int64_t)VALUE_OF(PUSH(5), OP(neg)), -5);
	assert_int_equal((int64_t)VALUE_OF(PUSH(0), OP(not )), -1);
	assert_int_equal(VALUE_OF(PUSH(-1), PUSH(1), OP(lt)), 1);
	assert_int_equal(VALUE_OF(PUSH(-1), PUSH(1), OP(ge)), 0);
	assert_int_equal(VALUE_OF(PUSH(2), PUSH(2), OP(le)), 1);
	assert_int_equal(VALUE_OF(PUSH(2), PUSH(2), OP(ne)), 0);
	assert_int_equal(VALUE_OF(PUSH(2), PUSH(2), OP(eq)), 1);
	assert_int_equal(VALUE_OF(PUSH(3), PUSH(2), OP(gt)), 1);
	assert_int_equal(VALUE_OF(PUSH(3), PUSH(2), OP(swap), OP(minus)), (uint64_t)-1);
	assert_int_equal(VALUE_OF(PUSH(3), PUSH(2), OP(drop)), 3);
	/* top third, second on top, third second: 1 2 3 is 3 1 2 */
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(2), PUSH(3), OP(rot)), 2);
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(2), PUSH(3), OP(rot), OP(drop)), 1);
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(2), PUSH(3), OP(rot), OP(drop), OP(drop)), 3);
	assert_int_equal(
		VALUE_OF(PUSH(8), PUSH(9), ((struct mew_op){.atom = DW_OP_pick, .reg = 1})), 8);
	assert_int_equal(
		VALUE_OF(PUSH(8), ((struct mew_op){.atom = DW_OP_plus_uconst, .value = 4})), 12);
	assert_int_equal(VALUE_OF(OP(nop), OP(call_frame_cfa)), LO + 0x100);
}

static void registers_and_the_stack_are_read(void **state)
{
	(void)state;
	assert_int_equal(VALUE_OF(BREG(3, -2)), 3);
	assert_int_equal(VALUE_OF(((struct mew_op){.atom = DW_OP_reg0, .reg = 3})), 5);
	/* as in libcrypto: rsp + 8 + r9 * 8, dereferenced */
	assert_int_equal(VALUE_OF(BREG(7, 8), BREG(9, 0), PUSH(8), OP(mul), OP(plus), DEREF(8)), 7);
	assert_int_equal(VALUE_OF(BREG(7, 0), DEREF(1)), 0x88);
	assert_int_equal(VALUE_OF(BREG(7, 0), DEREF(4)), 0x55667788);
	/* The last bytes of the stack, where no whole word begins. */
	assert_int_equal(VALUE_OF(BREG(7, 30), DEREF(2)), 0xfedc);
	assert_int_equal(RESULT_OF(BREG(7, 31), DEREF(2), VALUE), MEW_EVALUATE_UNREADABLE);
	assert_int_equal(RESULT_OF(BREG(7, -1), DEREF(1), VALUE), MEW_EVALUATE_UNREADABLE);
	assert_int_equal(RESULT_OF(BREG(7, 0), DEREF(9), VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(BREG(4, 0), VALUE), MEW_EVALUATE_UNKNOWN);
	assert_int_equal(RESULT_OF(BREG(17, 0), VALUE), MEW_EVALUATE_BAD);
}

static void a_location_is_read_and_what_follows_is_the_next_program(void **state)
{
	const struct mew_op program[] = {
		BREG(7, 16), {.value = MEW_OP_LOCATION}, {.value = MEW_OP_SAME}, PUSH(9), VALUE,
	};
	struct mew_evaluate e = {.stack = &stack, .regs = regs, .known = 1u << 7};
	const struct mew_op *ops = program;
	uint32_t n = N(program);
	enum mew_op_end end;
	uint64_t value = 0;

	(void)state;
	assert_int_equal(mew_evaluate(&e, &ops, &n, &value, &end), MEW_EVALUATED);
	assert_int_equal(end, MEW_OP_LOCATION);
	assert_int_equal(value, 7);
	assert_int_equal(mew_evaluate(&e, &ops, &n, &value, &end), MEW_EVALUATED);
	assert_int_equal(end, MEW_OP_SAME);
	assert_int_equal(value, 7);
	assert_int_equal(mew_evaluate(&e, &ops, &n, &value, &end), MEW_EVALUATED);
	assert_int_equal(value, 9);
	assert_int_equal(n, 0);
	assert_int_equal(mew_evaluate(&e, &ops, &n, &value, &end), MEW_EVALUATE_BAD);
}

static void an_end_of_no_known_kind_is_bad(void **state)
{
	const struct mew_op program[] = {PUSH(9), {.value = MEW_OP_LOCATION + 1}};
	struct mew_evaluate e = {.stack = &stack, .regs = regs};
	const struct mew_op *ops = program;
	uint32_t n = N(program);
	enum mew_op_end end;
	uint64_t value;

	(void)state;
	assert_int_equal(mew_evaluate(&e, &ops, &n, &value, &end), MEW_EVALUATE_BAD);
}

static void branches_go_where_they_say_and_not_for_ever(void **state)
{
	(void)state;
	assert_int_equal(VALUE_OF(PUSH(1), ((struct mew_op){.atom = DW_OP_skip, .value = 1}),
				  PUSH(2), OP(nop)),
			 1);
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(0),
				  ((struct mew_op){.atom = DW_OP_bra, .value = 1}), PUSH(2)),
			 2);
	assert_int_equal(VALUE_OF(PUSH(1), PUSH(5),
				  ((struct mew_op){.atom = DW_OP_bra, .value = 1}), PUSH(2)),
			 1);
	assert_int_equal(RESULT_OF(((struct mew_op){.atom = DW_OP_skip, .value = -1}), VALUE),
			 MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(((struct mew_op){.atom = DW_OP_skip, .value = -2}), VALUE),
			 MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(((struct mew_op){.atom = DW_OP_skip, .value = 2}), VALUE),
			 MEW_EVALUATE_BAD);
	assert_int_equal(
		RESULT_OF(((struct mew_op){.atom = DW_OP_skip, .value = INT64_MIN}), VALUE),
		MEW_EVALUATE_BAD);
}

static void a_program_that_makes_no_sense_is_bad(void **state)
{
	struct mew_op deep[MEW_EVALUATE_DEPTH + 2];
	uint64_t value;
	size_t i;

	(void)state;
	assert_int_equal(RESULT_OF(VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(PUSH(1), OP(plus), VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(PUSH(1), PUSH(0), OP(div), VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(PUSH(1), PUSH(0), OP(mod), VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(PUSH(INT64_MIN), PUSH(-1), OP(div), VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(PUSH(1), PUSH(1), {.atom = 0xff}, VALUE), MEW_EVALUATE_BAD);
	assert_int_equal(RESULT_OF(PUSH(1)), MEW_EVALUATE_BAD);
	for (i = 0; i < N(deep) - 1; i++)
		deep[i] = PUSH(1);
	deep[N(deep) - 1] = VALUE;
	assert_int_equal(run(deep, N(deep), &value), MEW_EVALUATE_BAD);
	deep[N(deep) - 2] = VALUE;
	assert_int_equal(run(deep, N(deep), &value), MEW_EVALUATED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_mean_what_the_standard_says),
		cmocka_unit_test(registers_and_the_stack_are_read),
		cmocka_unit_test(a_location_is_read_and_what_follows_is_the_next_program),
		cmocka_unit_test(an_end_of_no_known_kind_is_bad),
		cmocka_unit_test(branches_go_where_they_say_and_not_for_ever),
		cmocka_unit_test(a_program_that_makes_no_sense_is_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
