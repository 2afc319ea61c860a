/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/place.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "unwind/table.h"

static struct mew_places places;
static void *spaces[2];
static struct mew_modules *modules[2];

static int set_up(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		spaces[i] = calloc(1, 8u << 20);
		modules[i] = mew_modules_new(spaces[i], 8u << 20, NULL);
		if (!modules[i])
			return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mew_places_done(&places);
	mew_symbols_forget();
	for (int i = 0; i < 2; i++) {
		mew_modules_free(modules[i]);
		free(spaces[i]);
	}
	return 0;
}

static void map(int which, uint64_t start_pc, uint64_t from_ns, const char *path)
{
	struct mew_mapped mapped = {start_pc, start_pc + 0x2000, 0, 0, 0, from_ns, path};

	assert_int_equal(mew_modules_add(modules[which], &mapped, NULL), 0);
}

/* Of process 10 + which. */
static uint32_t find(int which, uint64_t version, uint64_t pc, int is_return, uint64_t time_ns,
		     uint64_t *ret_at)
{
	struct mew_place_of of = {modules[which], (uint32_t)(10 + which), version};
	uint32_t place = mew_places_find(&places, &of, pc, is_return, time_ns, ret_at);

	assert_int_not_equal(place, UINT32_MAX);
	return place;
}

static const char *name_of(uint32_t place, uint64_t at)
{
	uint64_t time_ns = 1;
	struct mew_symbols *s = mew_places_symbols(&places, place, &time_ns);
	const struct mew_symbol_frame *frames;
	unsigned n;

	assert_non_null(s);
	assert_int_equal(time_ns, 0);
	frames = mew_symbols_at(s, at, 0, time_ns, &n);
	assert_non_null(frames);
	return frames[n - 1].function->name;
}

static void a_file_is_one_place_wherever_it_is_mapped(void **state)
{
	static char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	struct timespec t;
	uint64_t now_ns, at, again;
	uint32_t place;

	(void)state;
	assert_true(n > 0);
	/* A file that was written to after it was mapped would not be opened. */
	clock_gettime(CLOCK_MONOTONIC, &t);
	now_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	map(0, 0x100000, now_ns, exe);
	map(1, 0x500000, now_ns, exe);
	place = find(0, 1, 0x100123, 0, now_ns, &at);
	assert_int_equal(find(1, 2, 0x500123, 0, now_ns, &again), place);
	assert_int_equal(again, at);
	assert_int_equal(find(1, 2, 0x500456, 1, now_ns, &again), place);
	assert_int_equal(again, at + 0x333);
	/* The end of the mapping may be where a call returns to. */
	assert_int_equal(find(1, 2, 0x502000, 1, now_ns, &again), place);
	assert_int_not_equal(find(1, 2, 0x502000, 0, now_ns, &again), place);
	/* It outlives what was mapped. */
	mew_modules_free(modules[0]);
	modules[0] = NULL;
	assert_string_equal(places.places[place]->module.path, exe);
	assert_non_null(name_of(place, at));
}

static void what_lies_in_no_file_is_its_processs(void **state)
{
	uint64_t at;
	uint32_t first, second;

	(void)state;
	map(0, 0x1000, 5, "//anon");
	map(1, 0x1000, 5, "//anon");
	first = find(0, 1, 0x1234, 0, 10, &at);
	assert_int_equal(at, 0x1234);
	second = find(1, 2, 0x1234, 0, 10, &at);
	assert_int_not_equal(first, second);
	assert_int_equal(places.places[first]->pid, 10);
	assert_int_equal(places.places[second]->pid, 11);
	assert_string_equal(name_of(first, at), "[anon]");
	first = find(0, 1, 0x9000, 0, 10, &at);
	assert_int_equal(at, 0x9000);
	assert_string_equal(name_of(first, at), "[unknown]");
	assert_int_equal(find(0, 1, 0x9999, 0, 10, &at), first);
}

static void a_file_that_cannot_be_read_names_its_module(void **state)
{
	uint64_t at;
	uint32_t place;

	(void)state;
	map(0, 0x1000, 5, "/nowhere/lib.so");
	place = find(0, 1, 0x1234, 0, 10, &at);
	assert_int_equal(at, 0x1234);
	assert_int_equal(places.places[place]->pid, 10);
	assert_string_equal(name_of(place, at), "[lib.so]");
}

static void what_was_replaced_is_found_by_its_time_or_version(void **state)
{
	uint64_t at;
	uint32_t old, new;

	(void)state;
	map(0, 0x1000, 5, "/nowhere/old.so");
	old = find(0, 1, 0x1234, 0, 10, &at);
	map(0, 0x1000, 15, "/nowhere/new.so");
	new = find(0, 2, 0x1234, 0, 20, &at);
	assert_int_not_equal(old, new);
	assert_string_equal(name_of(new, at), "[new.so]");
	assert_int_equal(find(0, 0, 0x1234, 0, 10, &at), old);
	assert_int_equal(find(0, 2, 0x1234, 0, 20, &at), new);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_one_place_wherever_it_is_mapped),
		TEST(what_lies_in_no_file_is_its_processs),
		TEST(a_file_that_cannot_be_read_names_its_module),
		TEST(what_was_replaced_is_found_by_its_time_or_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
