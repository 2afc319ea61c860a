/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "output/formats.h"
#include "unit.h"

static char *csv_of(const struct mew_session *s, const struct mew_report *r,
		    enum mew_output_table table)
{
	struct mew_output_input in = {.session = s, .report = r};
	struct mew_output_options o = {.table = table};
	struct mew_buffer out = MEW_BUFFER_INIT;

	assert_int_equal(mew_output_csv.write(&in, &o, &out), 0);
	return mew_buffer_detach(&out, NULL);
}

static void check(const struct mew_session *s, const struct mew_report *r,
		  enum mew_output_table table, const char *want)
{
	char *text = csv_of(s, r, table);

	assert_string_equal(text, want);
	free(text);
}

#define CPU_HEADER                                                                                 \
	"name,label,profiler,wall_time,sample_count,top_function,top_function_total_self_time,"    \
	"iterations,interval,paused_time,kernel_time,off_cpu_time,lost,truncated,unknown,"         \
	"slowdown,pause_cost,verdict\r\n"
#define HEAP_HEADER                                                                                \
	"name,label,profiler,peak_bytes,total_bytes,total_allocations,iterations,"                 \
	"allocations_per_iteration,allocated_bytes,frees,temporary,leaked_bytes,"                  \
	"first_iteration_allocations,foreign_frees,lost,iteration_peak_min,"                       \
	"iteration_peak_median,iteration_peak_max,mapped_calls,mapped_bytes,mapped_peak_bytes,"    \
	"mapped_held_bytes,hook_bytes,verdict\r\n"

static struct mew_session *cpu_session(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "sort_ints/case:0", "n=100");

	c->cpu.profiler = "perf_event:cpu-clock:u";
	c->cpu.wall_time_s = 0.108809;
	c->cpu.sample_count = 1088;
	c->cpu.top_function = "msort_with_tmp (msort.c:45)";
	c->cpu.top_self_s = 0.063001;
	c->cpu.iterations = 20000;
	c->cpu.interval_s = 0.0001;
	c->cpu.paused_time_s = 0.25;
	c->cpu.kernel_time_s = 0;
	c->cpu.slowdown = 1.03;
	return s;
}

static void cpu_cases_have_the_fields_of_the_contract(void **state)
{
	struct mew_session *s = cpu_session();

	(void)state;
	/* off_cpu_time and pause_cost are not known: empty, not 0. */
	check(s, NULL, MEW_TABLE_CASES,
	      CPU_HEADER "sort_ints/case:0,n=100,perf_event:cpu-clock:u,0.108809,1088,"
			 "msort_with_tmp (msort.c:45),0.063001,20000,0.0001,0.25,0,,0,0,0,1.03,,ok"
			 "\r\n");
	mew_session_free(s);
}

static void heap_cases_have_the_fields_of_the_contract(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c = mew_session_case(s, "split", "");

	(void)state;
	c->heap = (struct mew_heap_row){.profiler = "mew-heap",
					.peak_bytes = 266,
					.total_bytes = 266,
					.total_allocations = 1357,
					.iterations = 100,
					.allocations_per_iteration = 13.57,
					.allocated_bytes = 36200,
					.frees = 1356,
					.temporary = 3,
					.leaked_bytes = 64,
					.first_iteration_allocations = 14,
					.foreign_frees = 2,
					.lost = 1,
					.iteration_peak_min = 100,
					.iteration_peak_median = 200,
					.iteration_peak_max = 266,
					.mapped_calls = NAN,
					.mapped_bytes = NAN,
					.mapped_peak_bytes = NAN,
					.mapped_held_bytes = NAN,
					.hook_bytes = 150000};
	c->verdict = "1 allocation without a stack; 3 stacks broken";
	check(s, NULL, MEW_TABLE_CASES,
	      HEAP_HEADER "split,,mew-heap,266,266,1357,100,13.57,36200,1356,3,64,14,2,1,100,200,"
			  "266,,,,,150000,"
			  "1 allocation without a stack; 3 stacks broken\r\n");
	c->heap.mapped_calls = 3;
	c->heap.mapped_bytes = 1e12;
	c->heap.mapped_peak_bytes = 4096;
	c->heap.mapped_held_bytes = 0;
	c->verdict = "ok";
	check(s, NULL, MEW_TABLE_CASES,
	      HEAP_HEADER "split,,mew-heap,266,266,1357,100,13.57,36200,1356,3,64,14,2,1,100,200,"
			  "266,3,1000000000000,4096,0,150000,ok\r\n");
	mew_session_free(s);
}

