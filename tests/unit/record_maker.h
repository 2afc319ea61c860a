/* SPDX-License-Identifier: Apache-2.0 */
/* record_maker.h: records as the kernel writes them, made by hand, and attrs that they are of. */
#ifndef MEW_TESTS_RECORD_MAKER_H
#define MEW_TESTS_RECORD_MAKER_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/record.h"
#include "kernel/regs.h"
#include "unit.h"

/* A record under construction. */
struct maker {
	_Alignas(8) uint8_t bytes[4096];
	size_t n;
};

static inline void put(struct maker *m, const void *bytes, size_t n)
{
	assert_true(m->n + n <= sizeof(m->bytes));
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static inline void put_u32(struct maker *m, uint32_t v)
{
	put(m, &v, sizeof(v));
}

static inline void put_u64(struct maker *m, uint64_t v)
{
	put(m, &v, sizeof(v));
}

/* A text and NULs up to the next word, as the kernel pads it. */
static inline void put_text(struct maker *m, const char *text)
{
	put(m, text, strlen(text) + 1);
	while (m->n % 8)
		put(m, "", 1);
}

static inline void begin(struct maker *m, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {type, misc, 0};

	m->n = 0;
	put(m, &h, sizeof(h));
}

/* The first size bytes of the record in a block of exactly that size, so that a sanitizer sees any
 * read past its end. The caller's to free. */
static inline struct perf_event_header *cut(const struct maker *m, size_t size)
{
	struct perf_event_header *h = malloc(size);

	assert_non_null(h);
	memcpy(h, m->bytes, size);
	h->size = (uint16_t)size;
	return h;
}

static inline struct perf_event_header *record_end(const struct maker *m)
{
	return cut(m, m->n);
}

/* The whole record, which *ret points into: the caller's to free. */
static inline struct perf_event_header *
decoded(const struct maker *m, const struct perf_event_attr *attr, struct mew_record *ret)
{
	struct perf_event_header *h = record_end(m);

	assert_int_equal(mew_record_decode(attr, h, ret), 0);
	return h;
}

static const struct perf_event_attr sampling = {
	.type = PERF_TYPE_SOFTWARE,
	.sample_period = 100000,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | 1u << 4,
	.sample_regs_user = MEW_REGS_MASK,
	.sample_stack_user = 64,
	.sample_id_all = 1,
};

static const struct perf_event_attr dummy = {
	.type = PERF_TYPE_SOFTWARE,
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
};

/* With the kernel's frames. */
static const struct perf_event_attr chained = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER,
	.sample_regs_user = MEW_REGS_MASK,
};

static inline void make_sample(struct maker *m, uint64_t abi, uint64_t asked, uint64_t valid)
{
	begin(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(m, 0x401000); /* ip */
	put_u32(m, 10);       /* pid */
	put_u32(m, 11);       /* tid */
	put_u64(m, 123456789);
	put_u32(m, 3); /* cpu */
	put_u32(m, 0);
	put_u64(m, 5000000); /* count, enabled, running, lost */
	put_u64(m, 5000001);
	put_u64(m, 5000002);
	put_u64(m, 7);
	put_u64(m, abi);
	for (uint64_t i = 0; abi && i < MEW_REGS_N; i++)
		put_u64(m, 0x1000 + i); /* by the kernel's order */
	put_u64(m, asked);
	for (uint64_t i = 0; i < asked; i++)
		put(m, &(uint8_t){(uint8_t)i}, 1);
	if (asked)
		put_u64(m, valid);
}

#endif
