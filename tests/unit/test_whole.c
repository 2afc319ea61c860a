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

#include "kernel/whole.h"

#define RING_BYTES 4096
#define RINGS 4 /* two CPUs: sampling, dummy, sampling, dummy */

struct fake {
	struct perf_event_mmap_page pages[RINGS];
	uint8_t data[RINGS][RING_BYTES];
	struct mew_whole_ring rings[RINGS];
	struct mew_whole whole;
	uint64_t times[64]; /* as given */
	int types[64];
	unsigned n, stop_at;
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->whole.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	f->whole.attr.sample_id_all = 1;
	f->whole.dummy = f->whole.attr;
	f->whole.rings = f->rings;
	f->whole.n_rings = RINGS;
	for (size_t i = 0; i < RINGS; i++) {
		f->rings[i].attr = i % 2 ? &f->whole.dummy : &f->whole.attr;
		if (mew_ring_init(&f->rings[i].ring, &f->pages[i], f->data[i], RING_BYTES))
			return -1;
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	for (size_t i = 0; i < RINGS; i++)
		mew_ring_close(&f->rings[i].ring);
	free(f);
	return 0;
}

static void put(struct fake *f, size_t ring, uint32_t type, uint64_t time_ns)
{
	struct perf_event_header h = {type, 0, 24};
	uint64_t ids = 1, at = f->pages[ring].data_head;

	memcpy(f->data[ring] + at, &h, sizeof(h));
	memcpy(f->data[ring] + at + 8, &ids, sizeof(ids));
	memcpy(f->data[ring] + at + 16, &time_ns, sizeof(time_ns));
	f->pages[ring].data_head += h.size;
}

static int take(void *arg, const struct mew_record *record)
{
	struct fake *f = arg;

	assert_true(f->n < 64);
	f->times[f->n] = record->time_ns;
	f->types[f->n++] = (int)record->type;
	return f->n == f->stop_at ? -EINTR : 0;
}

static void expect_times(struct fake *f, const uint64_t *times, unsigned n)
{
	assert_int_equal(f->n, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(f->times[i], times[i]);
}

static void whole_drain_gives_records_of_all_rings_by_time(void **state)
{
	static const uint64_t want[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct fake *f = *state;

	put(f, 0, PERF_RECORD_SAMPLE, 2);
	put(f, 0, PERF_RECORD_SAMPLE, 5);
	put(f, 0, PERF_RECORD_SAMPLE, 8);
	put(f, 1, PERF_RECORD_SWITCH, 1);
	put(f, 1, PERF_RECORD_SWITCH, 7);
	put(f, 2, PERF_RECORD_SAMPLE, 3);
	put(f, 2, PERF_RECORD_SAMPLE, 4);
	put(f, 3, PERF_RECORD_SWITCH, 6);
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), 0);
	expect_times(f, want, 8);
	for (size_t i = 0; i < RINGS; i++)
		assert_int_equal(f->pages[i].data_tail, f->pages[i].data_head);
}

static void whole_drain_gives_the_dummys_record_first_of_one_moment(void **state)
{
	struct fake *f = *state;

	put(f, 0, PERF_RECORD_SAMPLE, 5);
	put(f, 2, PERF_RECORD_SAMPLE, 5);
	put(f, 3, PERF_RECORD_SWITCH, 5);
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), 0);
	assert_int_equal(f->n, 3);
	assert_int_equal(f->types[0], MEW_RECORD_SWITCH);
}

static void whole_drain_holds_young_records_until_the_final_one(void **state)
{
	static const uint64_t want[] = {1, 2, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX};
	struct fake *f = *state;

	put(f, 0, PERF_RECORD_SAMPLE, 1);
	put(f, 0, PERF_RECORD_SAMPLE, UINT64_MAX - 1);
	put(f, 0, PERF_RECORD_SAMPLE, UINT64_MAX);
	put(f, 1, PERF_RECORD_SWITCH, UINT64_MAX - 2);
	put(f, 2, PERF_RECORD_SAMPLE, 2);
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), 0);
	expect_times(f, want, 2);
	assert_int_equal(f->pages[0].data_tail, 24);
	assert_int_equal(f->pages[1].data_tail, 0);
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), 0);
	expect_times(f, want, 2);
	assert_int_equal(mew_whole_drain(&f->whole, 1, take, f), 0);
	expect_times(f, want, 5);
}

