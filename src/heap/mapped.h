/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped.h: which address ranges the program has mapped in the window, and the figures of them in
 * the segment (struct mew_segment_mapped). Fed by events, so it needs no process. The caller holds
 * the lock.
 */
#ifndef MEW_HEAP_MAPPED_H
#define MEW_HEAP_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include "channel/segment.h"
#include "heap/pages.h"

struct mew_mapped_range {
	uint64_t lo, hi; /* [lo, hi), whole pages */
};

struct mew_mapped {
	struct mew_segment_mapped *figures; /* borrowed */
	struct mew_pages *pages;            /* borrowed */
	uint64_t page_bytes;
	struct mew_mapped_range *ranges; /* in order; between two of them there is a gap */
	size_t n, cap;
};

/* -ENOMEM. */
int mew_mapped_init(struct mew_mapped *m, struct mew_segment_mapped *figures,
		    struct mew_pages *pages, uint64_t page_bytes);
void mew_mapped_done(struct mew_mapped *m);

/* Bytes at addr were mapped, in the place of whatever was there: inside, they are tracked. */
void mew_mapped_map(struct mew_mapped *m, uint64_t addr, uint64_t bytes, int inside);

/* Bytes at addr are no longer mapped: all of a range, a part, or several. */
void mew_mapped_unmap(struct mew_mapped *m, uint64_t addr, uint64_t bytes);

/* The window has closed: what is live now is held. */
void mew_mapped_close(struct mew_mapped *m);

#endif
