/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/row.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "unwind/cpu.h"
#include "unwind/expression.h"

static const struct mew_rule unsaid = {.cfa = MEW_CFA_EVALUATE, .cfa_off = -1};

/* How libdw tells where a register is. */
struct place {
	Dwarf_Op mem[3], *ops;
	size_t n;
};

static bool find_place(Dwarf_Frame *frame, int reg, struct place *ret)
{
	return !dwarf_frame_register(frame, reg, ret->mem, &ret->ops, &ret->n);
}

static bool is_same(const struct place *p)
{
	return !p->n && !p->ops;
}

static bool is_undefined(const struct place *p)
{
	return !p->n && p->ops;
}

/* CFA + *ret_off: the location, or with DW_OP_stack_value the value itself. */
static bool by_cfa(const struct place *p, bool value, int64_t *ret_off)
{
	size_t n = p->n - (value ? 1 : 0);

	if (!p->n || p->ops[0].atom != DW_OP_call_frame_cfa ||
	    (value && p->ops[p->n - 1].atom != DW_OP_stack_value))
		return false;
	*ret_off = 0;
	if (n == 2 && p->ops[1].atom == DW_OP_plus_uconst)
		*ret_off = (int64_t)p->ops[1].number;
	return n == 1 || (n == 2 && p->ops[1].atom == DW_OP_plus_uconst);
}

/* In units of 8 bytes. */
static bool in_words(int64_t off, int16_t *ret)
{
	if (off % 8 || off / 8 < INT16_MIN || off / 8 > INT16_MAX)
		return false;
	*ret = (int16_t)(off / 8);
	return true;
}

/* fp + *ret_off */
static bool by_fp(const Dwarf_Op *op, int64_t *ret_off)
{
	if (op->atom == DW_OP_bregx && op->number == MEW_CPU_FP)
		*ret_off = (int64_t)op->number2;
	else if (op->atom == DW_OP_breg0 + MEW_CPU_FP)
		*ret_off = (int64_t)op->number;
	else
		return false;
	return true;
}

/* Whether a rule can say where a register was saved. */
static bool simple_place(const struct place *p, uint8_t *ret_at, int16_t *ret_off)
{
	int64_t off;

	*ret_off = 0;
	if (is_same(p) || is_undefined(p)) {
		*ret_at = is_same(p) ? MEW_FP_SAME : MEW_FP_UNDEFINED;
		return true;
	}
	if (by_cfa(p, false, &off)) {
		*ret_at = MEW_FP_AT_CFA;
		return in_words(off, ret_off);
	}
	if (p->n == 2 && p->ops[0].atom == DW_OP_call_frame_cfa && by_fp(&p->ops[1], &off)) {
		/* The expression did not use the CFA that it found on its stack. */
		*ret_at = MEW_FP_AT_FP;
		return in_words(off, ret_off);
	}
	return false;
}

/* ---- programs ---- */

static int push_op(struct mew_rows *rows, uint32_t atom, uint32_t reg, int64_t value)
{
	if (rows->n_ops >= MEW_ROW_OPS_MAX)
		return -EFBIG;
	if (MEW_ARRAY_PUSH(rows->ops, rows->n_ops, rows->cap_ops))
		return -ENOMEM;
	rows->ops[rows->n_ops++] = (struct mew_op){.value = value, .reg = reg, .atom = atom};
	return 0;
}

/* The operation that a branch at ops[i] leads to, as a distance; 0 when there is none there. */
static bool branch(const Dwarf_Op *ops, size_t n, size_t i, int64_t *ret)
{
	uint64_t want = ops[i].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[i].number;
	size_t k;

	for (k = 0; k < n; k++) {
		if (ops[k].offset == want)
			break;
	}
	*ret = (int64_t)k - (int64_t)i - 1;
	return k < n || want > ops[n - 1].offset;
}