static void shapes_are_tables_of_their_own(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c = mew_session_case(s, "f/case:0", "n=1");
	struct mew_report *r;

	(void)state;
	c->shape.width = 4;
	assert_int_equal(mew_shape_point(&c->shape, 100), 0);
	assert_int_equal(mew_shape_point(&c->shape, 0), 0);
	assert_int_equal(mew_shape_size(&c->shape, 0, 2), 0);
	assert_int_equal(mew_shape_size(&c->shape, 128, 5), 0);
	mew_session_case(s, "none", "");
	r = mew_report_new(NULL, s);
	assert_non_null(r);
	for (int i = 0; i < 2; i++) {
		check(i ? NULL : s, i ? r : NULL, MEW_TABLE_CURVE,
		      "name,label,first_allocation,allocations,live_bytes\r\n"
		      "f/case:0,n=1,0,4,100\r\n"
		      "f/case:0,n=1,4,4,0\r\n");
		check(i ? NULL : s, i ? r : NULL, MEW_TABLE_SIZES,
		      "name,label,max_bytes,allocations\r\n"
		      "f/case:0,n=1,0,2\r\n"
		      "f/case:0,n=1,128,5\r\n");
	}
	mew_report_free(r);
	mew_session_free(s);
}

static void a_case_without_figures_has_empty_cells_and_its_reason(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "f", "");

	(void)state;
	c->result = MEW_RESULT_FAILED;
	c->reason = "killed by SIGSEGV, core dumped";
	c = mew_session_case(s, "g", "");
	c->result = MEW_RESULT_SKIPPED;
	c->reason = "no GPU";
	check(s, NULL, MEW_TABLE_CASES,
	      CPU_HEADER "f,,,,,,,,,,,,,,,,,\"failed: killed by SIGSEGV, core dumped\"\r\n"
			 "g,,,,,,,,,,,,,,,,,skipped: no GPU\r\n");
	mew_session_free(s);
	s = mew_session_new(MEW_SESSION_HEAP);
	mew_session_case(s, "f", "")->result = MEW_RESULT_FAILED;
	check(s, NULL, MEW_TABLE_CASES, HEAP_HEADER "f,,,,,,,,,,,,,,,,,,,,,,,failed: \r\n");
	mew_session_free(s);
}

static void hostile_texts_arrive_as_text(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "a,b\"c", "=1+1");
	char *text;

	(void)state;
	c->cpu.top_function = "f<a, \"b\">\n(x.c:1)";
	c->cpu.profiler = "\xff\xfe";
	text = csv_of(s, NULL, MEW_TABLE_CASES);
	assert_non_null(strstr(text, "\r\n\"a,b\"\"c\",'=1+1,\xff\xfe,,0,"
				     "\"f<a, \"\"b\"\">\n(x.c:1)\",,0,"));
	free(text);
	mew_session_free(s);
}

static void numbers_ignore_the_locale(void **state)
{
	struct mew_session *s = cpu_session();
	char *text;

	(void)state;
	setlocale(LC_ALL, "de_DE.UTF-8");
	text = csv_of(s, NULL, MEW_TABLE_CASES);
	setlocale(LC_ALL, "C");
	assert_non_null(strstr(text, ",0.108809,"));
	free(text);
	mew_session_free(s);
}

static void add_stack(struct mew_session *s, const char *const *names, uint32_t line, int whole,
		      double weight_s, uint64_t bytes)
{
	struct mew_pvalue *v;
	uint32_t at = 0;

	for (; *names; names++)
		at = mew_session_stack(
			s, at, mew_session_function(s, *names, "/s/a.c", 7, "/bin/b"), line, 0);
	v = mew_case_value(s, &s->cases[0], at, whole);
	v->weight_s = weight_s;
	v->samples = weight_s > 0;
	v->allocations = bytes > 0;
	v->bytes = bytes;
	v->peak_bytes = (int64_t)bytes;
}

static void functions_are_rows_with_their_tax(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_session *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_report *r;

	(void)state;
	mew_session_case(s, "k", "l");
	add_stack(s, (const char *const[]){"loop", "malloc", NULL}, 0, 1, 0.25, 0);
	add_stack(s, (const char *const[]){"loop", NULL}, 0, 1, 0.5, 0);
	check(s, NULL, MEW_TABLE_FUNCTIONS,
	      "name,label,function,file,line,module,self_time,tax_time,total_time,"
	      "self_share,tax_share,total_share,allocations_per_iteration,bytes_per_iteration,"
	      "peak_bytes,peak_share,held_bytes\r\n"
	      "k,l,loop,/s/a.c,7,/bin/b,0.5,0.25,0.75,0.666666667,0.333333333,1,,,,,\r\n");
	mew_session_case(heap, "k", "l")->heap.iterations = 2;
	add_stack(heap, (const char *const[]){"loop", "malloc", NULL}, 0, 1, 0, 100);
	r = mew_report_new(s, heap);
	check(NULL, r, MEW_TABLE_FUNCTIONS,
	      "name,label,function,file,line,module,self_time,tax_time,total_time,"
	      "self_share,tax_share,total_share,allocations_per_iteration,bytes_per_iteration,"
	      "peak_bytes,peak_share,held_bytes\r\n"
	      "k,l,loop,/s/a.c,7,/bin/"
	      "b,0.5,0.25,0.75,0.666666667,0.333333333,1,0.5,50,100,1,0\r\n");
	check(NULL, r, MEW_TABLE_CASES,
	      "name,label,time_per_iteration,self_time,tax_time,kernel_time,off_cpu_time,"
	      "allocations_per_iteration,bytes_per_iteration,peak_bytes,held_bytes,"
	      "cpu_verdict,mem_verdict\r\n"
	      "k,l,,0.5,0.25,,,0.5,50,100,0,ok,ok\r\n");
	mew_report_free(r);
	mew_session_free(s);
	mew_session_free(heap);
}

