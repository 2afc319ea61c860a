/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "failing_alloc.h"
#include "golden.h"
#include "output/text.h"
#include "unit.h"

/* Nanoseconds of an iteration of 514.8 ns; allocations and bytes of one; bytes of the peak. */
struct row {
	const char *name, *file;
	uint32_t line;
	double self, tax, total_share, allocations, bytes, peak;
};

static const struct row split_rows[] = {
	{"split_line", "bench_text.c", 62, 11.33, 159.6, 1, 0, 0, 0},
	{"push", "bench_text.c", 44, 2.059, 98.84, .36, 13, 293, 197},
	{"strlen", "", 0, 54.57, 0, .106, 0, 0, 0},
	{"strspn", "", 0, 51.99, 0, .101, 0, 0, 0},
	{"strcspn", "", 0, 51.48, 0, .1, 0, 0, 0},
	{"strtok_r", "strtok_r.c", 43, 43.757, 0, .29, 0, 0, 0},
	{"split", "bench_text.c", 53, 1.544, 13.90, .68, 1, 69, 69},
	{"memcpy", "", 0, 11.33, 0, .022, 0, 0, 0},
	{"strdup", "strdup.c", 39, 10.81, 0, .25, 0, 0, 0},
	{"f1", "", 0, 1, 0, .002, 0, 0, 0},
	{"f2", "", 0, .6, 0, .001, 0, 0, 0},
	{"f3", "", 0, .6, 0, .001, 0, 0, 0},
	{"f4", "", 0, .6, 0, .001, 0, 0, 0},
	{"f5", "", 0, .4, 0, .001, 0, 0, 0},
	{"f6", "", 0, .404, 0, .001, 0, 0, 0},
};
enum { N_ROWS = sizeof(split_rows) / sizeof(split_rows[0]) };

static struct mew_pcase cpu_case, heap_case;
static struct mew_report_row rows[N_ROWS];
static struct mew_report_case cases[2];
static struct mew_report report;

static void fill_row(struct mew_report_row *to, const struct row *from)
{
	*to = (struct mew_report_row){
		.name = from->name,
		.file = from->file,
		.line = from->line,
		.module = "/lib/libc.so.6",
		.self_s = from->self * 1e-9,
		.tax_s = from->tax * 1e-9,
		.self_share = from->self / 514.821,
		.tax_share = from->tax / 514.821,
		.total_share = from->total_share,
		.allocations = from->allocations,
		.bytes = from->bytes,
		.peak_bytes = from->peak,
		.peak_share = from->peak / 266,
	};
}

static int set_up(void **state)
{
	size_t i;

	(void)state;
	cpu_case = (struct mew_pcase){.key = "split_line", .label = "", .reason = ""};
	cpu_case.cpu = (struct mew_cpu_row){
		.sample_count = 1071, .time_per_iteration_s = 514.8e-9, .user_time_s = 514.817e-9};
	heap_case = (struct mew_pcase){.key = "split_line", .label = "", .reason = ""};
	heap_case.heap = (struct mew_heap_row){
		.peak_bytes = 266, .allocations_per_iteration = 14, .mapped_calls = NAN};
	for (i = 0; i < N_ROWS; i++)
		fill_row(&rows[i], &split_rows[i]);
	cases[0] = (struct mew_report_case){.key = "split_line",
					    .label = "",
					    .cpu = &cpu_case,
					    .heap = &heap_case,
					    .rows = rows,
					    .n_rows = N_ROWS};
	fill_row(&cases[0].all, &(struct row){"all", "", 0, 242.477, 272.34, 1, 14, 362, 266});
	report = (struct mew_report){.cases = cases, .n_cases = 1};
	return 0;
}

static char *text_of(unsigned width, unsigned top)
{
	struct mew_output_options o = {.width = width, .top = top};
	struct mew_buffer out = MEW_BUFFER_INIT;

	assert_int_equal(mew_text_report(&report, &o, &out, NULL), 0);
	return mew_buffer_detach(&out, NULL);
}

static void check_golden(unsigned width, unsigned top, const char *name)
{
	char *text = text_of(width, top);

	assert_golden(text, name);
	free(text);
}

static void a_report_in_80_columns(void **state)
{
	(void)state;
	check_golden(80, 9, "report_80.txt");
}

static void a_report_in_120_columns(void **state)
{
	(void)state;
	check_golden(120, 9, "report_120.txt");
}

static void all_rows_show_in_a_pipe_when_asked_for(void **state)
{
	char *text = text_of(0, 0);

	(void)state;
	assert_non_null(strstr(text, "  f6 (libc.so.6)\n"));
	assert_null(strstr(text, "more functions"));
	free(text);
}

static void functions_with_nothing_of_their_own_are_of_the_rest(void **state)
{
	char *text;

	(void)state;
	rows[13].self_s = rows[14].self_s = rows[13].self_share = rows[14].self_share = 0;
	text = text_of(80, 100);
	assert_non_null(strstr(text, "  f4"));
	assert_null(strstr(text, "  f5"));
	assert_non_null(strstr(text, "     -    -                   -           -      -  2 more "
				     "functions\n"));
	free(text);
	text = text_of(80, 0);
	assert_non_null(strstr(text, "  f6"));
	free(text);
}

static void one_row_is_not_replaced_by_a_line_about_it(void **state)
{
	char *text = text_of(80, N_ROWS - 1);

	(void)state;
	assert_null(strstr(text, "more function"));
	assert_non_null(strstr(text, "f6"));
	free(text);
}

