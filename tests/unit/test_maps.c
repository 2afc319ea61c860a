/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unit.h"
#include "unwind/maps.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

static int parse(const char *text, struct mew_maps_line *ret)
{
	static char line[512];

	assert_true(strlen(text) < sizeof(line));
	strcpy(line, text);
	return mew_maps_parse(line, ret);
}

static void a_file_mapping_has_all_its_fields(void **state)
{
	struct mew_maps_line l;

	(void)state;
	assert_int_equal(parse("7f0a1b2c3000-7f0a1b2c5000 r-xp 00026000 103:02 131077            "
			       "         /usr/lib/x86_64-linux-gnu/libc.so.6",
			       &l),
			 0);
	assert_int_equal(l.start_pc, 0x7f0a1b2c3000);
	assert_int_equal(l.end_pc, 0x7f0a1b2c5000);
	assert_int_equal(l.file_off, 0x26000);
	assert_int_equal(l.dev, makedev(0x103, 2));
	assert_int_equal(l.ino, 131077);
	assert_true(l.executable);
	assert_string_equal(l.path, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	assert_int_equal(parse("1000-2000 rw-p 00000000 00:00 0 ", &l), 0);
	assert_false(l.executable);
	assert_string_equal(l.path, "");
	assert_int_equal(parse("1000-2000 rwxp 00000000 00:00 0", &l), 0);
	assert_true(l.executable);
	assert_string_equal(l.path, "");
	assert_int_equal(parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          "
			       "        [vsyscall]",
			       &l),
			 0);
	assert_true(l.executable);
	assert_string_equal(l.path, "[vsyscall]");
}

static void paths_hold_blanks_newlines_and_backslashes(void **state)
{
	struct mew_maps_line l;

	(void)state;
	assert_int_equal(parse("1000-2000 r-xp 0 08:01 7 /a b  c/d", &l), 0);
	assert_string_equal(l.path, "/a b  c/d");
	assert_int_equal(parse("1000-2000 r-xp 0 08:01 7 /a\\012b\\n\\", &l), 0);
	assert_string_equal(l.path, "/a\nb\\n\\");
	assert_int_equal(parse("1000-2000 r-xp 0 08:01 7 /tmp/x (deleted)", &l), 0);
	assert_string_equal(l.path, "/tmp/x (deleted)");
}

static void what_is_no_line_of_maps_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 08:01",
		"1000-2000 r-xp 0 08:01 ",
		"1000-2000 r-xp 0 08:01 z",
		"2000-1000 r-xp 0 08:01 7 /a",
		"1000-1000 r-xp 0 08:01 7 /a",
		"g000-2000 r-xp 0 08:01 7 /a",
		"1000-2000 r-xp 0 0801 7 /a",
		"11111111111111111-22222222222222222 r-xp 0 08:01 7 /a",
	};
	struct mew_maps_line l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &l), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_mapping_has_all_its_fields),
		cmocka_unit_test(paths_hold_blanks_newlines_and_backslashes),
		cmocka_unit_test(what_is_no_line_of_maps_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
