/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static void set_returns_the_code_and_keeps_the_text(void **state)
{
	struct mew_error e = {0};

	(void)state;
	assert_int_equal(mew_error_set(&e, -EINVAL, "bad %s", "value"), -EINVAL);
	assert_int_equal(e.code, -EINVAL);
	assert_string_equal(e.text, "bad value");
}

static void null_is_fine_everywhere(void **state)
{
	(void)state;
	assert_int_equal(mew_error_set(NULL, -EINVAL, "x"), -EINVAL);
	assert_int_equal(mew_error_errno(NULL, -ENOENT, "x"), -ENOENT);
	assert_int_equal(mew_error_prefix(NULL, "x"), 0);
}

static void errno_appends_the_reason(void **state)
{
	struct mew_error e = {0};

	(void)state;
	assert_int_equal(mew_error_errno(&e, -ENOENT, "cannot open '%s'", "x.db"), -ENOENT);
	assert_string_equal(e.text, "cannot open 'x.db': No such file or directory");
}

static void prefix_goes_before_the_text(void **state)
{
	struct mew_error e = {0};

	(void)state;
	mew_error_set(&e, -EIO, "short read");
	assert_int_equal(mew_error_prefix(&e, "'%s': ", "a.out"), -EIO);
	assert_string_equal(e.text, "'a.out': short read");
}

static void an_error_may_quote_itself(void **state)
{
	struct mew_error e = {0};

	(void)state;
	mew_error_set(&e, -EIO, "inner");
	mew_error_set(&e, -EPROTO, "outer: %s", e.text);
	assert_string_equal(e.text, "outer: inner");
}

static void a_long_text_is_cut_and_ended(void **state)
{
	struct mew_error e = {0};
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	mew_error_errno(&e, -EIO, "%s", text);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	mew_error_prefix(&e, "%s", text);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_returns_the_code_and_keeps_the_text),
		cmocka_unit_test(null_is_fine_everywhere),
		cmocka_unit_test(errno_appends_the_reason),
		cmocka_unit_test(prefix_goes_before_the_text),
		cmocka_unit_test(an_error_may_quote_itself),
		cmocka_unit_test(a_long_text_is_cut_and_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