static void who_allocates_most_has_a_row_wherever_it_is(void **state)
{
	char *text;

	(void)state;
	rows[12].allocations = 20;
	rows[13].peak_bytes = 300;
	text = text_of(80, 3);
	assert_non_null(strstr(text, " push ("));
	assert_null(strstr(text, " strspn "));
	assert_non_null(strstr(text, " f4 "));
	assert_non_null(strstr(text, " f5 "));
	assert_non_null(strstr(text, " 10 more functions"));
	free(text);
	/* A line about one row would be that row. */
	text = text_of(80, 12);
	assert_null(strstr(text, "more functions"));
	assert_non_null(strstr(text, " f6 "));
	free(text);
}

static void a_missing_session_leaves_its_columns_empty(void **state)
{
	size_t i;

	(void)state;
	cases[0].heap = NULL;
	for (i = 0; i <= N_ROWS; i++) {
		struct mew_report_row *row = i < N_ROWS ? &rows[i] : &cases[0].all;

		row->allocations = row->bytes = row->peak_bytes = row->peak_share =
			row->held_bytes = NAN;
	}
	check_golden(80, 9, "report_cpu_80.txt");

	set_up(NULL);
	cases[0].cpu = NULL;
	for (i = 0; i <= N_ROWS; i++) {
		struct mew_report_row *row = i < N_ROWS ? &rows[i] : &cases[0].all;

		row->self_s = row->tax_s = row->total_s = row->self_share = row->tax_share =
			row->total_share = NAN;
	}
	check_golden(80, 9, "report_mem_80.txt");
}

static void cases_that_went_wrong_say_so_in_their_head_line(void **state)
{
	struct mew_pcase failed = {.key = "f",
				   .label = "n=2",
				   .result = MEW_RESULT_FAILED,
				   .reason = "killed by SIGSEGV"};
	char *text;

	(void)state;
	cases[1] = (struct mew_report_case){.key = "f", .label = "n=2", .cpu = &failed};
	report.n_cases = 2;
	text = text_of(80, 3);
	assert_non_null(strstr(text, "\n\nx f n=2: cpu failed: killed by SIGSEGV\n"));
	assert_string_equal(text + strlen(text) - strlen("SIGSEGV\n"), "SIGSEGV\n");
	free(text);

	/* The other side still has figures. */
	cases[1].heap = &heap_case;
	text = text_of(60, 3);
	assert_non_null(strstr(text, "\n\nx f n=2: 14 allocs/iter, peak 266 B,\n"
				     "    cpu failed: killed by SIGSEGV\n  SELF"));
	free(text);
	text = text_of(80, 3);
	assert_non_null(strstr(text, "\n\nx f n=2: 14 allocs/iter, peak 266 B, cpu failed: killed "
				     "by SIGSEGV\n  SELF"));
	free(text);

	failed.result = MEW_RESULT_SKIPPED;
	failed.reason = "no\nGPU";
	cases[1].heap = NULL;
	text = text_of(80, 3);
	assert_non_null(strstr(text, "\n- f n=2: cpu skipped: no\\nGPU\n"));
	free(text);
}

static void doubtful_cases_and_time_elsewhere_are_in_the_head_line(void **state)
{
	char *text;

	(void)state;
	cpu_case.doubtful = 1;
	cpu_case.cpu.kernel_time_s = 514.817e-9;
	cpu_case.cpu.off_cpu_time_s = NAN;
	heap_case.heap.leaked_bytes = 64;
	cases[0].all.held_bytes = rows[1].held_bytes = 64;
	text = text_of(80, 1);
	assert_ptr_equal(
		strstr(text, "! split_line: 514.8 ns/iter, 14 allocs/iter, peak 266 B, held 64 B,\n"
			     "    allocator tax 53%, kernel 50%\n"),
		text);
	assert_non_null(strstr(text, "   PEAK  HELD  FUNCTION\n"));
	free(text);
}

static void no_memory_is_told(void **state)
{
	struct mew_output_options o = {.width = 80, .top = 3};
	struct mew_buffer out = MEW_BUFFER_INIT;
	long n;
	int err;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		err = mew_text_report(&report, &o, &out, NULL);
		failing_alloc_off();
		assert_int_equal(err, failing_alloc_hit() ? -ENOMEM : 0);
		mew_buffer_done(&out);
		mew_buffer_init(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_report_in_80_columns, set_up),
		cmocka_unit_test_setup(a_report_in_120_columns, set_up),
		cmocka_unit_test_setup(all_rows_show_in_a_pipe_when_asked_for, set_up),
		cmocka_unit_test_setup(functions_with_nothing_of_their_own_are_of_the_rest, set_up),
		cmocka_unit_test_setup(one_row_is_not_replaced_by_a_line_about_it, set_up),
		cmocka_unit_test_setup(who_allocates_most_has_a_row_wherever_it_is, set_up),
		cmocka_unit_test_setup(a_missing_session_leaves_its_columns_empty, set_up),
		cmocka_unit_test_setup(cases_that_went_wrong_say_so_in_their_head_line, set_up),
		cmocka_unit_test_setup(doubtful_cases_and_time_elsewhere_are_in_the_head_line,
				       set_up),
		cmocka_unit_test_setup(no_memory_is_told, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
