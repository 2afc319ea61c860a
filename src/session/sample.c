/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>

#include "session/sample.h"
#include "unwind/cpu.h"

int mew_sample_start(const struct mew_record *r, struct mew_walk_start *ret_start,
		     struct mew_walk_stack *ret_stack)
{
	uint64_t sp = r->regs[MEW_CPU_SP];

	if (!r->has_regs)
		return -EPROTO;
	*ret_start = (struct mew_walk_start){
		.pc = r->regs[MEW_CPU_PC],
		.sp = sp,
		.fp = r->regs[MEW_CPU_FP],
		.regs = r->regs,
		.known = MEW_WALK_REGS_ALL,
	};
	*ret_stack = (struct mew_walk_stack){sp, sp + (r->stack ? r->stack_bytes : 0), r->stack};
	return 0;
}

struct mew_mapped mew_sample_mapped(const struct mew_record *r)
{
	return (struct mew_mapped){
		.start_pc = r->start,
		.end_pc = r->start + r->bytes,
		.file_off = r->file_off,
		.dev = r->dev,
		.ino = r->ino,
		.from_ns = r->time_ns,
		.path = r->path,
	};
}
