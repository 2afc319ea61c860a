/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/expression.h"

#include <dwarf.h>

#include "unwind/cpu.h"

#if MEW_CPU_EM == 183

void mew_expression_cfa(const Dwarf_Op *ops, size_t n, bool signal, struct mew_rule *rule)
{
	uint64_t reg = 0;
	int64_t off = 0;

	rule->cfa = MEW_CFA_EVALUATE;
	rule->cfa_off = 0;
	rule->aux = 0;
	if (signal) {
		/* Kernels say what they like of their trampoline (x29, so that nobody stumbles);
		 * what lies at sp is fixed. */
		rule->cfa = MEW_CFA_SIGNAL;
		rule->cfa_off = MEW_CPU_SIGINFO_BYTES;
	} else if (n == 1 && mew_expression_register(&ops[0], &reg, &off)) {
		if (reg == MEW_CPU_SP) {
			rule->cfa = MEW_CFA_SP;
		} else if (reg == MEW_CPU_FP) {
			rule->cfa = MEW_CFA_FP;
		} else if (reg < MEW_CPU_PC) {
			rule->cfa = MEW_CFA_OTHER;
			rule->aux = (uint8_t)reg;
		}
		if (rule->cfa != MEW_CFA_EVALUATE)
			rule->cfa_off = (int32_t)off;
	}
}

#endif
