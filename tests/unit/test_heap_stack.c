/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/stack.h"
#include "unit.h"

#include <string.h>

static const char maps[] =
	"55d0c0000000-55d0c0001000 r-xp 00001000 08:01 123                        "
	"/usr/bin/[stack]\n"
	"7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
	"7f0000021000-7f0004000000 ---p 00000000 00:00 0 \n"
	"7ffc10000000-7ffc10021000 rw-p 00000000 00:00 0                          [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static struct mew_stack_scan scan(uint64_t sp, size_t piece)
{
	struct mew_stack_scan s = {.sp = sp};

	for (size_t at = 0; at < sizeof(maps) - 1; at += piece) {
		size_t n = sizeof(maps) - 1 - at;

		if (mew_stack_scan(&s, maps + at, n < piece ? n : piece))
			break;
	}
	return s;
}

static void the_mapping_of_an_address_is_found_whatever_the_pieces(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(maps); piece++) {
		struct mew_stack_scan s = scan(0x7f0000000010, piece);

		assert_int_equal(s.start, 0x7f0000000000);
		assert_int_equal(s.end, 0x7f0000021000);
		assert_int_equal(s.is_main, 0);
		s = scan(0x7ffc10020ff8, piece);
		assert_int_equal(s.start, 0x7ffc10000000);
		assert_int_equal(s.end, 0x7ffc10021000);
		assert_int_equal(s.end_before, 0x7f0004000000);
		assert_int_equal(s.is_main, 1);
	}
}

static void only_the_kernels_name_makes_it_the_main_stack(void **state)
{
	struct mew_stack_scan s = scan(0x55d0c0000000, 64);

	(void)state;
	assert_int_equal(s.end, 0x55d0c0001000);
	assert_int_equal(s.is_main, 0);
	s = scan(0xffffffffff600008, 64);
	assert_int_equal(s.end, 0xffffffffff601000);
	assert_int_equal(s.is_main, 0);
}

static void an_address_between_mappings_is_not_found(void **state)
{
	struct mew_stack_scan s = scan(0x7f0004000000, 64);

	(void)state;
	assert_int_equal(s.start, 0);
	assert_int_equal(s.end, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mapping_of_an_address_is_found_whatever_the_pieces),
		cmocka_unit_test(only_the_kernels_name_makes_it_the_main_stack),
		cmocka_unit_test(an_address_between_mappings_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