static void stacks_are_rows_by_function_whatever_the_line(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_report *r;

	(void)state;
	mew_session_case(s, "k", "");
	add_stack(s, (const char *const[]){"loop", "a;b\\c", NULL}, 3, 1, 0.25, 0);
	add_stack(s, (const char *const[]){"loop", NULL}, 3, 0, 1, 0);
	add_stack(s, (const char *const[]){"loop", "a;b\\c", NULL}, 4, 1, 0.5, 0);
	add_stack(s, (const char *const[]){NULL}, 0, 0, 2, 0);
	/* as the collector marks them */
	add_stack(s, (const char *const[]){"[broken stack]", "f", NULL}, 3, 0, 4, 0);
	check(s, NULL, MEW_TABLE_STACKS,
	      "name,label,stack,samples,self_time\r\n"
	      "k,,loop;a\\;b\\\\c,2,0.75\r\n"
	      "k,,[broken stack];loop,1,1\r\n"
	      "k,,[broken stack],1,2\r\n"
	      "k,,[broken stack];f,1,4\r\n");
	mew_session_free(s);
	s = mew_session_new(MEW_SESSION_HEAP);
	mew_session_case(s, "k", "");
	add_stack(s, (const char *const[]){"loop", "malloc", NULL}, 3, 1, 0, 10);
	check(s, NULL, MEW_TABLE_STACKS,
	      "name,label,stack,allocations,bytes,frees,temporary,peak_bytes,held_bytes\r\n"
	      "k,,loop;malloc,1,10,0,0,10,0\r\n");
	/* Of a report: only the cases that it kept. */
	r = mew_report_new(NULL, s);
	r->cases[0].heap = NULL;
	check(NULL, r, MEW_TABLE_STACKS,
	      "name,label,stack,allocations,bytes,frees,temporary,peak_bytes,held_bytes\r\n");
	mew_report_free(r);
	mew_session_free(s);
}

static void formats_are_found_by_name_and_path(void **state)
{
	(void)state;
	assert_ptr_equal(mew_output_format_by_name("csv"), &mew_output_csv);
	assert_ptr_equal(mew_output_format_by_name("text"), &mew_output_text);
	assert_null(mew_output_format_by_name("cs"));
	assert_ptr_equal(mew_output_format_by_path("a.b/out.csv"), &mew_output_csv);
	assert_ptr_equal(mew_output_format_by_path("-"), &mew_output_text);
	assert_ptr_equal(mew_output_format_by_path("a.csv/out"), &mew_output_text);
	assert_ptr_equal(mew_output_format_by_path("out.txt"), &mew_output_text);
	assert_null(mew_output_format_by_path("out.db"));
	assert_null(mew_output_format_by_path(".csv"));
}

static void no_memory_is_told(void **state)
{
	struct mew_session *s = cpu_session();
	struct mew_output_input in = {.session = s};
	struct mew_output_options o = {0};
	struct mew_buffer out = MEW_BUFFER_INIT;
	int table, err;
	long n;

	(void)state;
	add_stack(s, (const char *const[]){"loop", "f", NULL}, 3, 1, 0.25, 0);
	for (table = MEW_TABLE_CASES; table <= MEW_TABLE_STACKS; table++) {
		o.table = (enum mew_output_table)table;
		for (n = 0; failing_alloc_more(n); n++) {
			err = mew_output_csv.write(&in, &o, &out);
			failing_alloc_off();
			assert_int_equal(err, failing_alloc_hit() ? -ENOMEM : 0);
			mew_buffer_done(&out);
			mew_buffer_init(&out);
		}
	}
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_cases_have_the_fields_of_the_contract),
		cmocka_unit_test(heap_cases_have_the_fields_of_the_contract),
		cmocka_unit_test(shapes_are_tables_of_their_own),
		cmocka_unit_test(a_case_without_figures_has_empty_cells_and_its_reason),
		cmocka_unit_test(hostile_texts_arrive_as_text),
		cmocka_unit_test(numbers_ignore_the_locale),
		cmocka_unit_test(functions_are_rows_with_their_tax),
		cmocka_unit_test(stacks_are_rows_by_function_whatever_the_line),
		cmocka_unit_test(formats_are_found_by_name_and_path),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
