/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: from the kernel's records to what unwind takes: a sample's registers and stack, a
 * mapping; and to frames of the kernel. */
#ifndef MEW_SESSION_SAMPLE_H
#define MEW_SESSION_SAMPLE_H

#include "kernel/record.h"
#include "session/breaks.h"
#include "session/collect.h"
#include "unwind/modules.h"
#include "unwind/walk.h"

/* Registers and stack copy of r, whose own they stay. 0; -EPROTO: r has no registers. */
int mew_sample_start(const struct mew_record *r, struct mew_walk_start *ret_start,
		     struct mew_walk_stack *ret_stack);

/* The kernel's frames of r, if it has some, inside of the user stack that ends at node: the
 * innermost of all. UINT32_MAX without memory. */
uint32_t mew_sample_kernel(struct mew_collect *c, uint32_t node, const struct mew_record *r);

/* The same of a record without user registers (a thread that the kernel runs for the process): who
 * called is not known, the stack is broken and counted. */
uint32_t mew_sample_kernel_alone(struct mew_collect *c, struct mew_breaks *b,
				 const struct mew_record *r);

/* Whether the user stack of r could not be read. In the kernel its memory may be out of reach (its
 * page is just being made, or an exec has dropped it): that is no matter of the copy's size. */
static inline int mew_sample_is_unread(const struct mew_record *r)
{
	return r->n_kernel_pcs && !r->stack_bytes;
}

/* mew_breaks_add() of the user stack of r, as w walked it. */
int mew_sample_breaks(struct mew_breaks *b, const struct mew_modules *m, const struct mew_record *r,
		      const struct mew_walk_result *w, int broken);

/* Of a MMAP record; its path stays r's. */
struct mew_mapped mew_sample_mapped(const struct mew_record *r);

#endif
