/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/table.h"
#include "failing_alloc.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

/* Cells parted by `|`; the first character is the mark. `#` begins a section. */
static void add_rows(struct mew_table *t, const char *const *rows)
{
	char cell[200];

	for (; *rows; rows++) {
		const char *at = *rows + 1, *end;

		if (**rows == '#') {
			mew_table_section(t, at);
			continue;
		}
		mew_table_row(t, **rows);
		do {
			end = strchrnul(at, '|');
			memcpy(cell, at, end - at);
			cell[end - at] = '\0';
			mew_table_cell(t, cell);
			at = end + 1;
		} while (*end);
	}
}

static void assert_table(const struct mew_column *columns, size_t n_columns,
			 const char *const *rows, size_t width, const char *want)
{
	struct mew_table *t = mew_table_new(columns, n_columns);
	struct mew_buffer out = MEW_BUFFER_INIT;
	size_t n_cut = 9;

	add_rows(t, rows);
	assert_int_equal(
		mew_table_render(t, &(struct mew_table_style){.width = width}, &out, &n_cut), 0);
	assert_string_equal(out.data, want);
	assert_int_equal(n_cut, 0);
	mew_buffer_done(&out);
	mew_table_free(t);
}

#define COLUMNS(c) (c), sizeof(c) / sizeof((c)[0])

static const struct mew_column cpu_columns[] = {
	{"CASE", MEW_ALIGN_LEFT},           {"LABEL", MEW_ALIGN_LEFT},
	{"ITERATIONS", MEW_ALIGN_RIGHT, 3}, {"TIME/ITER", MEW_ALIGN_RIGHT},
	{"+-", MEW_ALIGN_RIGHT, 1},         {"SAMPLES", MEW_ALIGN_RIGHT},
	{"LOST", MEW_ALIGN_RIGHT, 0, true}, {"SLOWDOWN", MEW_ALIGN_RIGHT, 2},
	{"SELF", MEW_ALIGN_RIGHT},          {"SELF/ITER", MEW_ALIGN_RIGHT, 4},
	{"TOP FUNCTION", MEW_ALIGN_LEFT},
};

static const char *const cpu_rows[] = {
	" sort_ints/case:0|n=100|20000|5.282 us|1.1%|1088|0|1.03x|58%|3.064 us|"
	"msort_with_tmp (msort.c:45)",
	" sort_ints/case:1|n=1000|2000|77.22 us|0.6%|1591|0|1.03x|65%|50.19 us|"
	"msort_with_tmp (msort.c:45)",
	"!sort_ints/case:2|n=100000|30|12.55 ms|6.3%|3840|0|1.02x|67%|8.409 ms|"
	"msort_with_tmp (msort.c:45)",
	" split_line||200000|514.8 ns|0.9%|1071|0|1.04x|14%|72.07 ns|"
	"malloc_consolidate (malloc.c:4741)",
	NULL,
};

static void the_cpu_table_fits_80_columns(void **state)
{
	(void)state;
	assert_table(
		COLUMNS(cpu_columns), cpu_rows, 80,
		"  CASE              LABEL     TIME/ITER  SAMPLES  SELF  TOP FUNCTION\n"
		"  sort_ints/case:0  n=100      5.282 us     1088   58%  msort_with_tmp\n"
		"  sort_ints/case:1  n=1000     77.22 us     1591   65%  msort_with_tmp\n"
		"! sort_ints/case:2  n=100000   12.55 ms     3840   67%  msort_with_tmp\n"
		"  split_line                   514.8 ns     1071   14%  malloc_consolidate\n");
}

static void the_cpu_table_shows_more_at_120_columns(void **state)
{
	(void)state;
	assert_table(
		COLUMNS(cpu_columns), cpu_rows, 120,
		"  CASE              LABEL     ITERATIONS  TIME/ITER    +-  SAMPLES  SLOWDOWN  SELF"
		"  TOP FUNCTION\n"
		"  sort_ints/case:0  n=100          20000   5.282 us  1.1%     1088     1.03x   58%"
		"  msort_with_tmp (msort.c:45)\n"
		"  sort_ints/case:1  n=1000          2000   77.22 us  0.6%     1591     1.03x   65%"
		"  msort_with_tmp (msort.c:45)\n"
		"! sort_ints/case:2  n=100000          30   12.55 ms  6.3%     3840     1.02x   67%"
		"  msort_with_tmp (msort.c:45)\n"
		"  split_line                      200000   514.8 ns  0.9%     1071     1.04x   14%"
		"  malloc_consolidate (malloc.c:4741)\n");
}

