/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/timing.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct mew_case cases[3];

static struct mew_result *result_new(int i, const char *key, const char *label, unsigned n)
{
	struct mew_result *r = calloc(1, sizeof(*r) + n * sizeof(r->repetitions[0]));

	assert_non_null(r);
	strcpy(cases[i].key, key);
	strcpy(r->label, label);
	r->c = &cases[i];
	r->ended = true;
	return r;
}

static void add_round(struct mew_result *r, uint64_t iterations, uint64_t loop_ns, uint64_t cpu_ns)
{
	struct mew_round *round = &r->repetitions[r->n_repetitions++];

	round->iterations = iterations;
	round->loop_ns = round->wall_ns = loop_ns;
	round->cpu_ns = cpu_ns;
}

static struct mew_result *results[3];

static int set_up(void **state)
{
	(void)state;
	results[0] = result_new(0, "sort/case:0", "n=100", 1);
	add_round(results[0], 1000, 5282000, 5000000);
	results[0]->bytes = 400;
	results[0]->n_counters = 1;
	strcpy(results[0]->counters[0].name, "swaps");
	results[0]->counters[0].value = 12.5;
	results[1] = result_new(1, "skipped", "", 1);
	results[1]->status = MEW_CASE_SKIPPED;
	strcpy(results[1]->text, "no \"input\", sorry");
	results[2] = result_new(2, "=odd", "", 2);
	add_round(results[2], 10, 10000, 10000);
	add_round(results[2], 10, 30000, 30000);
	return 0;
}

static int tear_down(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 3; i++)
		free(results[i]);
	return 0;
}

static void the_table_has_the_columns_that_some_case_fills(void **state)
{
	struct mew_table_style style = {0, false};
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	assert_int_equal(mew_timing_text(results + 2, 1, &style, &out), 0);
	assert_string_equal(out.data, "  CASE  OF          TIME       CPU  ITERATIONS\n"
				      "  =odd  median  2.000 us  2.000 us          10\n"
				      "  =odd  mean    2.000 us  2.000 us          10\n"
				      "  =odd  stddev  1.414 us  1.414 us           0\n"
				      "  =odd  cv         70.7%     70.7%           -\n");
	mew_buffer_reset(&out);
	assert_int_equal(mew_timing_text(results, 2, &style, &out), 0);
	assert_string_equal(
		out.data,
		"  CASE         LABEL      TIME       CPU  ITERATIONS       BYTES  swaps  NOTE\n"
		"  sort/case:0  n=100  5.282 us  5.000 us        1000  75.73 MB/s  12.50\n"
		"- skipped                    -         -           -           -   -     no "
		"\"input\", sorry\n");
	mew_buffer_done(&out);
}

static void a_narrow_terminal_keeps_the_times(void **state)
{
	struct mew_table_style style = {70, false};
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	results[0]->counters[0].value = 12953000;
	results[0]->counters[0].is_rate = true;
	assert_int_equal(mew_timing_text(results, 1, &style, &out), 0);
	assert_string_equal(out.data,
			    "  CASE         LABEL      TIME       CPU       BYTES      swaps\n"
			    "  sort/case:0  n=100  5.282 us  5.000 us  75.73 MB/s  12.95 M/s\n");
	mew_buffer_reset(&out);
	style.width = 60;
	assert_int_equal(mew_timing_text(results, 1, &style, &out), 0);
	assert_string_equal(out.data, "  CASE         LABEL      TIME       CPU       BYTES\n"
				      "  sort/case:0  n=100  5.282 us  5.000 us  75.73 MB/s\n");
	mew_buffer_done(&out);
}

static void the_csv_has_all_rows_and_quotes_what_needs_it(void **state)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	assert_int_equal(mew_timing_csv(results, 3, &out), 0);
	assert_string_equal(
		out.data,
		"name,label,repetition,time,cpu,iterations,bytes_per_second,items_per_second,"
		"status,note,swaps\r\n"
		"sort/case:0,n=100,1,5.282e-06,5e-06,1000,75728890.6,,ok,,12.5\r\n"
		"skipped,,,,,,,,skipped,\"no \"\"input\"\", sorry\",\r\n"
		"'=odd,,1,1e-06,1e-06,10,,,ok,,\r\n"
		"'=odd,,2,3e-06,3e-06,10,,,ok,,\r\n"
		"'=odd,,median,2e-06,2e-06,10,,,ok,,\r\n"
		"'=odd,,mean,2e-06,2e-06,10,,,ok,,\r\n"
		"'=odd,,stddev,1.41421356e-06,1.41421356e-06,0,,,ok,,\r\n"
		"'=odd,,cv,0.707106781,0.707106781,0,,,ok,,\r\n");
	mew_buffer_done(&out);
}

static void pauses_that_cost_more_than_a_tenth_mark_the_row(void **state)
{
	struct mew_table_style style = {0, false};
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	results[0]->repetitions[0].cost_ns = 528200;
	assert_false(mew_result_pauses_dominate(results[0]));
	results[0]->repetitions[0].cost_ns = 528201;
	assert_true(mew_result_pauses_dominate(results[0]));
	assert_int_equal(mew_timing_text(results, 1, &style, &out), 0);
	assert_non_null(strstr(out.data, "\n! sort/case:0"));
	assert_non_null(strstr(out.data, "pauses cost more than 10% of it\n"));
	mew_buffer_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_table_has_the_columns_that_some_case_fills,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_narrow_terminal_keeps_the_times, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_csv_has_all_rows_and_quotes_what_needs_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(pauses_that_cost_more_than_a_tenth_mark_the_row,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
