/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: from the kernel's records to what unwind takes: a sample's registers and stack, a
 * mapping. */
#ifndef MEW_SESSION_SAMPLE_H
#define MEW_SESSION_SAMPLE_H

#include "kernel/record.h"
#include "unwind/modules.h"
#include "unwind/walk.h"

/* Registers and stack copy of r, whose own they stay. 0; -EPROTO: r has no registers. */
int mew_sample_start(const struct mew_record *r, struct mew_walk_start *ret_start,
		     struct mew_walk_stack *ret_stack);

/* Of a MMAP record; its path stays r's. */
struct mew_mapped mew_sample_mapped(const struct mew_record *r);

#endif
