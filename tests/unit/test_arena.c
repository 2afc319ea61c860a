/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/arena.h"
#include "failing_alloc.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static void memory_is_aligned_zeroed_and_apart(void **state)
{
	struct mew_arena *a = mew_arena_new();
	unsigned char *old = NULL, *p;
	size_t i, k;

	(void)state;
	for (i = 0; i < 2000; i++) {
		size_t align = (size_t)1 << (i % 8), size = i % 37 + 1;

		p = mew_arena_alloc(a, size, align);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p & (align - 1), 0);
		for (k = 0; k < size; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xff, size);
		assert_true(p != old);
		old = p;
	}
	mew_arena_free(a);
	mew_arena_free(NULL);
}

static void a_large_object_does_not_waste_the_open_chunk(void **state)
{
	struct mew_arena *a = mew_arena_new();
	char *small = mew_arena_alloc(a, 8, 8), *large, *next;

	(void)state;
	large = mew_arena_alloc(a, 10 << 20, 8);
	next = mew_arena_alloc(a, 8, 8);
	assert_non_null(large);
	assert_ptr_equal(next, small + 8);
	mew_arena_free(a);
}

static void impossible_sizes_give_null(void **state)
{
	struct mew_arena *a = mew_arena_new();

	(void)state;
	assert_null(mew_arena_alloc(a, SIZE_MAX, 16));
	assert_null(MEW_ARENA_NEW(a, uint64_t, SIZE_MAX / 4));
	assert_null(mew_arena_strndup(a, "x", SIZE_MAX));
	mew_arena_free(a);
}

static void strings_are_copied(void **state)
{
	struct mew_arena *a = mew_arena_new();

	(void)state;
	assert_string_equal(mew_arena_strdup(a, "name"), "name");
	assert_string_equal(mew_arena_strndup(a, "name", 2), "na");
	assert_string_equal(mew_arena_strndup(a, NULL, 0), "");
	mew_arena_free(a);
}

static void the_same_text_is_the_same_pointer(void **state)
{
	struct mew_arena *a = mew_arena_new();
	struct mew_strings s;
	const char *kept[1000];
	char text[32];
	size_t i;

	(void)state;
	mew_strings_init(&s, a);
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %zu", i);
		kept[i] = mew_strings_intern(&s, text, strlen(text));
		assert_string_equal(kept[i], text);
	}
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %zu", i);
		assert_ptr_equal(mew_strings_intern(&s, text, strlen(text)), kept[i]);
	}
	assert_ptr_not_equal(mew_strings_intern(&s, "a\0b", 3), mew_strings_intern(&s, "a", 1));
	assert_string_equal(mew_strings_intern(&s, "", 0), "");
	mew_strings_done(&s);
	assert_string_equal(kept[999], "text 999");
	mew_arena_free(a);
}

static void without_memory_there_is_null_and_nothing_breaks(void **state)
{
	long n;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		struct mew_arena *a = mew_arena_new();
		struct mew_strings s;
		const char *p = NULL;

		mew_strings_init(&s, a);
		if (a)
			p = mew_strings_intern(&s, "text", 4);
		failing_alloc_off();
		assert_int_equal(p == NULL, failing_alloc_hit());
		if (a)
			assert_string_equal(mew_strings_intern(&s, "text", 4), "text");
		mew_strings_done(&s);
		mew_arena_free(a);
	}
	assert_int_equal(n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_zeroed_and_apart),
		cmocka_unit_test(a_large_object_does_not_waste_the_open_chunk),
		cmocka_unit_test(impossible_sizes_give_null),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(the_same_text_is_the_same_pointer),
		cmocka_unit_test(without_memory_there_is_null_and_nothing_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
