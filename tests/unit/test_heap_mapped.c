/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/mapped.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "heap_pages.h"

#define PAGE 4096u

struct fixture {
	struct mew_pages pages;
	struct mew_segment_mapped f;
	struct mew_mapped m;
};

static int start(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->pages = heap_pages(UINT32_MAX);
	assert_int_equal(mew_mapped_init(&x->m, &x->f, &x->pages, PAGE), 0);
	*state = x;
	return 0;
}

static int stop(void **state)
{
	struct fixture *x = *state;

	mew_mapped_done(&x->m);
	free(x);
	return 0;
}

/* In pages. */
static void map(struct fixture *x, uint64_t at, uint64_t n)
{
	mew_mapped_map(&x->m, at * PAGE, n * PAGE, 1);
}

static void unmap(struct fixture *x, uint64_t at, uint64_t n)
{
	mew_mapped_unmap(&x->m, at * PAGE, n * PAGE);
}

static void mappings_add_up_in_whole_pages(void **state)
{
	struct fixture *x = *state;

	mew_mapped_map(&x->m, 10 * PAGE, 1, 1);
	mew_mapped_map(&x->m, 20 * PAGE, 2 * PAGE + 1, 1);
	assert_int_equal(x->f.calls, 2);
	assert_int_equal(x->f.bytes, 4 * PAGE);
	assert_int_equal(x->f.live_bytes, 4 * PAGE);
	mew_mapped_unmap(&x->m, 10 * PAGE, 1);
	assert_int_equal(x->f.live_bytes, 3 * PAGE);
	assert_int_equal(x->f.peak_bytes, 4 * PAGE);
	mew_mapped_close(&x->m);
	unmap(x, 20, 3);
	assert_int_equal(x->f.held_bytes, 3 * PAGE);
	assert_int_equal(x->f.live_bytes, 0);
	assert_int_equal(x->f.lost, 0);
}

static void what_was_mapped_outside_is_not_there(void **state)
{
	struct fixture *x = *state;

	mew_mapped_map(&x->m, 10 * PAGE, 5 * PAGE, 0);
	unmap(x, 10, 5);
	unmap(x, 0, 1000);
	assert_int_equal(x->f.calls, 0);
	assert_int_equal(x->f.live_bytes, 0);
	assert_int_equal(x->f.peak_bytes, 0);
}

static void a_mapping_over_another_takes_its_place(void **state)
{
	struct fixture *x = *state;

	map(x, 10, 10);
	map(x, 15, 10); /* five of them anew, five more */
	assert_int_equal(x->f.live_bytes, 15 * PAGE);
	assert_int_equal(x->f.peak_bytes, 15 * PAGE);
	assert_int_equal(x->f.bytes, 20 * PAGE);
	mew_mapped_map(&x->m, 12 * PAGE, 2 * PAGE, 0); /* outside: two are no longer tracked */
	assert_int_equal(x->f.live_bytes, 13 * PAGE);
	unmap(x, 0, 100);
	assert_int_equal(x->f.live_bytes, 0);
	assert_int_equal(x->m.n, 0);
}

/* Head, tail, middle; then over all that is left and the gaps. */
static void a_part_is_unmapped(void **state)
{
	struct fixture *x = *state;

	map(x, 100, 10);
	unmap(x, 98, 4);
	assert_int_equal(x->f.live_bytes, 8 * PAGE);
	unmap(x, 108, 10);
	assert_int_equal(x->f.live_bytes, 6 * PAGE);
	unmap(x, 104, 1);
	assert_int_equal(x->f.live_bytes, 5 * PAGE);
	assert_int_equal(x->m.n, 2);
	unmap(x, 103, 3);
	assert_int_equal(x->f.live_bytes, 3 * PAGE);
	unmap(x, 0, 1000);
	assert_int_equal(x->f.live_bytes, 0);
	assert_int_equal(x->m.n, 0);
}

static void neighbours_are_one_range(void **state)
{
	struct fixture *x = *state;

	map(x, 10, 1);
	map(x, 12, 1);
	assert_int_equal(x->m.n, 2);
	map(x, 11, 1);
	assert_int_equal(x->m.n, 1);
	map(x, 9, 1);
	map(x, 13, 1);
	assert_int_equal(x->m.n, 1);
	assert_int_equal(x->m.ranges[0].lo, 9 * PAGE);
	assert_int_equal(x->m.ranges[0].hi, 14 * PAGE);
}

/* The same on a map of pages, one byte each. */
static void any_order_of_events_leaves_what_a_map_of_pages_has(void **state)
{
	struct fixture *x = *state;
	static uint8_t is_tracked[4096];
	uint64_t random = 88172645463325252u;
	int64_t live = 0, peak = 0;

	memset(is_tracked, 0, sizeof(is_tracked));
	for (int step = 0; step < 20000; step++) {
		uint64_t at, n;
		int inside, maps;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		at = random % 4000;
		n = 1 + (random >> 20) % 50;
		maps = random >> 40 & 1;
		inside = (random >> 41 & 3) != 0;
		for (uint64_t i = at; i < at + n; i++) {
			live -= is_tracked[i];
			is_tracked[i] = 0;
		}
		for (uint64_t i = at; maps && inside && i < at + n; i++) {
			live++;
			is_tracked[i] = 1;
		}
		peak = live > peak ? live : peak;
		if (maps)
			mew_mapped_map(&x->m, at * PAGE, n * PAGE, inside);
		else
			unmap(x, at, n);
		assert_int_equal(x->f.live_bytes, live * PAGE);
		assert_int_equal(x->f.peak_bytes, peak * PAGE);
	}
	assert_int_equal(x->f.lost, 0);
}

static void without_memory_a_mapping_is_lost_and_told(void **state)
{
	struct fixture *x = *state;

	for (uint64_t i = 0; i < x->m.cap; i++)
		map(x, 10 * i, 3);
	heap_pages_left = 0;
	assert_int_equal(x->f.lost, 0);
	map(x, 100000, 1);
	assert_int_equal(x->f.lost, 1);
	assert_int_equal(x->f.live_bytes, 256 * 3 * PAGE);
	/* A hole makes two of one: its end is forgotten. */
	unmap(x, 11, 1);
	assert_int_equal(x->f.lost, 2);
	assert_int_equal(x->f.live_bytes, (255 * 3 + 1) * PAGE);
	unmap(x, 0, 1u << 20);
	assert_int_equal(x->f.live_bytes, 0);
}

static void starting_without_memory_fails(void **state)
{
	struct mew_pages pages = heap_pages(0);
	struct mew_segment_mapped f = {0};
	struct mew_mapped m;

	(void)state;
	assert_int_equal(mew_mapped_init(&m, &f, &pages, PAGE), -ENOMEM);
	mew_mapped_done(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mappings_add_up_in_whole_pages),
		TEST(what_was_mapped_outside_is_not_there),
		TEST(a_mapping_over_another_takes_its_place),
		TEST(a_part_is_unmapped),
		TEST(neighbours_are_one_range),
		TEST(any_order_of_events_leaves_what_a_map_of_pages_has),
		TEST(without_memory_a_mapping_is_lost_and_told),
		cmocka_unit_test(starting_without_memory_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
