/* SPDX-License-Identifier: Apache-2.0 */
/* A recording is a file, so this test has some: in a directory of its own. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording.h"

static void a_cpu_session_is_read_as_it_was_written(void **state)
{
	struct mew_session *s = cpu_session(), *got;
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_pcase *a, *b;
	struct mew_error error = {0};

	(void)state;
	record(st, s);
	assert_int_not_equal(s->id, 0);
	mew_store_close(st);
	st = open_store(MEW_STORE_READ);
	got = mew_store_load(st, s->id, &error);
	if (!got)
		fail_msg("%s", error.text);
	assert_int_equal(got->kind, MEW_SESSION_CPU);
	assert_true(got->started_unix_ns == s->started_unix_ns);
	assert_string_equal(got->program, s->program);
	assert_string_equal(got->build_id, s->build_id);
	assert_string_equal(got->arguments, s->arguments);
	assert_string_equal(got->tag, s->tag);
	assert_string_equal(got->engine, s->engine);
	assert_string_equal(got->machine, s->machine);
	assert_string_equal(got->version, s->version);
	assert_int_equal(got->n_cases, 1);
	a = &s->cases[0];
	b = &got->cases[0];
	assert_string_equal(b->key, "na\xffme");
	assert_string_equal(b->label, "=1+1");
	assert_int_equal(b->n_threads, 3);
	assert_int_equal(b->result, MEW_RESULT_OK);
	assert_string_equal(b->verdict, "noisy");
	assert_string_equal(b->hint, "-n 300");
	assert_int_equal(b->doubtful, 1);
	assert_int_equal(b->id, a->id);
	assert_string_equal(b->cpu.profiler, a->cpu.profiler);
	assert_string_equal(b->cpu.top_function, a->cpu.top_function);
	assert_true(isnan(b->cpu.off_cpu_time_s));
	b->cpu.profiler = a->cpu.profiler;
	b->cpu.top_function = a->cpu.top_function;
	b->cpu.off_cpu_time_s = a->cpu.off_cpu_time_s = 0;
	assert_memory_equal(&b->cpu, &a->cpu, sizeof(a->cpu));
	assert_int_equal(got->n_functions, 2);
	assert_string_equal(got->functions[1].name, "malloc");
	assert_int_equal(got->functions[1].role, MEW_ROLE_ALLOCATOR);
	assert_string_equal(got->functions[1].file, "a.c");
	assert_string_equal(got->functions[1].module, "/lib/m.so");
	assert_int_equal(got->functions[1].line, 3);
	assert_int_equal(got->n_stacks, 3);
	assert_int_equal(got->stacks[2].parent, 1);
	assert_int_equal(got->stacks[2].function, 1);
	assert_int_equal(got->stacks[2].line, 4);
	assert_int_equal(got->stacks[2].inlined, 1);
	assert_int_equal(b->n_values, 2);
	assert_near(mew_case_value(got, b, 2, 1)->weight_s, 1, 0);
	assert_int_equal(mew_case_value(got, b, 2, 1)->samples, 5);
	assert_near(mew_case_value(got, b, 0, 0)->weight_s, 0.25, 0);
	assert_int_equal(b->n_counters, 2);
	assert_string_equal(b->counters[1].name, "bytes");
	assert_near(b->counters[1].value, 1e9, 0);
	assert_int_equal(b->counters[1].kind, 2);
	mew_session_free(got);
	mew_session_free(s);
	mew_store_close(st);
}

static void a_heap_session_is_read_as_it_was_written(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP), *got;
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_heap_row row = {.profiler = "mew-heap",
				   .peak_bytes = 1,
				   .total_bytes = 2,
				   .total_allocations = 3,
				   .iterations = 4,
				   .allocations_per_iteration = 0.75,
				   .allocated_bytes = 5,
				   .frees = 6,
				   .temporary = 7,
				   .leaked_bytes = 8,
				   .first_iteration_allocations = 9,
				   .foreign_frees = 10,
				   .lost = 11,
				   .iteration_peak_min = 12,
				   .iteration_peak_median = 13,
				   .iteration_peak_max = 14,
				   .mapped_calls = 15,
				   .mapped_bytes = 16,
				   .mapped_peak_bytes = 17,
				   .mapped_held_bytes = 18,
				   .hook_bytes = 19,
				   .top_allocator = "push",
				   .top_allocator_share = 0.5};
	struct mew_pvalue *v;
	struct mew_pcase *c;

	(void)state;
	c = mew_session_case(s, "k", "");
	c->heap = row;
	fill_shape(&c->shape);
	v = mew_case_value(s, &s->cases[0], stack_of(s, 0, "f"), 1);
	*v = (struct mew_pvalue){.stack = v->stack,
				 .whole = 1,
				 .allocations = 1,
				 .bytes = 2,
				 .frees = 3,
				 .temporary = 4,
				 .peak_bytes = 5,
				 .held_bytes = -6};
	c = mew_session_case(s, "skipped", "");
	c->result = MEW_RESULT_SKIPPED;
	c->reason = "no GPU";
	mew_session_case(s, "failed", "")->result = MEW_RESULT_FAILED;
	record(st, s);
	got = mew_store_load(st, s->id, NULL);
	assert_non_null(got);
	assert_int_equal(got->kind, MEW_SESSION_HEAP);
	assert_string_equal(got->cases[0].heap.profiler, "mew-heap");
	assert_string_equal(got->cases[0].heap.top_allocator, "push");
	got->cases[0].heap.profiler = row.profiler;
	got->cases[0].heap.top_allocator = row.top_allocator;
	assert_memory_equal(&got->cases[0].heap, &row, sizeof(row));
	assert_memory_equal(got->cases[0].values, s->cases[0].values, sizeof(*v));
	assert_shape(&got->cases[0].shape);
	assert_int_equal(got->cases[1].shape.n_points, 0);
	assert_int_equal(got->cases[1].result, MEW_RESULT_SKIPPED);
	assert_string_equal(got->cases[1].reason, "no GPU");
	assert_int_equal(got->cases[2].result, MEW_RESULT_FAILED);
	assert_true(isnan(got->cases[1].heap.top_allocator_share));
	mew_session_free(got);
	mew_session_free(s);
	mew_store_close(st);
}

static void a_new_recording_without_a_case_goes_again(void **state)
{
	struct mew_session *s = cpu_session();
	struct mew_store *st, *other;

	(void)state;
	mew_store_close(open_store(MEW_STORE_WRITE));
	assert_int_equal(access("x.db", F_OK), -1);
	st = open_store(MEW_STORE_WRITE);
	assert_int_equal(mew_store_begin(st, s, NULL), 0);
	mew_store_close(st);
	assert_int_equal(access("x.db", F_OK), -1);

	/* But not what another one has put into it meanwhile. */
	st = open_store(MEW_STORE_WRITE);
	other = open_store(MEW_STORE_WRITE);
	record(other, s);
	mew_store_close(other);
	mew_store_close(st);
	assert_int_equal(access("x.db", F_OK), 0);
	mew_session_free(s);
}

