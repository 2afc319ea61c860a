/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "profile/roles.h"
#include "unit.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

static void entry_points_are_the_allocator_wherever_they_lie(void **state)
{
	(void)state;
	assert_int_equal(mew_function_role("malloc", LIBC), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("malloc", "/home/me/bench"), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("free", ""), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("_int_malloc", "bench"), MEW_ROLE_ALLOCATOR);
}

static void what_the_tools_append_to_a_name_is_looked_past(void **state)
{
	(void)state;
	assert_int_equal(mew_function_role("malloc@plt", "bench"), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("_int_free.part.0", LIBC), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("realloc.cold", LIBC), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("malloc_stats", LIBC), MEW_ROLE_PLAIN);
	assert_int_equal(mew_function_role("mallocx", "bench"), MEW_ROLE_PLAIN);
}

static void a_cxx_function_of_that_name_is_no_allocator(void **state)
{
	(void)state;
	assert_int_equal(mew_function_role("pool::free", "bench"), MEW_ROLE_PLAIN);
	assert_int_equal(mew_function_role("pool::free(void*)", "bench"), MEW_ROLE_PLAIN);
	assert_int_equal(mew_function_role("pool::operator new(unsigned long)", "bench"),
			 MEW_ROLE_PLAIN);
}

static void unreserved_internals_count_in_the_c_library_alone(void **state)
{
	(void)state;
	assert_int_equal(mew_function_role("unlink_chunk", LIBC), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("unlink_chunk", "/lib/ld-musl-x86_64.so.1"),
			 MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("mallocx", "/lib/libjemalloc.so.2"), MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("operator new(unsigned long)", "/lib/libjemalloc.so.2"),
			 MEW_ROLE_ALLOCATOR);
	assert_int_equal(mew_function_role("operator new(unsigned long)", "libstdc++.so.6"),
			 MEW_ROLE_WRAPPER);
	assert_int_equal(mew_function_role("unlink_chunk", "bench"), MEW_ROLE_PLAIN);
	assert_int_equal(mew_function_role("unlink_chunk", "/lib/libcrypto.so.3"), MEW_ROLE_PLAIN);
}

static void wrappers_pass_the_blame_on(void **state)
{
	static const char *const wrappers[] = {
		"strdup",
		"asprintf",
		"operator new(unsigned long)",
		"operator delete[](void*, unsigned long)",
		"std::vector<int, std::allocator<int> >::push_back(int const&)",
		"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)",
		"std::enable_if<true, int>::type std::__invoke<int (*&)()>(int (*&)())",
		"bool std::operator==<char>(std::string const&, char const*)",
		"decltype(auto) std::apply<f, int>(f&&, int&&)",
		"__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)",
		"__cxa_allocate_exception",
		"__rust_alloc",
		"getline",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		assert_int_equal(mew_function_role(wrappers[i], "bench"), MEW_ROLE_WRAPPER);
}

static void ones_own_functions_stay_plain_whatever_types_they_use(void **state)
{
	static const char *const plain[] = {
		"split(std::string const&)",
		"std::vector<int> parse<int>(std::string const&)",
		"std::enable_if<(4 > 2), int>::type parse<int>(int)",
		"(anonymous namespace)::parse(std::string)",
		"app::(anonymous namespace)::parse(std::string)",
		"app::std::parse()",
		"main::{lambda(std::string)#1}::operator()(std::string) const",
		"bool operator==<int>(std::pair<int, int>, std::pair<int, int>)",
		"stdx::parse()",
		"<alloc::vec::Vec<T> as app::Parse>::parse",
		"operatornew",
		"",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_int_equal(mew_function_role(plain[i], "bench"), MEW_ROLE_PLAIN);
}

static void the_qualified_name_follows_the_return_type(void **state)
{
	(void)state;
	assert_string_equal(mew_function_qualified("char const* a::b<int>(int)"), "a::b<int>(int)");
	assert_string_equal(mew_function_qualified("a::operator int() const"),
			    "a::operator int() const");
	assert_string_equal(mew_function_qualified("a::operator->() const"),
			    "a::operator->() const");
	assert_string_equal(mew_function_qualified("f(int)::{lambda()#1}::operator()() const"),
			    "f(int)::{lambda()#1}::operator()() const");
	assert_string_equal(mew_function_qualified("foo [clone .cold]"), "foo [clone .cold]");
	assert_string_equal(mew_function_qualified(">>>((("), ">>>(((");
}

/* root <- names, outermost first. */
static uint32_t stack_of(struct mew_session *s, const char *const *names)
{
	uint32_t at = 0;

	for (; *names; names++)
		at = mew_session_stack(s, at, mew_session_function(s, *names, "", 0, LIBC), 0, 0);
	return at;
}

static void check_blame(const char *const *names, const char *who, int taxed, const char *outside)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_blame b = mew_stack_blame(s, stack_of(s, names));

	assert_int_equal(b.taxed, taxed);
	if (who)
		assert_string_equal(s->functions[b.function].name, who);
	else
		assert_int_equal(b.function, MEW_NO_FUNCTION);
	if (outside)
		assert_string_equal(s->functions[s->stacks[b.outside].function].name, outside);
	else
		assert_int_equal(b.outside, 0);
	mew_session_free(s);
}

static void the_first_caller_outside_allocator_and_wrappers_is_taxed(void **state)
{
	(void)state;
	check_blame((const char *const[]){"loop", "push", "strdup", "malloc", "nameless", NULL},
		    "push", 1, "strdup");
	check_blame((const char *const[]){"loop", "push", NULL}, "push", 0, "push");
	check_blame((const char *const[]){"loop", "strdup", NULL}, "loop", 0, "strdup");
}

static void all_inside_the_outermost_entry_point_is_the_allocator(void **state)
{
	(void)state;
	check_blame((const char *const[]){"loop", "malloc", "refill", "_int_malloc", NULL}, "loop",
		    1, "loop");
}

static void a_stack_may_name_nobody(void **state)
{
	(void)state;
	check_blame((const char *const[]){"std::run()", "malloc", NULL}, NULL, 1, "std::run()");
	check_blame((const char *const[]){"malloc", NULL}, NULL, 1, NULL);
	check_blame((const char *const[]){NULL}, NULL, 0, NULL);
}

static void nothing_in_the_kernel_is_the_allocator(void **state)
{
	(void)state;
	assert_int_equal(mew_function_role("free", "[kernel]"), MEW_ROLE_PLAIN);
	assert_int_equal(mew_function_role("strdup", "[zram]"), MEW_ROLE_PLAIN);
	/* What a page fault of malloc runs is inside of it. */
	check_blame((const char *const[]){"f", "malloc", "asm_exc_page_fault", NULL}, "f", 1, "f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_points_are_the_allocator_wherever_they_lie),
		cmocka_unit_test(what_the_tools_append_to_a_name_is_looked_past),
		cmocka_unit_test(a_cxx_function_of_that_name_is_no_allocator),
		cmocka_unit_test(unreserved_internals_count_in_the_c_library_alone),
		cmocka_unit_test(wrappers_pass_the_blame_on),
		cmocka_unit_test(ones_own_functions_stay_plain_whatever_types_they_use),
		cmocka_unit_test(the_qualified_name_follows_the_return_type),
		cmocka_unit_test(the_first_caller_outside_allocator_and_wrappers_is_taxed),
		cmocka_unit_test(all_inside_the_outermost_entry_point_is_the_allocator),
		cmocka_unit_test(a_stack_may_name_nobody),
		cmocka_unit_test(nothing_in_the_kernel_is_the_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
