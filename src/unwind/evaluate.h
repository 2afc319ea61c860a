/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h: runs the programs of table.h's MEW_CFA_EVALUATE, which are DWARF expressions (DWARF
 * 5, 2.5). Like the walk it takes no lock, allocates nothing and calls no library.
 */
#ifndef MEW_UNWIND_EVALUATE_H
#define MEW_UNWIND_EVALUATE_H

#include "unwind/table.h"
#include "unwind/walk.h"

#define MEW_EVALUATE_DEPTH 32  /* values on its stack at most */
#define MEW_EVALUATE_STEPS 256 /* operations at most: programs may loop */

/* What a program may look at. */
struct mew_evaluate {
	const struct mew_walk_stack *stack;
	const uint64_t *regs; /* MEW_WALK_REGS by DWARF number */
	uint64_t known;       /* bit i: regs[i] is */
	uint64_t cfa;         /* DW_OP_call_frame_cfa; not in the CFA's own program */
	uint64_t bad_at;      /* set with MEW_EVALUATE_UNREADABLE */
};

enum mew_evaluate_result {
	MEW_EVALUATED,
	MEW_EVALUATE_UNREADABLE, /* what lies at bad_at is not in the stack */
	MEW_EVALUATE_UNKNOWN,    /* a register that it asks for is not known */
	MEW_EVALUATE_BAD, /* no program: an unknown operation, a missing value, an endless loop */
};

/*
 * Runs the program at *ops, of which *n operations are there, and moves both on to the one that
 * follows. *ret_end tells how it ended; *ret_value is set for MEW_OP_VALUE and, read from its
 * location, for MEW_OP_LOCATION.
 */
enum mew_evaluate_result mew_evaluate(struct mew_evaluate *e, const struct mew_op **ops,
				      uint32_t *n, uint64_t *ret_value, enum mew_op_end *ret_end);

#endif
