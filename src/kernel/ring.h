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

/* Rings of a benchmark's thread, or of a CPU for a whole program. */
#define MEW_RING_BYTES (512u * 1024u)      /* of samples: 62 with stacks of 8 KiB */
#define MEW_RING_DUMMY_BYTES (64u * 1024u) /* of the dummy's records */

/* Zeroed: closed. Positions count bytes since the event was opened and never wrap to 0. */
struct mew_ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;       /* of data, a power of two */
	uint8_t *joined;     /* room for one wrapped record */
	uint64_t most_fill;  /* highest fill seen at a drain since mew_ring_reset_fill */
	uint64_t tail;       /* given back to the kernel up to here */
	uint64_t next;       /* read up to here */
	uint64_t head;       /* the kernel's, as last seen */
	uint64_t last;       /* begin of the record read last */
	size_t mapped_bytes; /* 0: not mapped by mew_ring_open */
};

/*
 * Map fd with data_bytes (a power of two of pages). 0; -EPERM (the memory limit: error names
 * perf_event_mlock_kb and RLIMIT_MEMLOCK; a smaller ring may fit), -EINVAL, -errno.
 */
int mew_ring_open(struct mew_ring *r, int fd, size_t data_bytes, struct mew_error *error);
/* The same, and half as much again and again down to min_bytes while the limit is in the way. */
int mew_ring_open_fitting(struct mew_ring *r, int fd, size_t data_bytes, size_t min_bytes,
			  struct mew_error *error);
/* Over memory of a test's: page and data as the kernel lays them. 0, -EINVAL, -ENOMEM. */
int mew_ring_init(struct mew_ring *r, struct perf_event_mmap_page *page, uint8_t *data,
		  uint64_t size);
/* Unmaps what mew_ring_open mapped; of mew_ring_init frees only the room for joining. */
void mew_ring_close(struct mew_ring *r);

/*
 * The next record, valid until the next call or mew_ring_consume; NULL: none left. A record whose
 * size is impossible ends the ring: *ret_bad is set to 1 and the rest up to head is skipped
 * (counted by the caller as lost). *ret_bad is left alone otherwise. header->size bytes can be
 * read, 8 at least.
 */
const struct perf_event_header *mew_ring_next(struct mew_ring *r, int *ret_bad);
/* Undo the last mew_ring_next that gave a record: it is read again. Once a record. */
void mew_ring_unread(struct mew_ring *r);
/* Give the room of all records read so far back to the kernel. */
void mew_ring_consume(struct mew_ring *r);
/*
 * 1 when a record of record_bytes might not have found room since the last reset: then LOST may be
 * a real loss even under PAUSE_OUTPUT. 0 is sure: each fill between two drains was seen, at its
 * highest, when its room was given back.
 */
int mew_ring_was_full(const struct mew_ring *r, size_t record_bytes);
void mew_ring_reset_fill(struct mew_ring *r);

#endif
