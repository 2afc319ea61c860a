/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "profile/filter.h"
#include "unit.h"

static int chooses(const char *a, const char *b, const char *key, const char *label)
{
	const char *texts[] = {a, b};
	struct mew_filter *f = mew_filter_new(texts, !!a + !!b, NULL);
	int chosen;

	assert_non_null(f);
	chosen = mew_filter_chooses(f, key, label);
	mew_filter_free(f);
	return chosen;
}

static void no_filter_chooses_all(void **state)
{
	(void)state;
	assert_int_equal(chooses(NULL, NULL, "sort", ""), 1);
	mew_filter_free(NULL);
}

static void key_or_label_may_match_any_of_them(void **state)
{
	(void)state;
	assert_int_equal(chooses("or", NULL, "sort/case:0", "n=1"), 1);
	assert_int_equal(chooses("^n=1$", NULL, "sort/case:0", "n=1"), 1);
	assert_int_equal(chooses("^n=1$", NULL, "sort/case:0", "n=10"), 0);
	assert_int_equal(chooses("x", "case:[0-3]$", "sort/case:0", ""), 1);
	assert_int_equal(chooses("x", "y", "sort/case:0", ""), 0);
}

static void an_empty_label_is_not_matched_by_what_matches_nothing(void **state)
{
	(void)state;
	assert_int_equal(chooses("^$", NULL, "sort", ""), 0);
}

static void a_dash_excludes_whatever_else_matches(void **state)
{
	(void)state;
	assert_int_equal(chooses("-sort", NULL, "sort", ""), 0);
	assert_int_equal(chooses("-sort", NULL, "walk", ""), 1);
	assert_int_equal(chooses("sort", "-n=1000", "sort/case:2", "n=1000"), 0);
	assert_int_equal(chooses("-n=1000", "sort", "sort/case:2", "n=100"), 1);
}

static void what_is_no_expression_is_told(void **state)
{
	const char *texts[] = {"fine", "-a(b"};
	struct mew_error error = {0};

	(void)state;
	assert_null(mew_filter_new(texts, 2, &error));
	assert_int_equal(error.code, -EINVAL);
	assert_ptr_equal(strstr(error.text, "'a(b' is no regular expression: "), error.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_filter_chooses_all),
		cmocka_unit_test(key_or_label_may_match_any_of_them),
		cmocka_unit_test(an_empty_label_is_not_matched_by_what_matches_nothing),
		cmocka_unit_test(a_dash_excludes_whatever_else_matches),
		cmocka_unit_test(what_is_no_expression_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
