/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/expression.h"

#include <dwarf.h>

#include "unwind/cpu.h"

#if MEW_CPU_EM == 62

/* What linkers write for .plt: rsp + 8 + ((rip & 15) >= push) << 3. */
static bool plt(const Dwarf_Op *ops, size_t n)
{
	return n == 9 && ops[0].atom == DW_OP_breg7 && ops[0].number == 8 &&
	       ops[1].atom == DW_OP_breg16 && ops[1].number == 0 && ops[2].atom == DW_OP_lit15 &&
	       ops[3].atom == DW_OP_and && ops[4].atom >= DW_OP_lit0 &&
	       ops[4].atom <= DW_OP_lit15 && ops[5].atom == DW_OP_ge && ops[6].atom == DW_OP_lit3 &&
	       ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus;
}

void mew_expression_cfa(const Dwarf_Op *ops, size_t n, bool signal, struct mew_rule *rule)
{
	uint64_t reg = 0;
	int64_t off = 0;
	bool based = mew_expression_register(&ops[0], &reg, &off);
	bool deref = based && n >= 2 && ops[1].atom == DW_OP_deref;

	rule->cfa = MEW_CFA_EVALUATE;
	rule->cfa_off = 0;
	rule->aux = 0;
	if (signal) {
		/* The caller's sp is a word of the ucontext, and so are all other registers. */
		if (deref && n == 2 && reg == MEW_CPU_SP &&
		    mew_expression_fits(off - MEW_CPU_CONTEXT_SP)) {
			rule->cfa = MEW_CFA_SIGNAL;
			rule->cfa_off = (int32_t)(off - MEW_CPU_CONTEXT_SP);
		}
	} else if (based && n == 1) {
		rule->cfa_off = (int32_t)off;
		rule->cfa = reg == MEW_CPU_SP   ? MEW_CFA_SP
			    : reg == MEW_CPU_FP ? MEW_CFA_FP
			    : reg < MEW_CPU_PC  ? MEW_CFA_OTHER
						: MEW_CFA_EVALUATE;
		if (rule->cfa == MEW_CFA_OTHER)
			rule->aux = (uint8_t)reg;
	} else if (deref && n == 2 && reg == MEW_CPU_FP) {
		rule->cfa = MEW_CFA_DEREF_FP;
		rule->cfa_off = (int32_t)off;
	} else if (deref && reg == MEW_CPU_SP &&
		   (n == 2 ||
		    (n == 3 && ops[2].atom == DW_OP_plus_uconst && ops[2].number <= UINT8_MAX))) {
		rule->cfa = MEW_CFA_DEREF_SP;
		rule->cfa_off = (int32_t)off;
		rule->aux = n == 3 ? (uint8_t)ops[2].number : 0;
	} else if (plt(ops, n)) {
		rule->cfa = MEW_CFA_PLT;
		rule->aux = ops[4].atom - DW_OP_lit0;
	}
	if (rule->cfa == MEW_CFA_EVALUATE)
		rule->cfa_off = 0;
}

#endif
