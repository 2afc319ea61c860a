/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/ring.h"

#define RING_BYTES 4096

/* A ring as the kernel lays it, and the kernel's side of it. */
struct fake {
	struct perf_event_mmap_page page;
	uint8_t *data; /* malloc'ed, so that a sanitizer sees a read past its end */
	struct mew_ring ring;
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->data = calloc(1, RING_BYTES);
	if (!f->data || mew_ring_init(&f->ring, &f->page, f->data, RING_BYTES))
		return -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	mew_ring_close(&f->ring);
	free(f->data);
	free(f);
	return 0;
}

static void put_bytes(struct fake *f, uint64_t at, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->data[(at + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
}

/* Appends a record of size bytes whose body counts up from mark. */
static void put_record(struct fake *f, uint16_t size, uint8_t mark)
{
	struct perf_event_header h = {PERF_RECORD_SAMPLE, 0, size};
	uint8_t byte;

	put_bytes(f, f->page.data_head, &h, sizeof(h));
	for (size_t i = sizeof(h); i < size; i++) {
		byte = (uint8_t)(mark + i);
		put_bytes(f, f->page.data_head + i, &byte, 1);
	}
	f->page.data_head += size;
}

static void expect_record(struct fake *f, uint16_t size, uint8_t mark)
{
	int bad = 0;
	const struct perf_event_header *h = mew_ring_next(&f->ring, &bad);
	const uint8_t *bytes = (const void *)h;

	assert_non_null(h);
	assert_int_equal(bad, 0);
	assert_int_equal(h->size, size);
	for (size_t i = sizeof(*h); i < size; i++)
		assert_int_equal(bytes[i], (uint8_t)(mark + i));
}

static void expect_end(struct fake *f, int want_bad)
{
	int bad = 0;

	assert_null(mew_ring_next(&f->ring, &bad));
	assert_int_equal(bad, want_bad);
}

static void ring_read_gives_records_in_order(void **state)
{
	struct fake *f = *state;

	expect_end(f, 0);
	put_record(f, 16, 1);
	put_record(f, 8, 2);
	put_record(f, 800, 3);
	expect_record(f, 16, 1);
	expect_record(f, 8, 2);
	expect_record(f, 800, 3);
	expect_end(f, 0);
}

static void ring_read_joins_a_wrapped_record(void **state)
{
	struct fake *f = *state;

	/* Records of 3,000 bytes are cut at a different place each time. */
	for (unsigned i = 0; i < 200; i++) {
		put_record(f, 3000, (uint8_t)i);
		expect_record(f, 3000, (uint8_t)i);
		mew_ring_consume(&f->ring);
	}
	/* A header that ends with the ring. */
	while (f->page.data_head % RING_BYTES != RING_BYTES - 8) {
		put_record(f, 8, 0);
		expect_record(f, 8, 0);
		mew_ring_consume(&f->ring);
	}
	put_record(f, 64, 77);
	expect_record(f, 64, 77);
	expect_end(f, 0);
}

static void ring_consume_gives_back_what_was_read_and_no_more(void **state)
{
	struct fake *f = *state;

	put_record(f, 104, 1);
	put_record(f, 40, 2);
	expect_record(f, 104, 1);
	assert_int_equal(f->page.data_tail, 0);
	mew_ring_consume(&f->ring);
	assert_int_equal(f->page.data_tail, 104);
	expect_record(f, 40, 2);
	expect_end(f, 0);
	mew_ring_consume(&f->ring);
	assert_int_equal(f->page.data_tail, 144);
	mew_ring_consume(&f->ring);
	assert_int_equal(f->page.data_tail, 144);
}

static void ring_unread_record_is_read_again_and_its_room_kept(void **state)
{
	struct fake *f = *state;

	put_record(f, 104, 1);
	put_record(f, 40, 2);
	expect_record(f, 104, 1);
	expect_record(f, 40, 2);
	mew_ring_unread(&f->ring);
	mew_ring_consume(&f->ring);
	assert_int_equal(f->page.data_tail, 104);
	mew_ring_unread(&f->ring); /* nothing read since: no step back behind the tail */
	expect_record(f, 40, 2);
	expect_end(f, 0);
}

static void ring_full_to_the_last_byte_is_read(void **state)
{
	struct fake *f = *state;

	put_record(f, RING_BYTES - 64, 1);
	put_record(f, 64, 2);
	expect_record(f, RING_BYTES - 64, 1);
	expect_record(f, 64, 2);
	expect_end(f, 0);
}

/* What ends the ring: the rest is skipped, the reader goes on behind it. */
static void expect_skipped(struct fake *f)
{
	expect_end(f, 1);
	expect_end(f, 0);
	mew_ring_consume(&f->ring);
	assert_int_equal(f->page.data_tail, f->page.data_head);
	put_record(f, 48, 9);
	expect_record(f, 48, 9);
}

static void ring_skips_the_rest_at_an_impossible_size(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7, 12, 24, 65535, 65528};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fake *f = *state;
		struct perf_event_header h = {PERF_RECORD_SAMPLE, 0, sizes[i]};

		put_record(f, 16, 1);
		put_bytes(f, f->page.data_head, &h, sizeof(h));
		f->page.data_head += 16; /* so that a size of 24 reaches past the head */
		expect_record(f, 16, 1);
		expect_skipped(f);
	}
}

static void ring_skips_everything_at_an_impossible_head(void **state)
{
	static const uint64_t heads[] = {RING_BYTES + 8, 1ull << 40, UINT64_MAX & ~7ull,
					 1ull << 63};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct fake *f = *state;

		f->page.data_head += heads[i];
		expect_skipped(f);
		mew_ring_consume(&f->ring);
	}
}