static void add_head(void *arg, const struct mew_session *head, int complete)
{
	struct mew_buffer *b = arg;

	mew_buffer_printf(b, "%lld %d %d %s;", (long long)head->id, (int)head->kind, complete,
			  head->tag);
}

static void heads_and_the_newest_are_found(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *cpu = cpu_session(), *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	assert_int_equal(mew_store_newest(st, MEW_SESSION_CPU, NULL), 0);
	record(st, cpu);
	assert_int_equal(mew_store_begin(st, heap, NULL), 0); /* never got to a case */
	assert_int_equal(mew_store_newest(st, MEW_SESSION_CPU, NULL), 1);
	assert_int_equal(mew_store_newest(st, MEW_SESSION_HEAP, NULL), 0);
	record(st, cpu);
	assert_int_equal(mew_store_newest(st, MEW_SESSION_CPU, NULL), 3);
	assert_int_equal(mew_store_n_cases(st, 3, NULL), 1);
	assert_int_equal(mew_store_n_cases(st, 2, NULL), 0);
	assert_int_equal(mew_store_list(st, add_head, &b, NULL), 0);
	assert_string_equal(b.data, "3 1 1 base;2 2 0 ;1 1 1 base;");
	mew_buffer_done(&b);
	mew_session_free(cpu);
	mew_session_free(heap);
	mew_store_close(st);
}

static void a_removed_session_leaves_nothing(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();
	struct mew_error error = {0};

	(void)state;
	record(st, s);
	record(st, s);
	assert_int_equal(mew_store_remove(st, 1, &error), 0);
	assert_int_equal(number(st, "SELECT count(*) FROM case_"), 1);
	assert_int_equal(number(st, "SELECT count(*) FROM function"), 2);
	assert_int_equal(number(st, "SELECT count(*) FROM stack"), 2);
	assert_int_equal(number(st, "SELECT count(*) FROM cpu_stack"), 2);
	assert_int_equal(number(st, "SELECT count(*) FROM counter"), 2);
	assert_int_equal(mew_store_remove(st, 1, &error), -ENOENT);
	assert_string_equal(error.text, "recording 'x.db' has no session 1");
	assert_null(mew_store_load(st, 1, &error));
	assert_string_equal(error.text, "recording 'x.db' has no session 1");
	/* An id is never given twice: compare and scripts hold on to them. */
	assert_int_equal(mew_store_remove(st, 2, &error), 0);
	record(st, s);
	assert_int_equal(s->id, 3);
	mew_session_free(s);
	mew_store_close(st);
}