static const struct mew_column mem_columns[] = {
	{"CASE", MEW_ALIGN_LEFT},          {"LABEL", MEW_ALIGN_LEFT},
	{"ALLOCS/ITER", MEW_ALIGN_POINT},  {"FIRST", MEW_ALIGN_RIGHT, 3},
	{"TEMP", MEW_ALIGN_RIGHT, 2},      {"BYTES/ITER", MEW_ALIGN_RIGHT},
	{"PEAK", MEW_ALIGN_RIGHT},         {"HELD", MEW_ALIGN_RIGHT, 0, true},
	{"FOREIGN", MEW_ALIGN_RIGHT, 4},   {"SHARE", MEW_ALIGN_RIGHT, 1},
	{"TOP ALLOCATOR", MEW_ALIGN_LEFT},
};

static const char *const mem_rows[] = {
	" sort_ints/case:0|n=100|0|0|-|0|0|0|0|-|-",
	" sort_ints/case:1|n=1000|1|1|100%|4000 B|4000 B|0|0|100%|qsort_r (msort.c:223)",
	" sort_ints/case:2|n=100000|1|1|100%|390.6 KiB|390.6 KiB|0|0|100%|qsort_r (msort.c:223)",
	" split_line||14|14|0%|362 B|266 B|0|0|93%|push (bench_text.c:44)",
	NULL,
};

static void the_mem_table_fits_80_columns(void **state)
{
	(void)state;
	assert_table(
		COLUMNS(mem_columns), mem_rows, 80,
		"  CASE              LABEL     ALLOCS/ITER  BYTES/ITER       PEAK  TOP ALLOCATOR\n"
		"  sort_ints/case:0  n=100               0           0          0  -\n"
		"  sort_ints/case:1  n=1000              1      4000 B     4000 B  qsort_r\n"
		"  sort_ints/case:2  n=100000            1   390.6 KiB  390.6 KiB  qsort_r\n"
		"  split_line                           14       362 B      266 B  push\n");
}

static void the_mem_table_shows_more_at_120_columns(void **state)
{
	(void)state;
	assert_table(COLUMNS(mem_columns), mem_rows, 120,
		     "  CASE              LABEL     ALLOCS/ITER  FIRST  TEMP  BYTES/ITER       PEAK"
		     "  FOREIGN  SHARE  TOP ALLOCATOR\n"
		     "  sort_ints/case:0  n=100               0      0     -           0          0"
		     "        0      -  -\n"
		     "  sort_ints/case:1  n=1000              1      1  100%      4000 B     4000 B"
		     "        0   100%  qsort_r (msort.c:223)\n"
		     "  sort_ints/case:2  n=100000            1      1  100%   390.6 KiB  390.6 KiB"
		     "        0   100%  qsort_r (msort.c:223)\n"
		     "  split_line                           14     14    0%       362 B      266 B"
		     "        0    93%  push (bench_text.c:44)\n");
}

static const struct mew_column report_columns[] = {
	{"SELF", MEW_ALIGN_RIGHT},         {"TAX", MEW_ALIGN_RIGHT},
	{"TOTAL", MEW_ALIGN_RIGHT},        {"ALLOCS/ITER", MEW_ALIGN_POINT},
	{"BYTES/ITER", MEW_ALIGN_RIGHT},   {"PEAK", MEW_ALIGN_RIGHT},
	{"SELF/ITER", MEW_ALIGN_RIGHT, 1}, {"TAX/ITER", MEW_ALIGN_RIGHT, 2},
	{"FUNCTION", MEW_ALIGN_LEFT},
};

static const char *const report_rows[] = {
	" 2%|31%|100%|-|-|-|11.33 ns|159.6 ns|split_line (bench_text.c:62)",
	" <1%|19%|36%|13|293 B|74%|2.059 ns|98.84 ns|push (bench_text.c:44)",
	" 11%|-|11%|-|-|-|54.57 ns|-|strlen (libc.so.6)",
	" 8%|-|29%|-|-|-|43.76 ns|-|strtok_r (strtok_r.c:43)",
	" <1%|3%|68%|1|69 B|26%|1.544 ns|13.90 ns|split (bench_text.c:53)",
	" <1%|-||-|-|-|3.604 ns|-|6 more functions",
	" 47%|53%||14|362 B|266 B|242.5 ns|272.3 ns|all",
	NULL,
};

