/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.h: the DWARF expressions that compilers, linkers and libcs write into CFI, and the
 * rules of table.h that say the same. In the folder of the CPU.
 */
#ifndef MEW_UNWIND_EXPRESSION_H
#define MEW_UNWIND_EXPRESSION_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

static inline bool mew_expression_fits(int64_t off)
{
	return off >= INT32_MIN && off <= INT32_MAX;
}

/* Whether op is a register + an offset of 32 bits, as libdw gives it for a plain rule and as an
 * expression has it. */
static inline bool mew_expression_register(const Dwarf_Op *op, uint64_t *ret_reg, int64_t *ret_off)
{
	if (op->atom == DW_OP_bregx) {
		*ret_reg = op->number;
		*ret_off = (int64_t)op->number2;
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*ret_reg = op->atom - DW_OP_breg0;
		*ret_off = (int64_t)op->number;
	} else {
		return false;
	}
	return mew_expression_fits(*ret_off);
}

/* The CFA's expression, n > 0. signal: the frame is a signal handler's caller. Sets cfa, cfa_off
 * and aux; MEW_CFA_EVALUATE for what it does not know. */
void mew_expression_cfa(const Dwarf_Op *ops, size_t n, bool signal, struct mew_rule *rule);

#endif
