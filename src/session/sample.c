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

static uint32_t add_frames(struct mew_collect *c, uint32_t node, const struct mew_record *r,
			   enum mew_collect_mark outermost)
{
	for (uint32_t i = r->n_kernel_pcs; i-- > 0 && node != UINT32_MAX;)
		node = mew_collect_child(c, node, MEW_COLLECT_KERNEL, mew_record_kernel_pc(r, i),
					 i == 0,
					 i + 1 == r->n_kernel_pcs ? outermost : MEW_COLLECT_WHOLE);
	return node;
}

uint32_t mew_sample_kernel(struct mew_collect *c, uint32_t node, const struct mew_record *r)
{
	return add_frames(c, node, r, MEW_COLLECT_WHOLE);
}

uint32_t mew_sample_kernel_alone(struct mew_collect *c, struct mew_breaks *b,
				 const struct mew_record *r)
{
	mew_breaks_unread(b);
	return add_frames(c, 0, r, MEW_COLLECT_BROKEN);
}

int mew_sample_breaks(struct mew_breaks *b, const struct mew_modules *m, const struct mew_record *r,
		      const struct mew_walk_result *w, int broken)
{
	if (!broken || !mew_sample_is_unread(r))
		return mew_breaks_add(b, m, w, broken);
	mew_breaks_unread(b);
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