static void the_report_keeps_its_locations_at_80_columns(void **state)
{
	(void)state;
	assert_table(
		COLUMNS(report_columns), report_rows, 80,
		"  SELF  TAX  TOTAL  ALLOCS/ITER  BYTES/ITER   PEAK  FUNCTION\n"
		"    2%  31%   100%            -           -      -  split_line (bench_text.c:62)\n"
		"   <1%  19%    36%           13       293 B    74%  push (bench_text.c:44)\n"
		"   11%    -    11%            -           -      -  strlen (libc.so.6)\n"
		"    8%    -    29%            -           -      -  strtok_r (strtok_r.c:43)\n"
		"   <1%   3%    68%            1        69 B    26%  split (bench_text.c:53)\n"
		"   <1%    -                   -           -      -  6 more functions\n"
		"   47%  53%                  14       362 B  266 B  all\n");
}

static void the_report_shows_more_at_120_columns(void **state)
{
	(void)state;
	assert_table(
		COLUMNS(report_columns), report_rows, 120,
		"  SELF  TAX  TOTAL  ALLOCS/ITER  BYTES/ITER   PEAK  SELF/ITER  TAX/ITER  "
		"FUNCTION\n"
		"    2%  31%   100%            -           -      -   11.33 ns  159.6 ns  "
		"split_line"
		" (bench_text.c:62)\n"
		"   <1%  19%    36%           13       293 B    74%   2.059 ns  98.84 ns  push"
		" (bench_text.c:44)\n"
		"   11%    -    11%            -           -      -   54.57 ns         -  strlen"
		" (libc.so.6)\n"
		"    8%    -    29%            -           -      -   43.76 ns         -  strtok_r"
		" (strtok_r.c:43)\n"
		"   <1%   3%    68%            1        69 B    26%   1.544 ns  13.90 ns  split"
		" (bench_text.c:53)\n"
		"   <1%    -                   -           -      -   3.604 ns         -  6 more"
		" functions\n"
		"   47%  53%                  14       362 B  266 B   242.5 ns  272.3 ns  all\n");
}

static const struct mew_column compare_columns[] = {
	{"CASE", MEW_ALIGN_LEFT},    {"LABEL", MEW_ALIGN_LEFT}, {"BASE", MEW_ALIGN_RIGHT},
	{"+-", MEW_ALIGN_RIGHT, 2},  {"NEW", MEW_ALIGN_RIGHT},  {"+-", MEW_ALIGN_RIGHT, 2},
	{"CHANGE", MEW_ALIGN_RIGHT}, {"P", MEW_ALIGN_RIGHT, 1}, {"N", MEW_ALIGN_RIGHT, 1},
	{"", MEW_ALIGN_LEFT},
};

static const char *const compare_rows[] = {
	" sort_ints/case:0|n=100|5.282 us|1.1%|5.311 us|1.3%|~|0.48|20+20|same",
	" sort_ints/case:1|n=1000|77.22 us|0.6%|77.50 us|0.7%|~|0.31|20+20|same",
	"?sort_ints/case:2|n=100000|12.55 ms|6.3%|13.01 ms|7.0%|~|0.06|20+20|too noisy to tell 5%",
	"+split_line||514.8 ns|0.9%|376.5 ns|1.2%|-26.9%|0.000|20+20|faster",
	"#allocs/iter (fails above +0)",
	"+split_line||14||12||-14.3%|||fewer",
	"#bytes/iter",
	" split_line||362 B||650 B||+79.6%|||more, not gated",
	"#peak (fails above +10%)",
	"!split_line||266 B||650 B||+144.4%|||REGRESSION",
	NULL,
};

static void compare_is_one_table_with_sections(void **state)
{
	(void)state;
	assert_table(
		COLUMNS(compare_columns), compare_rows, 80,
		"  CASE              LABEL         BASE       NEW   CHANGE\n"
		"  sort_ints/case:0  n=100     5.282 us  5.311 us        ~  same\n"
		"  sort_ints/case:1  n=1000    77.22 us  77.50 us        ~  same\n"
		"? sort_ints/case:2  n=100000  12.55 ms  13.01 ms        ~  too noisy to tell 5%\n"
		"+ split_line                  514.8 ns  376.5 ns   -26.9%  faster\n"
		"allocs/iter (fails above +0)\n"
		"+ split_line                        14        12   -14.3%  fewer\n"
		"bytes/iter\n"
		"  split_line                     362 B     650 B   +79.6%  more, not gated\n"
		"peak (fails above +10%)\n"
		"! split_line                     266 B     650 B  +144.4%  REGRESSION\n");
}

