/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "failing_alloc.h"
#include "golden.h"
#include "output/text.h"
#include "unit.h"

struct cpu {
	const char *key, *label;
	uint64_t iterations, samples;
	double time_s, spread, slowdown, share;
	const char *top;
	int doubtful;
};

static const struct cpu cpu_cases[] = {
	{"sort_ints/case:0", "n=100", 20000, 1088, 5.282e-6, .011, 1.03, .58,
	 "msort_with_tmp (msort.c:45)", 0},
	{"sort_ints/case:1", "n=1000", 2000, 1591, 77.22e-6, .006, 1.03, .65,
	 "msort_with_tmp (msort.c:45)", 0},
	{"sort_ints/case:2", "n=100000", 30, 3840, 12.55e-3, .063, 1.02, .67,
	 "msort_with_tmp (msort.c:45)", 1},
	{"split_line", "", 200000, 1071, 514.8e-9, .009, 1.04, .14,
	 "malloc_consolidate (malloc.c:4741)", 0},
};

static struct mew_pcase *add_cpu(struct mew_session *s, const struct cpu *from)
{
	struct mew_pcase *c = mew_session_case(s, from->key, from->label);
	struct mew_cpu_row *row = &c->cpu;

	row->iterations = from->iterations;
	row->sample_count = from->samples;
	row->time_per_iteration_s = from->time_s;
	row->time_spread = from->spread;
	row->slowdown = from->slowdown;
	row->user_time_s = 1;
	row->kernel_time_s = row->off_cpu_time_s = 0;
	row->top_self_s = row->top_share = from->share;
	row->top_share_half_width = mew_share_half_width(from->share, from->samples);
	row->top_function = from->top;
	c->doubtful = from->doubtful;
	c->verdict = from->doubtful ? "noisy: +-6.3% over 30 iterations" : "ok";
	return c;
}

static struct mew_session *cpu_session(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	size_t i;

	for (i = 0; i < 4; i++)
		add_cpu(s, &cpu_cases[i]);
	return s;
}

static struct mew_pcase *add_heap(struct mew_session *s, const char *key, const char *label,
				  double allocations, uint64_t bytes, int64_t peak,
				  double temporary, double share, const char *top)
{
	struct mew_pcase *c = mew_session_case(s, key, label);
	struct mew_heap_row *row = &c->heap;

	row->iterations = 100;
	row->allocations_per_iteration = allocations;
	row->total_allocations = (uint64_t)(allocations * 100);
	row->first_iteration_allocations = (uint64_t)allocations;
	row->allocated_bytes = bytes * 100;
	row->temporary = (uint64_t)((double)row->total_allocations * temporary);
	row->peak_bytes = row->total_bytes = peak;
	row->top_allocator = top;
	row->top_allocator_share = share;
	return c;
}

static struct mew_session *heap_session(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);

	add_heap(s, "sort_ints/case:0", "n=100", 0, 0, 0, 0, NAN, "-");
	add_heap(s, "sort_ints/case:1", "n=1000", 1, 4000, 4000, 1, 1, "qsort_r (msort.c:223)");
	add_heap(s, "sort_ints/case:2", "n=100000", 1, 400000, 400000, 1, 1,
		 "qsort_r (msort.c:223)");
	add_heap(s, "split_line", "", 14, 362, 266, 0, .9286, "push (bench_text.c:44)");
	return s;
}

static char *text_of(const struct mew_session *s, unsigned width, size_t *ret_n_cut)
{
	struct mew_output_options o = {.width = width};
	struct mew_buffer out = MEW_BUFFER_INIT;

	assert_int_equal(mew_text_cases(s, &o, &out, ret_n_cut), 0);
	return mew_buffer_detach(&out, NULL);
}

static void check_golden(struct mew_session *s, unsigned width, const char *name)
{
	char *text = text_of(s, width, NULL);

	assert_golden(text, name);
	free(text);
	mew_session_free(s);
}

static void cpu_cases_in_80_columns(void **state)
{
	(void)state;
	check_golden(cpu_session(), 80, "cpu_80.txt");
}

static void cpu_cases_in_120_columns(void **state)
{
	(void)state;
	check_golden(cpu_session(), 120, "cpu_120.txt");
}

static void cpu_cases_in_a_pipe(void **state)
{
	(void)state;
	check_golden(cpu_session(), 0, "cpu_pipe.txt");
}

static void heap_cases_in_80_columns(void **state)
{
	(void)state;
	check_golden(heap_session(), 80, "mem_80.txt");
}

static void heap_cases_in_120_columns(void **state)
{
	(void)state;
	check_golden(heap_session(), 120, "mem_120.txt");
}

static void heap_cases_in_a_pipe(void **state)
{
	(void)state;
	check_golden(heap_session(), 0, "mem_pipe.txt");
}

/* What happens to a few cases, all in one table. */
static void cases_that_went_wrong_tell_why_in_the_last_column(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c;

	(void)state;
	add_cpu(s, &cpu_cases[0]);
	c = mew_session_case(s, "needs_gpu", "");
	c->result = MEW_RESULT_SKIPPED;
	c->reason = "no GPU here";
	c = mew_session_case(s, "breaks", "n=2");
	c->result = MEW_RESULT_FAILED;
	c->reason = "killed by SIGSEGV";
	c = add_cpu(s, &(struct cpu){.key = "still",
				     .label = "",
				     .iterations = 30,
				     .time_s = 1e-3,
				     .spread = NAN,
				     .slowdown = NAN,
				     .share = NAN,
				     .top = "<no samples>",
				     .doubtful = 1});
	c = add_cpu(s, &(struct cpu){"hurried", "", 30, 10, 1e-3, .002, 1.01, .6, "f (a.c:1)", 1});
	c->cpu.lost = 3;
	check_golden(s, 80, "cpu_wrong_80.txt");
}

