/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h: which of the sizes of the stack's copy a whole program is sampled with, by what its
 * stacks so far needed.
 */
#ifndef MEW_SESSION_COPIES_H
#define MEW_SESSION_COPIES_H

#include <stdint.h>

#include "kernel/record.h"
#include "kernel/whole.h"
#include "unwind/walk.h"

struct mew_copies {
	uint32_t bytes;            /* the size; copies of others are not counted here */
	uint32_t below;            /* the next smaller one; 0: none */
	uint32_t before;           /* the one that was too small; 0: none was */
	uint64_t n, n_cut;         /* samples of this size, and those with a longer stack */
	uint64_t n_cut_all;        /* of any size, also by a page that was not there */
	uint64_t n_deeper;         /* of any size, without those */
	uint64_t n_tried, n_ended; /* since the last trial: samples of this size, and those whose
				      stack ended in the copy */
	uint64_t need_bytes;       /* and the most that a whole one took; UINT64_MAX: one broke */
};

/* bytes: what the events are opened with. */
void mew_copies_init(struct mew_copies *c, uint32_t bytes);

/* The stack of r was walked. The samples of a size that was given up come for a while yet. */
void mew_copies_note(struct mew_copies *c, const struct mew_record *r,
		     const struct mew_walk_result *walk, int whole);

/* After what there was to read: take another size of w where it is time to. */
void mew_copies_fit(struct mew_copies *c, struct mew_whole *w);

/* How long to wait at most until then. */
int mew_copies_wait_ms(const struct mew_copies *c, const struct mew_whole *w);

/* The size that was too small, or is. 0: no stack was cut. */
uint32_t mew_copies_too_small(const struct mew_copies *c);

#endif