static void columns_of_equal_worth_come_together(void **state)
{
	(void)state;
	assert_table(COLUMNS(compare_columns), compare_rows, 120,
		     "  CASE              LABEL         BASE    +-       NEW    +-   CHANGE      P "
		     "     N\n"
		     "  sort_ints/case:0  n=100     5.282 us  1.1%  5.311 us  1.3%        ~   0.48 "
		     " 20+20"
		     "  same\n"
		     "  sort_ints/case:1  n=1000    77.22 us  0.6%  77.50 us  0.7%        ~   0.31 "
		     " 20+20"
		     "  same\n"
		     "? sort_ints/case:2  n=100000  12.55 ms  6.3%  13.01 ms  7.0%        ~   0.06 "
		     " 20+20"
		     "  too noisy to tell 5%\n"
		     "+ split_line                  514.8 ns  0.9%  376.5 ns  1.2%   -26.9%  0.000 "
		     " 20+20"
		     "  faster\n"
		     "allocs/iter (fails above +0)\n"
		     "+ split_line                        14              12         -14.3%        "
		     "      "
		     "  fewer\n"
		     "bytes/iter\n"
		     "  split_line                     362 B           650 B         +79.6%        "
		     "      "
		     "  more, not gated\n"
		     "peak (fails above +10%)\n"
		     "! split_line                     266 B           650 B        +144.4%        "
		     "      "
		     "  REGRESSION\n");
}

static void a_pipe_gets_every_column_and_whole_names(void **state)
{
	static const char *const rows[] = {
		" a|x|7|1 ns|1%|5|0|1.00x|9%|1 ns|std::vector<int, "
		"std::allocator<int>>::push_back(int)"
		" (stl_vector.h:1)",
		NULL,
	};

	(void)state;
	assert_table(COLUMNS(cpu_columns), rows, 0,
		     "  CASE  LABEL  ITERATIONS  TIME/ITER  +-  SAMPLES  SLOWDOWN  SELF  SELF/ITER"
		     "  TOP FUNCTION\n"
		     "  a     x               7       1 ns  1%        5     1.00x    9%       1 ns"
		     "  std::vector<int, std::allocator<int>>::push_back(int) (stl_vector.h:1)\n");
}

static void points_stand_below_each_other(void **state)
{
	static const struct mew_column columns[] = {
		{"CASE", MEW_ALIGN_LEFT}, {"ALLOCS/ITER", MEW_ALIGN_POINT}, {"F", MEW_ALIGN_LEFT}};
	static const char *const rows[] = {" a|14|f",    " b|13.57|g", " c|0|h",
					   " d|1.500|i", " e|-|j",     NULL};

	(void)state;
	assert_table(COLUMNS(columns), rows, 80,
		     "  CASE  ALLOCS/ITER  F\n"
		     "  a          14      f\n"
		     "  b          13.57   g\n"
		     "  c           0      h\n"
		     "  d           1.500  i\n"
		     "  e           -      j\n");
}

static void a_column_of_zeros_is_hidden_until_it_matters(void **state)
{
	static const struct mew_column columns[] = {
		{"CASE", MEW_ALIGN_LEFT},
		{"LOST", MEW_ALIGN_RIGHT, 0, true},
		{"HELD", MEW_ALIGN_RIGHT, 1, true},
		{"F", MEW_ALIGN_LEFT},
	};
	static const char *const zeros[] = {" a|0|-|f", " b|0|0|g", NULL};
	static const char *const lost[] = {" a|0|-|f", " b|3|8 B|g", NULL};

	(void)state;
	assert_table(COLUMNS(columns), zeros, 80, "  CASE  F\n  a     f\n  b     g\n");
	assert_table(COLUMNS(columns), lost, 80,
		     "  CASE  LOST  HELD  F\n  a        0     -  f\n  b        3   8 B  g\n");
}

static void a_cut_name_is_counted(void **state)
{
	static const struct mew_column columns[] = {{"CASE", MEW_ALIGN_LEFT},
						    {"F", MEW_ALIGN_LEFT}};
	static const char *const rows[] = {" a|short (a.c:1)", " b|a_name_of_twenty_seven_chars",
					   NULL};
	struct mew_table *t = mew_table_new(columns, 2);
	struct mew_buffer out = MEW_BUFFER_INIT;
	size_t n_cut = 0;

	(void)state;
	add_rows(t, rows);
	assert_int_equal(mew_table_render(t, &(struct mew_table_style){.width = 20}, &out, &n_cut),
			 0);
	assert_string_equal(out.data, "  CASE  F\n  a     short\n  b     a_n..._chars\n");
	assert_int_equal(n_cut, 1);
	mew_buffer_done(&out);
	mew_table_free(t);
}

