/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a ring buffer of the kernel's, for any event: records lie inside of it, and what was
 * decoded of one lies inside of the record. */
#include "config.h"

#include "fuzz.h"
#include "kernel/record.h"
#include "kernel/regs.h"
#include "kernel/ring.h"

#define RING_BYTES 4096u

static volatile uint64_t seen; /* so that reading a frame is not left out */

static void check_inside(const struct perf_event_header *h, const void *at, uint64_t n)
{
	const uint8_t *lo = (const uint8_t *)h, *p = at;

	FUZZ_CHECK(p >= lo + sizeof(*h) && n <= h->size && p <= lo + h->size - n);
}

static void check(const struct perf_event_header *h, const struct mew_record *r)
{
	FUZZ_CHECK((unsigned)r->type <= MEW_RECORD_OTHER);
	if (r->path)
		check_inside(h, r->path, strlen(r->path) + 1);
	if (r->stack)
		check_inside(h, r->stack, r->stack_asked);
	FUZZ_CHECK(r->stack_bytes <= r->stack_asked);
	FUZZ_CHECK(!r->n_kernel_pcs == !r->kernel_pcs && r->n_kernel_pcs <= MEW_RECORD_KERNEL_PCS);
	if (r->kernel_pcs)
		check_inside(h, r->kernel_pcs, r->n_kernel_pcs * sizeof(uint64_t));
	for (uint32_t i = 0; i < r->n_kernel_pcs; i++)
		seen ^= mew_record_kernel_pc(r, i);
}

static void take_attr(struct fuzz_input *in, struct perf_event_attr *attr)
{
	uint8_t how = (uint8_t)fuzz_number(in, 1);
	uint64_t type = fuzz_number(in, 4);

	memset(attr, 0, sizeof(*attr));
	attr->sample_type = type;
	if (how & 1)
		attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				    PERF_SAMPLE_CPU | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER |
				    PERF_SAMPLE_STACK_USER | (type & PERF_SAMPLE_CALLCHAIN);
	attr->sample_id_all = how >> 1 & 1;
	attr->sample_regs_user = how & 4 ? fuzz_number(in, 8) : MEW_REGS_MASK;
	attr->read_format = how >> 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct perf_event_mmap_page *page = calloc(1, sizeof(*page));
	const struct perf_event_header *h;
	uint8_t *ring_data = calloc(1, RING_BYTES);
	struct perf_event_attr attr;
	struct mew_record record;
	struct mew_ring ring;
	unsigned n, n_read = 0;
	uint64_t from;
	int bad = 0;

	if (!page || !ring_data)
		abort();
	take_attr(&in, &attr);
	n = (unsigned)fuzz_number(&in, 1);
	from = fuzz_number(&in, 2) & (n & 1 ? 0xffff : 0xfff8);
	page->data_tail = from;
	page->data_head = n & 2 ? fuzz_number(&in, 8) : from + in.left;
	while (in.left)
		ring_data[from++ % RING_BYTES] = (uint8_t)fuzz_number(&in, 1);
	if (mew_ring_init(&ring, page, ring_data, RING_BYTES))
		abort();
	while ((h = mew_ring_next(&ring, &bad))) {
		FUZZ_CHECK(++n_read <= RING_BYTES / sizeof(*h) && h->size >= sizeof(*h));
		if (!mew_record_decode(&attr, h, &record))
			check(h, &record);
		if (n & 4 && n_read == 1)
			mew_ring_unread(&ring);
		if (n & 8)
			mew_ring_consume(&ring);
	}
	mew_ring_consume(&ring);
	FUZZ_CHECK(page->data_tail == page->data_head);
	mew_ring_close(&ring);
	free(ring_data);
	free(page);
	return 0;
}
