/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.h: the DWARF expressions that compilers, linkers and libcs write into CFI, and the
 * rules of table.h that say the same. In the folder of the CPU.
 */
#ifndef MEW_UNWIND_EXPRESSION_H
#define MEW_UNWIND_EXPRESSION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "unwind/table.h"

/* The CFA's expression, n > 0. signal: the frame is a signal handler's caller. Sets cfa, cfa_off
 * and aux; MEW_CFA_EVALUATE for what it does not know. */
void mew_expression_cfa(const Dwarf_Op *ops, size_t n, bool signal, struct mew_rule *rule);

#endif