/* One operation. -ENOTSUP: it means nothing here. */
static int add_op(struct mew_rows *rows, const Dwarf_Op *ops, size_t n, size_t i)
{
	const Dwarf_Op *op = &ops[i];
	int64_t number = (int64_t)op->number;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push_op(rows, DW_OP_const8s, 0, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_op(rows, DW_OP_breg0, op->atom - DW_OP_breg0, number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return push_op(rows, DW_OP_reg0, op->atom - DW_OP_reg0, 0);
	if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		return push_op(rows, DW_OP_const8s, 0, number);
	switch (op->atom) {
	case DW_OP_bregx:
		return push_op(rows, DW_OP_breg0, (uint32_t)op->number, (int64_t)op->number2);
	case DW_OP_regx:
		return push_op(rows, DW_OP_reg0, (uint32_t)op->number, 0);
	case DW_OP_dup:
		return push_op(rows, DW_OP_pick, 0, 0);
	case DW_OP_over:
		return push_op(rows, DW_OP_pick, 1, 0);
	case DW_OP_pick:
		return push_op(rows, DW_OP_pick, (uint32_t)op->number, 0);
	case DW_OP_deref:
		return push_op(rows, DW_OP_deref_size, 8, 0);
	case DW_OP_deref_size:
		return push_op(rows, DW_OP_deref_size, (uint32_t)op->number, 0);
	case DW_OP_skip:
	case DW_OP_bra:
		return branch(ops, n, i, &number) ? push_op(rows, op->atom, 0, number) : -ENOTSUP;
	case DW_OP_plus_uconst:
		return push_op(rows, DW_OP_plus_uconst, 0, number);
	case DW_OP_call_frame_cfa:
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_rot:
	case DW_OP_nop:
		return push_op(rows, op->atom, 0, 0);
	default:
		if (op->atom < DW_OP_abs || op->atom > DW_OP_ne)
			return -ENOTSUP;
		return push_op(rows, op->atom, 0, 0);
	}
}

static int add_program(struct mew_rows *rows, const Dwarf_Op *ops, size_t n, enum mew_op_end end)
{
	size_t i;
	int rc = 0;

	if (n && ops[n - 1].atom == DW_OP_stack_value) {
		end = MEW_OP_VALUE;
		n--;
	}
	/* DW_CFA_register: the value is in there, not at its address. */
	if (n == 1 && ((ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) ||
		       ops[0].atom == DW_OP_regx))
		end = MEW_OP_VALUE;
	for (i = 0; i < n && !rc; i++)
		rc = add_op(rows, ops, n, i);
	return rc ? rc : push_op(rows, 0, 0, end);
}

static int add_place(struct mew_rows *rows, Dwarf_Frame *frame, int reg)
{
	struct place p;

	if (!find_place(frame, reg, &p))
		return -ENOTSUP;
	if (!p.n)
		return push_op(rows, 0, 0, is_same(&p) ? MEW_OP_SAME : MEW_OP_UNDEFINED);
	return add_program(rows, p.ops, p.n, MEW_OP_LOCATION);
}

static int add_sp(struct mew_rows *rows, Dwarf_Frame *frame)
{
	struct place p;
	int64_t off;

	/* What most rows say, and what is meant where none says anything. */
	if (!find_place(frame, MEW_CPU_SP, &p) || !p.n || (by_cfa(&p, true, &off) && !off))
		return push_op(rows, 0, 0, MEW_OP_SAME);
	return add_program(rows, p.ops, p.n, MEW_OP_LOCATION);
}

/* Programs for all that a step needs. -ENOMEM; else 0. */
static int evaluate(struct mew_rows *rows, Dwarf_Frame *frame, int ra_regno, bool signal,
		    struct mew_rule *ret)
{
	size_t first = rows->n_ops, n;
	Dwarf_Op *ops;
	int rc;

	*ret = unsaid;
	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return 0;
	rc = add_program(rows, ops, n, MEW_OP_VALUE);
	if (!rc)
		rc = add_place(rows, frame, ra_regno);
	if (!rc)
		rc = add_sp(rows, frame);
	if (!rc)
		rc = add_place(rows, frame, MEW_CPU_FP);
	if (rc) {
		rows->n_ops = first;
		return rc == -ENOMEM ? rc : 0;
	}
	ret->cfa_off = (int32_t)first;
	ret->aux = signal;
	return 0;
}

/* ---- saved registers ---- */

static int first_saves(struct mew_rows *rows)
{
	unsigned i;

	if (MEW_ARRAY_PUSH(rows->saves, rows->n_saves, rows->cap_saves))
		return -ENOMEM;
	memset(rows->saves, 0, sizeof(*rows->saves));
	for (i = 0; i < MEW_RULE_REGS; i++)
		rows->saves[0].of[i].at = MEW_FP_UNDEFINED;
	rows->n_saves = 1;
	return 0;
}

static bool saves_are(const struct mew_rows *rows, size_t i, const struct mew_rule_saves *want)
{
	return !memcmp(&rows->saves[i], want, sizeof(*want));
}

/* A library has some dozens of them, and a row has mostly one that was seen before. */
static int find_saves(struct mew_rows *rows, const struct mew_rule_saves *want, uint8_t *ret)
{
	uint64_t hash = 0;
	uint8_t *known;
	size_t i;

	if (!rows->n_saves && first_saves(rows))
		return -ENOMEM;
	for (i = 0; i < MEW_CPU_SAVED_N; i++)
		hash = mew_hash_u64(hash ^
				    ((uint64_t)(uint16_t)want->of[i].off << 8 | want->of[i].at));
	known = &rows->by_hash[hash % MEW_ROW_HASHES];
	if (saves_are(rows, *known, want)) {
		*ret = *known;
		return 0;
	}
	for (i = 0; i < rows->n_saves && !saves_are(rows, i, want); i++)
		;
	if (i == MEW_RULE_SAVES) {
		i = 0;
	} else if (i == rows->n_saves) {
		if (MEW_ARRAY_PUSH(rows->saves, rows->n_saves, rows->cap_saves))
			return -ENOMEM;
		rows->saves[rows->n_saves++] = *want;
	}
	*ret = *known = (uint8_t)i;
	return 0;
}

static int add_saves(struct mew_rows *rows, Dwarf_Frame *frame, uint8_t *ret)
{
	struct mew_rule_saves saves;
	struct place p;
	unsigned i;

	memset(&saves, 0, sizeof(saves));
	for (i = 0; i < MEW_CPU_SAVED_N; i++) {
		if (find_place(frame, mew_cpu_saved[i], &p) &&
		    simple_place(&p, &saves.of[i].at, &saves.of[i].off))
			continue;
		saves.of[i].at = MEW_FP_UNDEFINED;
		saves.of[i].off = 0;
	}
	return find_saves(rows, &saves, ret);
}

/* ---- rows ---- */

/* Whether a rule says it all without a program. */
static bool simple_rule(Dwarf_Frame *frame, int ra_regno, bool signal, struct mew_rule *rule)
{
	struct place p;
	Dwarf_Op *ops;
	int64_t off;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	mew_expression_cfa(ops, n, signal, rule);
	if (signal || rule->cfa == MEW_CFA_EVALUATE)
		return rule->cfa == MEW_CFA_SIGNAL;
	if (!find_place(frame, ra_regno, &p))
		return false;
	/* Still in the link register, or on the stack, where it is never at the CFA itself. */
	if (MEW_CPU_HAS_LR ? !is_same(&p) && !by_cfa(&p, false, &off) : !by_cfa(&p, false, &off))
		return false;
	if (!is_same(&p) && (!off || !in_words(off, &rule->ra_off)))
		return false;
	if (find_place(frame, MEW_CPU_SP, &p) && p.n && !(by_cfa(&p, true, &off) && !off))
		return false;
	if (!find_place(frame, MEW_CPU_FP, &p))
		return false;
	return simple_place(&p, &rule->fp, &rule->fp_off);
}

int mew_rows_rule(struct mew_rows *rows, Dwarf_Frame *frame, int ra_regno, bool signal,
		  struct mew_rule *ret)
{
	struct mew_rule rule = {0};
	struct place ra;
	int rc = 0;

	if (!find_place(frame, ra_regno, &ra)) {
		*ret = unsaid;
		return 0;
	}
	if (is_undefined(&ra)) {
		*ret = (struct mew_rule){.cfa = MEW_CFA_END};
		return 0;
	}
	if (!simple_rule(frame, ra_regno, signal, &rule))
		rc = evaluate(rows, frame, ra_regno, signal, &rule);
	if (!rc && rule.cfa != MEW_CFA_SIGNAL)
		rc = add_saves(rows, frame, &rule.saves);
	if (!rc)
		*ret = rule;
	return rc;
}

void mew_rows_done(struct mew_rows *rows)
{
	free(rows->saves);
	free(rows->ops);
	*rows = (struct mew_rows){0};
}
