/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/perfmap.h"
#include "unit.h"

static struct mew_perf_map parsed(const char *text)
{
	struct mew_perf_map m = {0};

	assert_int_equal(mew_perf_map_parse(strdup(text), strlen(text), &m), 0);
	return m;
}

static void a_name_holds_from_its_start_for_its_size(void **state)
{
	struct mew_perf_map m = parsed("1000 20 first\n0x2000 0x10 LazyCompile:~f (a b) a.js:1\n");

	(void)state;
	assert_null(mew_perf_map_find(&m, 0xfff));
	assert_string_equal(mew_perf_map_find(&m, 0x1000), "first");
	assert_string_equal(mew_perf_map_find(&m, 0x101f), "first");
	assert_null(mew_perf_map_find(&m, 0x1020));
	assert_string_equal(mew_perf_map_find(&m, 0x200f), "LazyCompile:~f (a b) a.js:1");
	assert_null(mew_perf_map_find(&m, 0x2010));
	mew_perf_map_done(&m);
	assert_null(mew_perf_map_find(&m, 0x1000));
}

static void the_later_line_is_right_where_two_overlap(void **state)
{
	struct mew_perf_map m = parsed("1000 100 old\n1010 10 new\n1010 10 newest\n"
				       "2010 10 inner\n2000 100 over it\n");

	(void)state;
	assert_string_equal(mew_perf_map_find(&m, 0x100f), "old");
	assert_string_equal(mew_perf_map_find(&m, 0x1010), "newest");
	assert_string_equal(mew_perf_map_find(&m, 0x1020), "old");
	assert_string_equal(mew_perf_map_find(&m, 0x2018), "over it");
	mew_perf_map_done(&m);
}

static void what_is_no_line_of_a_map_is_passed_over(void **state)
{
	struct mew_perf_map m = parsed("\n1000\n1000 \n1000 10\n1000 10 \n1000 0 empty\n"
				       "zz 10 no number\n-1000 10 minus\n+1000 10 plus\n"
				       "10000000000000000 10 too many digits\n"
				       "fffffffffffffff0 11 past the end\n"
				       "5000 10 good\r\n6000 10 without an end");

	(void)state;
	assert_int_equal(m.n, 2);
	assert_string_equal(mew_perf_map_find(&m, 0x5000), "good");
	assert_string_equal(mew_perf_map_find(&m, 0x6000), "without an end");
	mew_perf_map_done(&m);
	m = parsed("");
	assert_int_equal(m.n, 0);
	mew_perf_map_done(&m);
}

static void a_long_name_is_cut_and_a_nul_ends_one(void **state)
{
	char *text = malloc(4096 + 1);
	struct mew_perf_map m = {0};

	(void)state;
	memset(text, 'x', 4096);
	memcpy(text, "1000 10 ", 8);
	memcpy(text + 3000, "\n2000 10 a\0b\n", 13);
	text[4096] = '\0';
	assert_int_equal(mew_perf_map_parse(text, 4096, &m), 0);
	assert_int_equal(strlen(mew_perf_map_find(&m, 0x1000)), MEW_PERF_MAP_NAME);
	assert_string_equal(mew_perf_map_find(&m, 0x2000), "a");
	mew_perf_map_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_holds_from_its_start_for_its_size),
		cmocka_unit_test(the_later_line_is_right_where_two_overlap),
		cmocka_unit_test(what_is_no_line_of_a_map_is_passed_over),
		cmocka_unit_test(a_long_name_is_cut_and_a_nul_ends_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