static void ring_skips_a_head_that_goes_back(void **state)
{
	struct fake *f = *state;

	put_record(f, 800, 1);
	expect_record(f, 800, 1);
	mew_ring_consume(&f->ring);
	f->page.data_head = 400;
	expect_end(f, 1);
}

static void ring_skips_a_head_between_words(void **state)
{
	struct fake *f = *state;

	f->page.data_head = 3;
	expect_end(f, 1);
	f->page.data_head = 64;
	expect_end(f, 1); /* still between words: nothing can be told apart */
	expect_end(f, 0);
}

static void ring_believes_its_own_tail_and_not_the_shared_one(void **state)
{
	struct fake *f = *state;

	put_record(f, 16, 1);
	f->page.data_tail = 1ull << 50;
	expect_record(f, 16, 1);
	mew_ring_consume(&f->ring);
	assert_int_equal(f->page.data_tail, 16);
}

static void ring_was_full_only_when_a_record_had_no_room(void **state)
{
	struct fake *f = *state;

	assert_int_equal(mew_ring_was_full(&f->ring, 1000), 0);
	assert_int_equal(mew_ring_was_full(&f->ring, RING_BYTES), 1);

	put_record(f, 2000, 1);
	expect_record(f, 2000, 1);
	expect_end(f, 0);
	mew_ring_consume(&f->ring);
	assert_int_equal(mew_ring_was_full(&f->ring, 1000), 0);
	assert_int_equal(mew_ring_was_full(&f->ring, 2096), 1); /* one byte stays free */

	put_record(f, 3200, 2);
	expect_record(f, 3200, 2);
	mew_ring_consume(&f->ring);
	assert_int_equal(mew_ring_was_full(&f->ring, 1000), 1);

	mew_ring_reset_fill(&f->ring);
	assert_int_equal(mew_ring_was_full(&f->ring, 1000), 0);
}

static void ring_was_full_sees_what_came_while_records_were_read(void **state)
{
	struct fake *f = *state;

	put_record(f, 800, 1);
	expect_record(f, 800, 1);
	put_record(f, 2800, 2); /* the fill is 3,600 before the room of the first is given back */
	mew_ring_consume(&f->ring);
	expect_record(f, 2800, 2);
	mew_ring_consume(&f->ring);
	assert_int_equal(mew_ring_was_full(&f->ring, 1000), 1);
}

static void ring_was_full_sees_what_is_not_read_yet(void **state)
{
	struct fake *f = *state;

	put_record(f, 3600, 1);
	assert_int_equal(mew_ring_was_full(&f->ring, 1000), 1);
	assert_int_equal(mew_ring_was_full(&f->ring, 100), 0);
}

static void ring_was_full_when_its_head_is_impossible(void **state)
{
	struct fake *f = *state;

	f->page.data_head = UINT64_MAX - 7;
	expect_end(f, 1);
	assert_int_equal(mew_ring_was_full(&f->ring, 64), 1);
}

static void ring_of_an_odd_size_is_refused(void **state)
{
	struct fake *f = *state;
	struct mew_ring r;
	struct mew_error error;

	assert_int_equal(mew_ring_init(&r, &f->page, f->data, 0), -EINVAL);
	assert_int_equal(mew_ring_init(&r, &f->page, f->data, 3000), -EINVAL);
	assert_int_equal(mew_ring_open(&r, -1, 5000, &error), -EINVAL);
	assert_int_equal(error.code, -EINVAL);
}

/* Whatever stands in the ring: only its own bytes are read, and it comes to an end. */
static void ring_of_random_bytes_is_read_to_its_end(void **state)
{
	struct fake *f = *state;
	uint64_t random = 88172645463325252ull;

	for (unsigned round = 0; round < 20000; round++) {
		const struct perf_event_header *h;
		unsigned n = 0, sum = 0;
		int bad = 0;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		put_bytes(f, random >> 20, &random, sizeof(random));
		/* Now and then a size that can be, so that some are followed. */
		if (random & 1) {
			uint16_t size = (uint16_t)(random >> 50 & ~7u);

			put_bytes(f, f->ring.next + 6, &size, sizeof(size));
		}
		f->page.data_head += (random >> 32) % (RING_BYTES + 512) & ~7ull;
		while ((h = mew_ring_next(&f->ring, &bad))) {
			const uint8_t *bytes = (const void *)h;

			assert_in_range(h->size, 8, RING_BYTES);
			for (size_t i = 0; i < h->size; i++)
				sum += bytes[i];
			assert_in_range(++n, 1, RING_BYTES / 8);
		}
		assert_int_not_equal(sum, UINT32_MAX);
		assert_int_equal(f->ring.next, f->page.data_head);
		mew_ring_consume(&f->ring);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(ring_read_gives_records_in_order),
		TEST(ring_read_joins_a_wrapped_record),
		TEST(ring_consume_gives_back_what_was_read_and_no_more),
		TEST(ring_unread_record_is_read_again_and_its_room_kept),
		TEST(ring_full_to_the_last_byte_is_read),
		TEST(ring_skips_the_rest_at_an_impossible_size),
		TEST(ring_skips_everything_at_an_impossible_head),
		TEST(ring_skips_a_head_that_goes_back),
		TEST(ring_skips_a_head_between_words),
		TEST(ring_believes_its_own_tail_and_not_the_shared_one),
		TEST(ring_was_full_only_when_a_record_had_no_room),
		TEST(ring_was_full_sees_what_came_while_records_were_read),
		TEST(ring_was_full_sees_what_is_not_read_yet),
		TEST(ring_was_full_when_its_head_is_impossible),
		TEST(ring_of_an_odd_size_is_refused),
		TEST(ring_of_random_bytes_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
