/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h: one mapped ring buffer of a perf event: records in order, wrapped ones joined, each
 * checked before it is shown.
 */
#ifndef MEW_KERNEL_RING_H
#define MEW_KERNEL_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct mew_ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;      /* of data, a power of two */
	uint8_t *joined;    /* room for one wrapped record */
	uint64_t most_fill; /* highest fill seen at a drain since mew_ring_reset_fill */
};

/* Map fd with data_bytes (a power of two of pages). 0, -EPERM (the memory limit: error names
 * perf_event_mlock_kb and RLIMIT_MEMLOCK), -errno. */
int mew_ring_open(struct mew_ring *r, int fd, size_t data_bytes, struct mew_error *error);
/* Over memory of a test's: page and data as the kernel lays them. */
int mew_ring_init(struct mew_ring *r, struct perf_event_mmap_page *page, uint8_t *data,
		  uint64_t size);
void mew_ring_close(struct mew_ring *r);

/* The next record, valid until the next call or mew_ring_consume; NULL: none left. A record whose
 * size is impossible ends the ring: *ret_bad is set and the rest up to head is skipped (counted by
 * the caller as lost). */
const struct perf_event_header *mew_ring_next(struct mew_ring *r, int *ret_bad);
/* Give the room of all records read so far back to the kernel. */
void mew_ring_consume(struct mew_ring *r);
/* 1 when a record of record_bytes might not have found room since the last reset: then LOST may be
 * a real loss even under PAUSE_OUTPUT. */
int mew_ring_was_full(const struct mew_ring *r, size_t record_bytes);
void mew_ring_reset_fill(struct mew_ring *r);

#endif
