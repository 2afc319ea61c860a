/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/entry.h"
#include "unit.h"

static void entry_names_follow_the_list(void **state)
{
	(void)state;
	assert_string_equal(mew_entry_name(MEW_ENTRY_malloc), "malloc");
	assert_string_equal(mew_entry_name(MEW_ENTRY_posix_memalign), "posix_memalign");
	assert_string_equal(mew_entry_name(MEW_ENTRY__Znwm), "_Znwm");
	assert_string_equal(mew_entry_name(MEW_N_ENTRIES), "?");
	assert_string_equal(mew_entry_name(UINT32_MAX), "?");
}

static void entries_that_are_asked_for_an_alignment_are_known(void **state)
{
	static const uint32_t aligned[] = {
		MEW_ENTRY_posix_memalign,
		MEW_ENTRY_aligned_alloc,
		MEW_ENTRY_memalign,
		MEW_ENTRY_valloc,
		MEW_ENTRY_pvalloc,
		MEW_ENTRY__ZnwmSt11align_val_t,
		MEW_ENTRY__ZnwmSt11align_val_tRKSt9nothrow_t,
		MEW_ENTRY__ZnamSt11align_val_t,
		MEW_ENTRY__ZnamSt11align_val_tRKSt9nothrow_t,
	};
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < MEW_N_ENTRIES; i++)
		n += mew_entry_is_aligned(i) != 0;
	assert_int_equal(n, sizeof(aligned) / sizeof(aligned[0]));
	for (size_t i = 0; i < n; i++)
		assert_true(mew_entry_is_aligned(aligned[i]));
	assert_false(mew_entry_is_aligned(MEW_N_ENTRIES));
	assert_false(mew_entry_is_aligned(UINT32_MAX));
}

static void every_entry_point_is_the_allocator(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MEW_N_ENTRIES; i++)
		assert_int_equal(mew_entry_role(mew_entry_name(i)), MEW_ENTRY_ROLE_ALLOCATOR);
}

static void internals_of_the_allocator_are_known_with_their_suffixes(void **state)
{
	(void)state;
	assert_int_equal(mew_entry_role("_int_malloc"), MEW_ENTRY_ROLE_ALLOCATOR);
	assert_int_equal(mew_entry_role("_int_free.part.0"), MEW_ENTRY_ROLE_ALLOCATOR);
	assert_int_equal(mew_entry_role("malloc@@GLIBC_2.2.5"), MEW_ENTRY_ROLE_ALLOCATOR);
	assert_int_equal(mew_entry_role("free(void*)"), MEW_ENTRY_ROLE_ALLOCATOR);
}

static void wrappers_are_told_from_the_allocator(void **state)
{
	(void)state;
	assert_int_equal(mew_entry_role("strdup"), MEW_ENTRY_ROLE_WRAPPER);
	assert_int_equal(mew_entry_role("operator new[](unsigned long)"), MEW_ENTRY_ROLE_WRAPPER);
	assert_int_equal(mew_entry_role("std::vector<int>::push_back(int&&)"),
			 MEW_ENTRY_ROLE_WRAPPER);
	assert_int_equal(mew_entry_role("__gnu_cxx::new_allocator<char>::allocate"),
			 MEW_ENTRY_ROLE_WRAPPER);
}

static void other_functions_have_no_role(void **state)
{
	(void)state;
	assert_int_equal(mew_entry_role(NULL), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role(""), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role("main"), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role("mallocate"), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role("my_malloc"), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role("Pool::free(void*)"), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role("(anonymous namespace)::f()"), MEW_ENTRY_ROLE_NONE);
	assert_int_equal(mew_entry_role("operator<<(std::ostream&)"), MEW_ENTRY_ROLE_NONE);
}

static void products_that_overflow_saturate(void **state)
{
	(void)state;
	assert_int_equal(mew_entry_times(3, 7), 21);
	assert_int_equal(mew_entry_times(SIZE_MAX / 2 + 1, 2), SIZE_MAX);
	assert_int_equal(mew_entry_times(0, SIZE_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_names_follow_the_list),
		cmocka_unit_test(entries_that_are_asked_for_an_alignment_are_known),
		cmocka_unit_test(every_entry_point_is_the_allocator),
		cmocka_unit_test(internals_of_the_allocator_are_known_with_their_suffixes),
		cmocka_unit_test(wrappers_are_told_from_the_allocator),
		cmocka_unit_test(other_functions_have_no_role),
		cmocka_unit_test(products_that_overflow_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
