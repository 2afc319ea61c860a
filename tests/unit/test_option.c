/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/option.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static int parse(struct mew_options *o, const char *const *words, struct mew_error *error)
{
	char *argv[16] = {(char *)(uintptr_t) "bench"};
	int argc = 1;

	while (words[argc - 1]) {
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
		argc++;
	}
	return mew_options_parse(o, argc, argv, error);
}
#define PARSE(o, ...) parse(o, (const char *const[]){__VA_ARGS__, NULL}, NULL)

static void no_options_are_the_defaults(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(PARSE(&o, NULL), 0);
	assert_int_equal(o.n_filters, 0);
	assert_int_equal(o.repetitions, 1);
	assert_true(o.min_time_s == 0);
	assert_int_equal(o.iterations, 0);
	assert_false(o.list || o.csv || o.csv_file || o.help || o.no_fork || o.plain);
	assert_int_equal(o.rest, 1);
	mew_options_done(&o);
}

static void values_come_joined_or_apart(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(
		PARSE(&o, "--min-time=0.25", "-r", "3", "-ka", "--filter", "-b", "--filter=c"), 0);
	assert_true(o.min_time_s == 0.25);
	assert_int_equal(o.repetitions, 3);
	assert_int_equal(o.n_filters, 3);
	assert_string_equal(o.filters[0], "a");
	assert_string_equal(o.filters[1], "-b");
	assert_string_equal(o.filters[2], "c");
	mew_options_done(&o);
}

static void times_have_units_and_iterations_an_x(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "--min-time", "200ms"), 0);
	assert_true(o.min_time_s > 0.1999 && o.min_time_s < 0.2001);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "--min-time", "100x"), 0);
	assert_int_equal(o.iterations, 100);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "-n", "7"), 0);
	assert_int_equal(o.iterations, 7);
	mew_options_done(&o);
}

static void csv_takes_a_file_only_with_an_equals_sign(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "--csv"), 0);
	assert_true(o.csv);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "--csv=out.csv"), 0);
	assert_false(o.csv);
	assert_string_equal(o.csv_file, "out.csv");
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "--csv=-"), 0);
	assert_true(o.csv);
	assert_null(o.csv_file);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "--csv", "out.csv"), -EINVAL);
	mew_options_done(&o);
}

static void the_spellings_of_google_benchmark_are_known(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "--benchmark_filter=x", "--benchmark_list_tests=true",
			       "--benchmark_min_time=0.1s", "--benchmark_repetitions=4",
			       "--benchmark_format=csv"),
			 0);
	assert_string_equal(o.filters[0], "x");
	assert_true(o.list);
	assert_true(o.min_time_s == 0.1);
	assert_int_equal(o.repetitions, 4);
	assert_true(o.csv);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "--benchmark_list_tests=false", "--benchmark_format=console"),
			 0);
	assert_false(o.list || o.csv);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "--benchmark_format=json"), -EINVAL);
	mew_options_done(&o);
}

static void what_follows_two_dashes_is_the_programs(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "--list", "--", "--list", "x"), 0);
	assert_int_equal(o.rest, 3);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "x"), -EINVAL);
	mew_options_done(&o);
}

static void what_means_nothing_under_mew_perf_is_told(void **state)
{
	struct mew_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "-k", "a"), 0);
	assert_null(o.plain);
	mew_options_done(&o);
	assert_int_equal(PARSE(&o, "-r", "2"), 0);
	assert_string_equal(o.plain, "repetitions");
	mew_options_done(&o);
}

static void wrong_words_are_usage_errors(void **state)
{
	static const char *const wrong[] = {
		"--lis",
		"--list=1",
		"--min-time=0",
		"--min-time=-1",
		"--min-time=fast",
		"--min-time=x",
		"-r0",
		"--repetitions=x",
		"-r10001",
		"-n0",
		"-n-1",
		"-z",
		"-",
		"--filter",
		"-k",
		"-hx",
		"--no-fork=1",
	};
	struct mew_options o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct mew_error error = {0};
		const char *words[] = {wrong[i], NULL};

		assert_int_equal(parse(&o, words, &error), -EINVAL);
		assert_true(error.text[0] != '\0');
		mew_options_done(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_options_are_the_defaults),
		cmocka_unit_test(values_come_joined_or_apart),
		cmocka_unit_test(times_have_units_and_iterations_an_x),
		cmocka_unit_test(csv_takes_a_file_only_with_an_equals_sign),
		cmocka_unit_test(the_spellings_of_google_benchmark_are_known),
		cmocka_unit_test(what_follows_two_dashes_is_the_programs),
		cmocka_unit_test(what_means_nothing_under_mew_perf_is_told),
		cmocka_unit_test(wrong_words_are_usage_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