static void a_name_cannot_disturb_the_table(void **state)
{
	static const struct mew_column columns[] = {{"CASE", MEW_ALIGN_LEFT},
						    {"F", MEW_ALIGN_LEFT}};
	static const char *const rows[] = {" a\nb|x\033[2Jy", " n\xc3\xa4h|z", NULL};

	(void)state;
	assert_table(COLUMNS(columns), rows, 80,
		     "  CASE  F\n  a\\nb  x\\x1b[2Jy\n  n\xc3\xa4h   z\n");
}

static void color_is_added_to_the_same_text(void **state)
{
	static const struct mew_column columns[] = {{"CASE", MEW_ALIGN_LEFT},
						    {"F", MEW_ALIGN_LEFT}};
	static const char *const rows[] = {"!a|f (a.c:1)", "+b|g", "?c|h", NULL};
	struct mew_table *t = mew_table_new(columns, 2);
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	add_rows(t, rows);
	assert_int_equal(mew_table_render(t, &(struct mew_table_style){.color = true}, &out, NULL),
			 0);
	assert_string_equal(out.data, "\033[1m  CASE  F\033[0m\n"
				      "\033[31m!\033[0m a     f\033[2m (a.c:1)\033[0m\n"
				      "\033[32m+\033[0m b     g\n"
				      "? c     h\n");
	mew_buffer_done(&out);
	mew_table_free(t);
}

static void short_and_long_rows_are_harmless(void **state)
{
	static const struct mew_column columns[] = {{"A", MEW_ALIGN_LEFT}, {"B", MEW_ALIGN_LEFT}};
	static const char *const rows[] = {" 1", " 2|3|4|5", NULL};
	struct mew_table *t = mew_table_new(columns, 2);

	(void)state;
	mew_table_cell(t, "before any row");
	assert_int_equal(mew_table_rows(t), 0);
	mew_table_free(t);
	mew_table_free(NULL);
	assert_table(COLUMNS(columns), rows, 80, "  A  B\n  1\n  2  3\n");
	assert_table(COLUMNS(columns), rows, 1, "  A  B\n  1\n  2  3\n");
}

static void without_memory_render_says_so(void **state)
{
	static const struct mew_column columns[] = {{"A", MEW_ALIGN_LEFT}, {"B", MEW_ALIGN_LEFT}};
	long n;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		struct mew_table *t = mew_table_new(columns, 2);
		struct mew_buffer out = MEW_BUFFER_INIT;
		int rc = -ENOMEM;

		if (t) {
			mew_table_section(t, "section");
			mew_table_row(t, ' ');
			mew_table_cell(t, "a");
			mew_table_cellf(t, "%s", "a_long_name<of_a_template>::and_more");
			rc = mew_table_render(t, &(struct mew_table_style){.width = 20}, &out,
					      NULL);
		}
		failing_alloc_off();
		assert_int_equal(rc, failing_alloc_hit() ? -ENOMEM : 0);
		mew_buffer_done(&out);
		mew_table_free(t);
	}
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cpu_table_fits_80_columns),
		cmocka_unit_test(the_cpu_table_shows_more_at_120_columns),
		cmocka_unit_test(the_mem_table_fits_80_columns),
		cmocka_unit_test(the_mem_table_shows_more_at_120_columns),
		cmocka_unit_test(the_report_keeps_its_locations_at_80_columns),
		cmocka_unit_test(the_report_shows_more_at_120_columns),
		cmocka_unit_test(compare_is_one_table_with_sections),
		cmocka_unit_test(columns_of_equal_worth_come_together),
		cmocka_unit_test(a_pipe_gets_every_column_and_whole_names),
		cmocka_unit_test(points_stand_below_each_other),
		cmocka_unit_test(a_column_of_zeros_is_hidden_until_it_matters),
		cmocka_unit_test(a_cut_name_is_counted),
		cmocka_unit_test(a_name_cannot_disturb_the_table),
		cmocka_unit_test(color_is_added_to_the_same_text),
		cmocka_unit_test(short_and_long_rows_are_harmless),
		cmocka_unit_test(without_memory_render_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