static void whole_drain_stops_when_told_and_goes_on_behind(void **state)
{
	static const uint64_t want[] = {1, 2, 3, 4};
	struct fake *f = *state;

	for (uint64_t i = 1; i <= 4; i++)
		put(f, i % 2, i % 2 ? PERF_RECORD_SWITCH : PERF_RECORD_SAMPLE, i);
	f->stop_at = 2;
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), -EINTR);
	expect_times(f, want, 2);
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), 0);
	expect_times(f, want, 4);
}

static void whole_drain_counts_what_it_cannot_read(void **state)
{
	static const uint64_t want[] = {1, 2, 3};
	struct fake *f = *state;
	struct perf_event_header short_lost = {PERF_RECORD_LOST, 0, 16}, none = {0, 0, 0};

	put(f, 0, PERF_RECORD_SAMPLE, 1);
	memcpy(f->data[0] + f->pages[0].data_head, &short_lost, sizeof(short_lost));
	f->pages[0].data_head += 16;
	put(f, 0, PERF_RECORD_SAMPLE, 2);
	memcpy(f->data[0] + f->pages[0].data_head, &none, sizeof(none));
	f->pages[0].data_head += 8;
	put(f, 2, PERF_RECORD_SAMPLE, 3);
	assert_int_equal(mew_whole_drain(&f->whole, 0, take, f), 0);
	expect_times(f, want, 3);
	assert_int_equal(f->whole.n_bad, 2);
}

static void put_lost(struct fake *f, size_t ring, uint64_t n, uint64_t time_ns)
{
	const uint64_t body[] = {7 /* id */, n, 1 /* pid, tid */, time_ns};
	struct perf_event_header h = {PERF_RECORD_LOST, 0, sizeof(h) + sizeof(body)};
	uint64_t at = f->pages[ring].data_head;

	memcpy(f->data[ring] + at, &h, sizeof(h));
	memcpy(f->data[ring] + at + sizeof(h), body, sizeof(body));
	f->pages[ring].data_head += h.size;
}

static void whole_drain_tells_lost_samples_from_other_records_that_are_lost(void **state)
{
	static const uint64_t want[] = {5, 8};
	struct fake *f = *state;

	put(f, 2, PERF_RECORD_SAMPLE, 5);
	put_lost(f, 1, 40, 6);
	put_lost(f, 2, 3, 8);
	assert_int_equal(mew_whole_drain(&f->whole, 1, take, f), 0);
	expect_times(f, want, 2);
	assert_int_equal(f->types[1], MEW_RECORD_LOST);
	assert_int_equal(f->whole.n_bad, 40);
}

static void whole_count_is_scaled_without_overflow(void **state)
{
	(void)state;
	assert_int_equal(mew_whole_scale(1000, 10, 10), 1000);
	assert_int_equal(mew_whole_scale(1000, 1000000, 250000), 4000);
	assert_int_equal(mew_whole_scale(1000, 1000000, 999000), 1000); /* start and stop */
	assert_int_equal(mew_whole_scale(1000, 10, 0), 0);
	assert_int_equal(mew_whole_scale(0, 0, 0), 0);
	assert_int_equal(mew_whole_scale(1ull << 60, 1ull << 50, 1ull << 49), 1ull << 61);
	assert_int_equal(mew_whole_scale(UINT64_MAX, UINT64_MAX, 1), UINT64_MAX);
}

static void whole_rings_share_the_usual_memory_limit(void **state)
{
	(void)state;
	assert_int_equal(mew_whole_ring_bytes(1), 8 << 20);
	assert_int_equal(mew_whole_ring_bytes(2), 4 << 20);
	assert_int_equal(mew_whole_ring_bytes(3), 2 << 20);
	assert_int_equal(mew_whole_ring_bytes(16), MEW_RING_BYTES);
	assert_int_equal(mew_whole_ring_bytes(256), MEW_RING_BYTES);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(whole_drain_gives_records_of_all_rings_by_time),
		TEST(whole_drain_gives_the_dummys_record_first_of_one_moment),
		TEST(whole_drain_holds_young_records_until_the_final_one),
		TEST(whole_drain_stops_when_told_and_goes_on_behind),
		TEST(whole_drain_counts_what_it_cannot_read),
		TEST(whole_drain_tells_lost_samples_from_other_records_that_are_lost),
		cmocka_unit_test(whole_rings_share_the_usual_memory_limit),
		cmocka_unit_test(whole_count_is_scaled_without_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
