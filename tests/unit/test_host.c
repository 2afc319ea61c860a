/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/host.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static int fake(void *arg, unsigned cpu, char *text)
{
	const char *const *governors = arg;

	if (!governors[cpu])
		return -ENOENT;
	strcpy(text, governors[cpu]);
	return 0;
}

static void a_governor_other_than_performance_scales(void **state)
{
	const char *governors[] = {"performance", NULL, "powersave"};
	char text[MEW_GOVERNOR_BYTES] = "";

	(void)state;
	assert_true(mew_host_scales(fake, governors, 3, text));
	assert_string_equal(text, "powersave");
}

static void no_governor_and_performance_do_not(void **state)
{
	const char *none[] = {NULL, NULL}, *fast[] = {"performance", "performance"};
	char text[MEW_GOVERNOR_BYTES] = "";

	(void)state;
	assert_false(mew_host_scales(fake, none, 2, text));
	assert_false(mew_host_scales(fake, fast, 2, text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_governor_other_than_performance_scales),
		cmocka_unit_test(no_governor_and_performance_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
