/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h: one row of call frame information, as libdw gives it, as a rule of table.h, with what the
 * rule refers to. Knows no file.
 */
#ifndef MEW_UNWIND_ROW_H
#define MEW_UNWIND_ROW_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "unwind/table.h"

#define MEW_ROW_OPS_MAX (1u << 20) /* operations of a file; the largest libraries have hundreds */
#define MEW_ROW_HASHES 1024

/* What rules refer to, of one file. Zeroed to start. */
struct mew_rows {
	struct mew_rule_saves *saves; /* owned */
	size_t n_saves, cap_saves;
	uint8_t by_hash[MEW_ROW_HASHES]; /* the one found last of each hash */
	struct mew_op *ops;              /* owned */
	size_t n_ops, cap_ops;
};

/* The rule of frame, start not set; what cannot be said becomes MEW_CFA_EVALUATE, and what no
 * program says one without. 0 or -ENOMEM. */
int mew_rows_rule(struct mew_rows *rows, Dwarf_Frame *frame, int ra_regno, bool signal,
		  struct mew_rule *ret);
void mew_rows_done(struct mew_rows *rows);

#endif
