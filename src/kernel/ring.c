/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/sysctl.h"

#define RECORD_MAX 65536 /* header.size is 16 bits wide */

/* A pending loss is written before the record that ends it: struct perf_event_header, id, lost and
 * a sample_id of six fields. */
#define LOST_RECORD_MAX (8 + 16 + 48)

int mew_ring_init(struct mew_ring *r, struct perf_event_mmap_page *page, uint8_t *data,
		  uint64_t size)
{
	uint8_t *joined;

	if (size < sizeof(struct perf_event_header) || (size & (size - 1)))
		return -EINVAL;
	joined = malloc(RECORD_MAX);
	if (!joined)
		return -ENOMEM;
	memset(r, 0, sizeof(*r));
	r->page = page;
	r->data = data;
	r->size = size;
	r->joined = joined;
	r->tail = r->next = r->head = r->last = page->data_tail;
	return 0;
}

static int explain_map(int err, size_t data_bytes, struct mew_error *error)
{
	struct rlimit limit;

	if (err != EPERM)
		return mew_error_errno(error, -err, "cannot map a ring buffer of %zu KiB",
				       data_bytes / 1024);
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		limit.rlim_cur = 0;
	return mew_error_set(error, -EPERM,
			     "cannot map a ring buffer of %zu KiB: over the memory limit "
			     "(kernel.perf_event_mlock_kb is %lld, RLIMIT_MEMLOCK is %llu KiB; "
			     "raise one: sudo sysctl kernel.perf_event_mlock_kb=N, or ulimit -l N)",
			     data_bytes / 1024,
			     (long long)mew_sysctl_read("kernel/perf_event_mlock_kb", -1),
			     (unsigned long long)limit.rlim_cur / 1024);
}

int mew_ring_open(struct mew_ring *r, int fd, size_t data_bytes, struct mew_error *error)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), mapped;
	void *base;
	int rc;

	if (data_bytes < page_bytes || (data_bytes & (data_bytes - 1)))
		return mew_error_set(error, -EINVAL,
				     "a ring buffer of %zu bytes is not a power of two of pages",
				     data_bytes);
	mapped = page_bytes + data_bytes;
	base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return explain_map(errno, data_bytes, error);
	rc = mew_ring_init(r, base, (uint8_t *)base + page_bytes, data_bytes);
	if (rc) {
		munmap(base, mapped);
		return mew_error_errno(error, rc, "cannot read a ring buffer");
	}
	r->mapped_bytes = mapped;
	return 0;
}

int mew_ring_open_fitting(struct mew_ring *r, int fd, size_t data_bytes, size_t min_bytes,
			  struct mew_error *error)
{
	int rc;

	while ((rc = mew_ring_open(r, fd, data_bytes, error)) == -EPERM &&
	       data_bytes / 2 >= min_bytes)
		data_bytes /= 2;
	return rc;
}

void mew_ring_close(struct mew_ring *r)
{
	if (!r)
		return;
	free(r->joined);
	if (r->mapped_bytes)
		munmap(r->page, r->mapped_bytes);
	memset(r, 0, sizeof(*r));
}

static uint64_t load_head(const struct mew_ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* The higher of most_fill and the fill between tail and head. */
static uint64_t fill_with(const struct mew_ring *r, uint64_t tail, uint64_t head)
{
	uint64_t fill = head - tail < r->size ? head - tail : r->size;

	return fill > r->most_fill ? fill : r->most_fill;
}

static const struct perf_event_header *skip_rest(struct mew_ring *r, int *ret_bad)
{
	r->next = r->last = r->head;
	*ret_bad = 1;
	return NULL;
}

const struct perf_event_header *mew_ring_next(struct mew_ring *r, int *ret_bad)
{
	struct perf_event_header header;
	uint64_t left, offset, first;

	if (r->next == r->head) {
		r->head = load_head(r);
		r->most_fill = fill_with(r, r->tail, r->head);
	}
	left = r->head - r->next;
	offset = r->next & (r->size - 1);
	if (!left)
		return NULL;
	/* Records are multiples of 8 bytes, so that a header is never cut by the ring's end. */
	if (r->head - r->tail > r->size || left < sizeof(header) || offset % 8)
		return skip_rest(r, ret_bad);
	memcpy(&header, r->data + offset, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > left)
		return skip_rest(r, ret_bad);

	r->last = r->next;
	r->next += header.size;
	first = r->size - offset;
	if (header.size <= first)
		return (const struct perf_event_header *)(const void *)(r->data + offset);
	memcpy(r->joined, r->data + offset, first);
	memcpy(r->joined + first, r->data, header.size - first);
	return (const struct perf_event_header *)(void *)r->joined;
}

void mew_ring_unread(struct mew_ring *r)
{
	r->next = r->last;
}

void mew_ring_consume(struct mew_ring *r)
{
	uint64_t before = r->tail;

	if (r->next == before)
		return;
	__atomic_store_n(&r->page->data_tail, r->next, __ATOMIC_RELEASE);
	r->tail = r->last = r->next;
	/* Looked at after the room is given back: never less than the fill was until then. */
	r->most_fill = fill_with(r, before, load_head(r));
}

int mew_ring_was_full(const struct mew_ring *r, size_t record_bytes)
{
	/* The kernel keeps one byte free. */
	return fill_with(r, r->tail, load_head(r)) + record_bytes + LOST_RECORD_MAX > r->size - 1;
}

void mew_ring_reset_fill(struct mew_ring *r)
{
	r->most_fill = 0;
}