static void functions_and_stacks_are_written_once(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();
	struct mew_pcase *c;

	(void)state;
	mew_store_begin(st, s, NULL);
	assert_int_equal(mew_store_case(st, s, &s->cases[0], NULL), 0);
	c = mew_session_case(s, "second", "");
	mew_case_value(s, c, stack_of(s, 1, "walk"), 1)->samples = 1;
	mew_case_value(s, c, 1, 1)->samples = 1;
	assert_int_equal(mew_store_case(st, s, c, NULL), 0);
	assert_int_equal(number(st, "SELECT count(*) FROM function"), 3);
	assert_int_equal(number(st, "SELECT count(*) FROM stack"), 3);
	assert_int_equal(number(st, "SELECT count(*) FROM cpu_stack"), 4);
	mew_session_free(s);
	mew_store_close(st);
}

static void the_columns_have_the_names_of_the_fields(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);

	(void)state;
	number(st, "SELECT count(*) FROM (SELECT name, label, profiler, wall_time, sample_count,"
		   " top_function, top_function_total_self_time, iterations, interval, paused_time,"
		   " kernel_time, off_cpu_time, lost, truncated, unknown, slowdown, pause_cost,"
		   " verdict FROM case_)");
	number(st, "SELECT count(*) FROM (SELECT name, label, profiler, peak_bytes, total_bytes,"
		   " total_allocations, iterations, allocations_per_iteration, allocated_bytes,"
		   " frees, temporary, leaked_bytes, first_iteration_allocations, foreign_frees,"
		   " lost, iteration_peak_min, iteration_peak_median, iteration_peak_max,"
		   " mapped_calls, mapped_bytes, mapped_peak_bytes, mapped_held_bytes, hook_bytes, "
		   "verdict"
		   " FROM case_)");
	assert_int_equal(number(st, "PRAGMA application_id"), 0x6d657770);
	assert_int_equal(number(st, "PRAGMA user_version"), 2);
	mew_store_close(st);
}

/* The next query of the page's EXAMPLES from *at on; NULL: no more. The caller's. */
static char *next_query(const char **at)
{
	static const char begin[] = ".Bd -literal -offset indent\n";
	const char *from = strstr(*at, begin), *end;

	if (!from)
		return NULL;
	from += strlen(begin);
	end = strstr(from, ".Ed\n");
	assert_non_null(end);
	*at = end;
	return strndup(from, (size_t)(end - from));
}

static void the_queries_of_the_manual_page_work(void **state)
{
	const char *top = getenv("MEW_SRCDIR"), *at;
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *cpu = cpu_session(), *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_buffer path = MEW_BUFFER_INIT;
	static char page[1 << 16];
	unsigned n = 0;
	char *query;
	FILE *f;

	(void)state;
	mew_session_case(heap, "k", "")->heap.total_allocations = 16;
	fill_shape(&heap->cases[0].shape);
	mew_case_value(heap, &heap->cases[0], stack_of(heap, stack_of(heap, 0, "f"), "g"), 1)
		->peak_bytes = 5;
	record(st, cpu);
	record(st, heap);
	mew_buffer_printf(&path, "%s/doc/man/mew-perf-recording.5", top ? top : ".");
	f = fopen(path.data, "r");
	if (!f)
		fail_msg("cannot open '%s'", path.data);
	page[fread(page, 1, sizeof(page) - 1, f)] = '\0';
	fclose(f);
	at = strstr(page, ".Sh EXAMPLES");
	assert_non_null(at);
	for (; (query = next_query(&at)); n++) {
		struct mew_error error = {0};
		sqlite3_stmt *stmt = NULL;

		if (mew_sql_prepare(st, query, &stmt, &error) ||
		    mew_sql_step(st, stmt, &error) != 1)
			fail_msg("%s: %s", query, *error.text ? error.text : "no row");
		/* The deepest one ends with the path of frames. */
		if (strstr(query, "RECURSIVE"))
			assert_string_equal(mew_sql_text(stmt, 2), "f;g;");
		if (strstr(query, "heap_curve"))
			assert_near(sqlite3_column_double(stmt, 3), 0.5, 0);
		sqlite3_finalize(stmt);
		free(query);
	}
	assert_int_equal(n, 5);
	mew_buffer_done(&path);
	mew_session_free(cpu);
	mew_session_free(heap);
	mew_store_close(st);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cpu_session_is_read_as_it_was_written),
		TEST(a_heap_session_is_read_as_it_was_written),
		TEST(a_new_recording_without_a_case_goes_again),
		TEST(heads_and_the_newest_are_found),
		TEST(a_removed_session_leaves_nothing),
		TEST(functions_and_stacks_are_written_once),
		TEST(the_columns_have_the_names_of_the_fields),
		TEST(the_queries_of_the_manual_page_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
