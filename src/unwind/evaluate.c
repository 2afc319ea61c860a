/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/evaluate.h"

#include <dwarf.h>

#include "unwind/memory.h"

struct machine {
	struct mew_evaluate *e;
	uint64_t values[MEW_EVALUATE_DEPTH];
	unsigned n;
	enum mew_evaluate_result result;
};

static void fail(struct machine *m, enum mew_evaluate_result why)
{
	if (m->result == MEW_EVALUATED)
		m->result = why;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->n == MEW_EVALUATE_DEPTH)
		fail(m, MEW_EVALUATE_BAD);
	else
		m->values[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n)
		return m->values[--m->n];
	fail(m, MEW_EVALUATE_BAD);
	return 0;
}

/* The value `depth` below the top. */
static uint64_t peek(struct machine *m, uint64_t depth)
{
	if (depth < m->n)
		return m->values[m->n - 1 - depth];
	fail(m, MEW_EVALUATE_BAD);
	return 0;
}

static uint64_t reg(struct machine *m, uint32_t number)
{
	if (number < MEW_WALK_REGS && (m->e->known >> number & 1))
		return m->e->regs[number];
	fail(m, number < MEW_WALK_REGS ? MEW_EVALUATE_UNKNOWN : MEW_EVALUATE_BAD);
	return 0;
}

static uint64_t load(struct machine *m, uint64_t at, uint32_t bytes)
{
	uint64_t word = 0, whole = 0;

	if (bytes < 1 || bytes > 8) {
		fail(m, MEW_EVALUATE_BAD);
		return 0;
	}
	if (!mew_stack_has(m->e->stack, at, bytes)) {
		m->e->bad_at = at;
		fail(m, MEW_EVALUATE_UNREADABLE);
		return 0;
	}
	if (mew_stack_word(m->e->stack, at, &whole))
		return bytes == 8 ? whole : whole & (((uint64_t)1 << bytes * 8) - 1);
	/* At the very end of the stack, where no whole word begins. */
	if (mew_stack_word(m->e->stack, at + bytes - 8, &word))
		return word >> (8 - bytes) * 8;
	m->e->bad_at = at;
	fail(m, MEW_EVALUATE_UNREADABLE);
	return 0;
}

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);

	push(m, a);
	push(m, c);
	push(m, b);
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	if (!y || (y == -1 && x == INT64_MIN)) {
		fail(m, MEW_EVALUATE_BAD);
		return 0;
	}
	return (uint64_t)(x / y);
}

/* a was pushed before b. */
static uint64_t binary(struct machine *m, uint32_t atom, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_div:
		return divide(m, a, b);
	case DW_OP_minus:
		return a - b;
	case DW_OP_mod:
		if (!b)
			fail(m, MEW_EVALUATE_BAD);
		return b ? a % b : 0;
	case DW_OP_mul:
		return a * b;
	case DW_OP_or:
		return a | b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return (uint64_t)(x >> (b < 64 ? b : 63));
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_eq:
		return x == y;
	case DW_OP_ge:
		return x >= y;
	case DW_OP_gt:
		return x > y;
	case DW_OP_le:
		return x <= y;
	case DW_OP_lt:
		return x < y;
	case DW_OP_ne:
		return x != y;
	default:
		fail(m, MEW_EVALUATE_BAD);
		return 0;
	}
}

/* An operation that goes on with the next one. */
static void step(struct machine *m, const struct mew_op *op)
{
	uint64_t value = (uint64_t)op->value, a;

	switch (op->atom) {
	case DW_OP_const8s:
		push(m, value);
		return;
	case DW_OP_breg0:
		push(m, reg(m, op->reg) + value);
		return;
	case DW_OP_reg0:
		push(m, reg(m, op->reg));
		return;
	case DW_OP_call_frame_cfa:
		push(m, m->e->cfa);
		return;
	case DW_OP_deref_size:
		push(m, load(m, pop(m), op->reg));
		return;
	case DW_OP_plus_uconst:
		push(m, pop(m) + value);
		return;
	case DW_OP_pick:
		push(m, peek(m, op->reg));
		return;
	case DW_OP_drop:
		pop(m);
		return;
	case DW_OP_swap:
		a = pop(m);
		value = pop(m);
		push(m, a);
		push(m, value);
		return;
	case DW_OP_rot:
		rotate(m);
		return;
	case DW_OP_abs:
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		return;
	case DW_OP_neg:
		push(m, -pop(m));
		return;
	case DW_OP_not:
		push(m, ~pop(m));
		return;
	case DW_OP_nop:
		return;
	default:
		a = pop(m);
		push(m, binary(m, op->atom, pop(m), a));
	}
}

/* Runs up to the program's end, whose operation is returned; NULL: it failed. */
static const struct mew_op *run(struct machine *m, const struct mew_op *ops, uint32_t n)
{
	uint32_t at = 0, steps;

	for (steps = 0; steps < MEW_EVALUATE_STEPS && m->result == MEW_EVALUATED; steps++) {
		struct mew_op op;
		int64_t next;

		if (at >= n)
			break;
		op = ops[at++]; /* shared memory: looked at once */
		if (!op.atom)
			return &ops[at - 1];
		if (op.atom != DW_OP_skip && op.atom != DW_OP_bra) {
			step(m, &op);
			continue;
		}
		if (op.atom == DW_OP_bra && !pop(m))
			continue;
		if (op.value < -(int64_t)n || op.value > (int64_t)n)
			break;
		next = (int64_t)at + op.value;
		if (next < 0)
			break;
		at = (uint32_t)next;
	}
	fail(m, MEW_EVALUATE_BAD);
	return NULL;
}

enum mew_evaluate_result mew_evaluate(struct mew_evaluate *e, const struct mew_op **ops,
				      uint32_t *n, uint64_t *ret_value, enum mew_op_end *ret_end)
{
	const struct mew_op *end;
	struct machine m; /* not zeroed: that would be a call */

	m.e = e;
	m.n = 0;
	m.result = MEW_EVALUATED;
	end = run(&m, *ops, *n);
	if (!end)
		return m.result;
	*ret_end = (enum mew_op_end)__atomic_load_n(&end->value, __ATOMIC_RELAXED);
	if (*ret_end == MEW_OP_VALUE || *ret_end == MEW_OP_LOCATION) {
		uint64_t value = pop(&m);

		if (*ret_end == MEW_OP_LOCATION)
			value = load(&m, value, 8);
		*ret_value = value;
	} else if (*ret_end != MEW_OP_UNDEFINED && *ret_end != MEW_OP_SAME) {
		return MEW_EVALUATE_BAD;
	}
	*n -= (uint32_t)(end + 1 - *ops);
	*ops = end + 1;
	return m.result;
}