static void kernel_and_off_cpu_time_show_when_there_is_some(void **state)
{
	struct mew_session *s = cpu_session();

	(void)state;
	s->cases[1].cpu.kernel_time_s = 2;
	s->cases[1].cpu.off_cpu_time_s = 1;
	s->cases[2].cpu.kernel_time_s = NAN;
	s->cases[2].cpu.off_cpu_time_s = NAN;
	check_golden(s, 100, "cpu_kernel_100.txt");
}

static void held_lost_and_foreign_show_when_there_are_some(void **state)
{
	struct mew_session *s = heap_session();

	(void)state;
	s->cases[3].heap.leaked_bytes = 64;
	s->cases[3].heap.lost = 2;
	s->cases[3].heap.foreign_frees = 7;
	s->cases[3].heap.allocations_per_iteration = 13.57;
	check_golden(s, 80, "mem_held_80.txt");
}

static void a_whole_program_is_one_row(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = add_cpu(
		s, &(struct cpu){"xz", "", 1, 2210, 2.214, NAN, NAN, .41, "lzma_code (x.c:1)", 0});

	(void)state;
	s->whole_program = 1;
	c->cpu.kernel_time_s = 0.25;
	check_golden(s, 80, "cpu_whole_80.txt");
}

static void counters_are_columns_of_their_own(void **state)
{
	struct mew_session *s = cpu_session();

	(void)state;
	mew_case_counter(s, &s->cases[0], "hits", 12, 0);
	mew_case_counter(s, &s->cases[1], "items", 12950000, 2);
	mew_case_counter(s, &s->cases[1], "hits", 12.5, 1);
	check_golden(s, 0, "cpu_counters_pipe.txt");
}

static void hostile_names_stay_in_their_cells(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);

	(void)state;
	add_cpu(s, &(struct cpu){"a\nb\x1b[31m", "n=\xff", 1000, 2000, 1e-6, .01, 1, .9,
				 "f\t(a\r\n.c:1)", 0});
	check_golden(s, 80, "cpu_hostile_80.txt");
}

static void long_names_are_shortened_and_counted(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	const char *line;
	size_t n_cut = 0;
	char *text;

	(void)state;
	add_cpu(s, &(struct cpu){"case", "", 1000, 2000, 1e-6, .01, 1, .9,
				 "ns::table<std::pair<int, std::string>, ns::hash>::"
				 "find_or_insert_the_element_that_was_asked_for(int) (table.h:120)",
				 0});
	text = text_of(s, 60, &n_cut);
	assert_int_equal(n_cut, 1);
	for (line = text; *line; line = strchr(line, '\n') + 1)
		assert_true(strcspn(line, "\n") <= 60);
	free(text);
	text = text_of(s, 0, &n_cut);
	assert_int_equal(n_cut, 0);
	assert_non_null(strstr(text, "asked_for(int) (table.h:120)\n"));
	free(text);
	mew_session_free(s);
}

static void no_cases_are_a_header_alone(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	char *text = text_of(s, 80, NULL);

	(void)state;
	assert_string_equal(text, "  CASE  ALLOCS/ITER  FIRST  TEMP  BYTES/ITER  PEAK  SHARE  "
				  "TOP ALLOCATOR\n");
	free(text);
	mew_session_free(s);
}

static void numbers_ignore_the_locale(void **state)
{
	const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C"};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		setlocale(LC_ALL, names[i]);
		check_golden(cpu_session(), 120, "cpu_120.txt");
	}
}

static void no_memory_is_told(void **state)
{
	struct mew_session *s = cpu_session();
	struct mew_output_options o = {.width = 80};
	struct mew_buffer out = MEW_BUFFER_INIT;
	long n;
	int err;

	(void)state;
	mew_case_counter(s, &s->cases[0], "hits", 12, 0);
	for (n = 0; failing_alloc_more(n); n++) {
		err = mew_text_cases(s, &o, &out, NULL);
		failing_alloc_off();
		assert_int_equal(err, failing_alloc_hit() ? -ENOMEM : 0);
		mew_buffer_done(&out);
		mew_buffer_init(&out);
	}
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_cases_in_80_columns),
		cmocka_unit_test(cpu_cases_in_120_columns),
		cmocka_unit_test(cpu_cases_in_a_pipe),
		cmocka_unit_test(heap_cases_in_80_columns),
		cmocka_unit_test(heap_cases_in_120_columns),
		cmocka_unit_test(heap_cases_in_a_pipe),
		cmocka_unit_test(cases_that_went_wrong_tell_why_in_the_last_column),
		cmocka_unit_test(kernel_and_off_cpu_time_show_when_there_is_some),
		cmocka_unit_test(held_lost_and_foreign_show_when_there_are_some),
		cmocka_unit_test(a_whole_program_is_one_row),
		cmocka_unit_test(counters_are_columns_of_their_own),
		cmocka_unit_test(hostile_names_stay_in_their_cells),
		cmocka_unit_test(long_names_are_shortened_and_counted),
		cmocka_unit_test(no_cases_are_a_header_alone),
		cmocka_unit_test(numbers_ignore_the_locale),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
