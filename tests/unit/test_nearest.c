/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/nearest.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static void assert_nearest(const char *name, const char *want)
{
	char got[64] = "untouched";

	assert_int_equal(mew_event_nearest(name, got, sizeof(got)), 0);
	assert_string_equal(got, want);
}

static void assert_none(const char *name)
{
	char got[64] = "untouched";

	assert_int_equal(mew_event_nearest(name, got, sizeof(got)), -ENOENT);
	assert_string_equal(got, "untouched");
}

static void a_mistyped_name_has_a_nearest_one(void **state)
{
	(void)state;
	assert_nearest("cylces", "cycles");
	assert_nearest("cycle", "cycles");
	assert_nearest("Cycless", "cycles");
	assert_nearest("cpu-clok", "cpu-clock");
	assert_nearest("cpuclock", "cpu-clock");
	assert_nearest("instrutcions", "instructions");
	assert_nearest("L1-dcache-load-mises", "L1-dcache-load-misses");
}

static void modifiers_are_kept(void **state)
{
	(void)state;
	assert_nearest("cpu-clok:u", "cpu-clock:u");
	assert_nearest("cylces:ukpp", "cycles:ukpp");
}

static void what_is_like_no_event_has_none(void **state)
{
	char huge[300];

	(void)state;
	assert_none("");
	assert_none(":u");
	assert_none("nonsense");
	assert_none("sched:sched_swtich");
	memset(huge, 'c', sizeof(huge));
	huge[sizeof(huge) - 1] = '\0';
	assert_none(huge);
}

static void a_small_buffer_is_never_overrun(void **state)
{
	char got[6] = "xxxxx";

	(void)state;
	assert_int_equal(mew_event_nearest("cylces", got, sizeof(got)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mistyped_name_has_a_nearest_one),
		cmocka_unit_test(modifiers_are_kept),
		cmocka_unit_test(what_is_like_no_event_has_none),
		cmocka_unit_test(a_small_buffer_is_never_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
