/* SPDX-License-Identifier: Apache-2.0 */
/* A recording is a file, so this test has some: in a directory of its own. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_alloc.h"
#include "store/sql.h"
#include "unit.h"

static char directory[64];

static int enter(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/mew_store.XXXXXX");
	return !mkdtemp(directory) || chmod(directory, 0755) || chdir(directory);
}

static int leave(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return chdir("/") || system(command);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct mew_store *open_store(enum mew_store_mode mode)
{
	struct mew_error error = {0};
	struct mew_store *st = mew_store_open("x.db", mode, &error);

	if (!st)
		fail_msg("%s", error.text);
	return st;
}

static void assert_open_fails(const char *path, enum mew_store_mode mode, int code,
			      const char *text)
{
	struct mew_error error = {0};

	assert_null(mew_store_open(path, mode, &error));
	assert_string_equal(error.text, text);
	assert_int_equal(error.code, code);
}

static uint32_t stack_of(struct mew_session *s, uint32_t parent, const char *name)
{
	return mew_session_stack(s, parent, mew_session_function(s, name, "a.c", 3, "/lib/m.so"), 4,
				 1);
}

/* A session with one case of which nothing is left at its default. */
static struct mew_session *cpu_session(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "na\xffme", "=1+1");
	struct mew_pvalue *v;

	s->started_unix_ns = 1700000000123456789;
	s->program = "/bin/bench";
	s->build_id = "abcd";
	s->arguments = "'a b' c";
	s->tag = "base";
	s->engine = "perf_event:cpu-clock:u";
	s->machine = "Linux 6.1";
	s->version = "0.1";
	c->n_threads = 3;
	c->verdict = "noisy";
	c->hint = "-n 300";
	c->doubtful = 1;
	c->cpu = (struct mew_cpu_row){.profiler = "perf_event:cpu-clock:u",
				      .wall_time_s = 1.5,
				      .sample_count = 7,
				      .top_function = "f (a.c:3)",
				      .top_self_s = 0.25,
				      .iterations = 9,
				      .interval_s = 1e-4,
				      .paused_time_s = 0.5,
				      .kernel_time_s = 0.125,
				      .off_cpu_time_s = NAN,
				      .lost = 1,
				      .truncated = 2,
				      .unknown = 3,
				      .slowdown = 1.03,
				      .pause_cost_s = 5e-6,
				      .time_per_iteration_s = 0.1,
				      .time_spread = 0.01,
				      .user_time_s = 1.25,
				      .top_share = 0.2,
				      .top_share_half_width = 0.03};
	v = mew_case_value(s, c, stack_of(s, stack_of(s, 0, "loop"), "malloc"), 1);
	v->samples = 5;
	v->weight_s = 1;
	v = mew_case_value(s, c, 0, 0);
	v->samples = 2;
	v->weight_s = 0.25;
	mew_case_counter(s, c, "hits", 12.5, 1);
	mew_case_counter(s, c, "bytes", 1e9, 2);
	return s;
}

static void record(struct mew_store *st, struct mew_session *s)
{
	struct mew_error error = {0};
	size_t i;

	assert_int_equal(mew_store_begin(st, s, &error), 0);
	for (i = 0; i < s->n_cases; i++)
		if (mew_store_case(st, s, &s->cases[i], &error))
			fail_msg("%s", error.text);
	assert_int_equal(mew_store_end(st, s, &error), 0);
}

static int64_t number(struct mew_store *st, const char *sql)
{
	struct mew_error error = {0};
	int64_t n = -1;

	if (mew_sql_number(st, sql, 0, &n, &error))
		fail_msg("%s", error.text);
	return n;
}

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

static void fill_shape(struct mew_shape *shape)
{
	shape->width = 8;
	assert_int_equal(mew_shape_point(shape, 100), 0);
	assert_int_equal(mew_shape_point(shape, INT64_MAX), 0);
	assert_int_equal(mew_shape_size(shape, 0, 1), 0);
	assert_int_equal(mew_shape_size(shape, INT64_MAX, 15), 0);
}

static void assert_shape(const struct mew_shape *shape)
{
	assert_int_equal(shape->width, 8);
	assert_int_equal(shape->n_points, 2);
	assert_int_equal(shape->points[0], 100);
	assert_int_equal(shape->points[1], INT64_MAX);
	assert_int_equal(shape->n_sizes, 2);
	assert_int_equal(shape->sizes[0].most, 0);
	assert_int_equal(shape->sizes[0].allocations, 1);
	assert_int_equal(shape->sizes[1].most, INT64_MAX);
	assert_int_equal(shape->sizes[1].allocations, 15);
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

/* Runs in a process that then dies. */
static void die_in_the_second_case(void)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();

	mew_store_begin(st, s, NULL);
	mew_store_case(st, s, &s->cases[0], NULL);
	/* What mew_store_case does, up to the middle; the cache spills to the file. */
	sqlite3_exec(st->db,
		     "PRAGMA cache_size = 1; BEGIN IMMEDIATE; INSERT INTO case_(session, name,"
		     " label, threads, result, reason, doubtful, hint, verdict)"
		     " VALUES(1, 'half', '', 1, 'ok', '', 0, '', 'ok');"
		     "WITH RECURSIVE n(i) AS (VALUES(10) UNION ALL SELECT i + 1 FROM n WHERE i <"
		     " 5000) INSERT INTO function SELECT 1, i, 'f' || i, '', 0, '', 'plain' FROM n",
		     NULL, NULL, NULL);
	kill(getpid(), SIGKILL);
}

static void a_killed_process_loses_the_case_in_hand_alone(void **state)
{
	struct mew_store *st;
	struct mew_session *s;
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		die_in_the_second_case();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(access("x.db-journal", F_OK), 0);
	st = open_store(MEW_STORE_READ);
	s = mew_store_load(st, 1, NULL);
	assert_non_null(s);
	assert_int_equal(s->n_cases, 1);
	assert_string_equal(s->cases[0].key, "na\xffme");
	assert_int_equal(s->n_functions, 2);
	assert_int_equal(number(st, "SELECT complete FROM session"), 0);
	mew_session_free(s);
	mew_store_close(st);
}

static void two_writers_take_turns(void **state)
{
	struct mew_store *a = open_store(MEW_STORE_WRITE), *b = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session(), *t = cpu_session();

	(void)state;
	assert_int_equal(mew_store_begin(a, s, NULL), 0);
	assert_int_equal(mew_store_begin(b, t, NULL), 0);
	assert_int_equal(mew_store_case(b, t, &t->cases[0], NULL), 0);
	assert_int_equal(mew_store_case(a, s, &s->cases[0], NULL), 0);
	assert_int_equal(mew_store_n_cases(a, s->id, NULL), 1);
	assert_int_equal(mew_store_n_cases(a, t->id, NULL), 1);
	assert_int_not_equal(s->id, t->id);
	mew_session_free(s);
	mew_session_free(t);
	mew_store_close(a);
	mew_store_close(b);
}

static void a_lock_that_stays_is_told(void **state)
{
	struct mew_store *a = open_store(MEW_STORE_WRITE), *b = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();
	struct mew_error error = {0};

	(void)state;
	sqlite3_busy_timeout(b->db, 10);
	mew_store_begin(b, s, NULL);
	assert_int_equal(mew_sql_run(a, "BEGIN IMMEDIATE", &error), 0);
	assert_int_equal(mew_store_case(b, s, &s->cases[0], &error), -EBUSY);
	assert_string_equal(error.text, "recording 'x.db' is locked by another program");
	mew_store_close(a);
	assert_int_equal(mew_store_case(b, s, &s->cases[0], &error), 0);
	mew_session_free(s);
	mew_store_close(b);
}

static void a_full_disk_is_told_and_can_be_made_good(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();
	struct mew_error error = {0};
	char name[8000];
	int i;

	(void)state;
	record(st, s);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 20; i++) {
		name[0] = (char)('a' + i);
		stack_of(s, 0, name);
	}
	mew_sql_run(st, "PRAGMA max_page_count = 1", NULL); /* what it has, at least */
	mew_store_begin(st, s, NULL);
	assert_int_equal(mew_store_case(st, s, &s->cases[0], &error), -ENOSPC);
	assert_string_equal(error.text, "cannot write recording 'x.db': No space left on device");
	mew_sql_run(st, "PRAGMA max_page_count = 100000", NULL);
	assert_int_equal(mew_store_case(st, s, &s->cases[0], &error), 0);
	assert_int_equal(mew_store_n_cases(st, s->id, NULL), 1);
	mew_session_free(s);
	mew_store_close(st);
}

static void what_is_no_recording_is_refused_and_left_alone(void **state)
{
	sqlite3 *db;

	(void)state;
	write_file("text.db",
		   "this is a text of more than a hundred bytes, so that it could be the "
		   "header of a database if only it had the magic words of one\n");
	assert_open_fails("text.db", MEW_STORE_READ, -EINVAL, "'text.db' is not a recording");
	assert_open_fails("text.db", MEW_STORE_WRITE, -EINVAL, "'text.db' is not a recording");

	assert_int_equal(sqlite3_open("other.db", &db), SQLITE_OK);
	sqlite3_exec(db, "CREATE TABLE mine(x)", NULL, NULL, NULL);
	sqlite3_close(db);
	assert_open_fails("other.db", MEW_STORE_WRITE, -EINVAL,
			  "'other.db' is not a recording of mew-perf");
	assert_int_equal(sqlite3_open("other.db", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM meta", NULL, NULL, NULL), SQLITE_ERROR);
	sqlite3_close(db);

	write_file("empty.db", "");
	assert_open_fails("empty.db", MEW_STORE_READ, -EINVAL,
			  "'empty.db' is not a recording of mew-perf");
	assert_open_fails("/dev/null", MEW_STORE_WRITE, -EINVAL, "'/dev/null' is not a recording");
}

static void what_is_not_there_is_told_by_the_systems_words(void **state)
{
	(void)state;
	assert_open_fails("x.db", MEW_STORE_READ, -ENOENT,
			  "cannot open recording 'x.db': No such file or directory");
	assert_int_not_equal(access("x.db", F_OK), 0);
	assert_open_fails("no/x.db", MEW_STORE_WRITE, -ENOENT,
			  "cannot open recording 'no/x.db': No such file or directory");
	mkdir("d", 0755);
	assert_open_fails("d", MEW_STORE_WRITE, -EISDIR,
			  "cannot open recording 'd': Is a directory");
}

/* As the first version left it: its statements, and a case with a value. */
static void write_first_version(void)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open("old.db", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, mew_store_schema[0], NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db,
			     "INSERT INTO session(kind, started, program, build_id, arguments, tag,"
			     " engine, machine, version, whole_program)"
			     " VALUES('mem', 1, 'p', '', '', '', 'mew-heap', '', '', 0);"
			     "INSERT INTO case_(session, name, label, threads, result, reason,"
			     " doubtful, hint, verdict, profiler, peak_bytes, top_allocator)"
			     " VALUES(1, 'k', '', 1, 'ok', '', 0, '', 'ok', 'mew-heap', 77, '-');"
			     "PRAGMA application_id = 0x6d657770; PRAGMA user_version = 1",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
}

static void assert_first_case(struct mew_store *st)
{
	struct mew_session *s = mew_store_load(st, 1, NULL);

	assert_non_null(s);
	assert_int_equal(s->n_cases, 1);
	assert_int_equal(s->cases[0].heap.peak_bytes, 77);
	assert_true(isnan(s->cases[0].heap.iteration_peak_min));
	assert_true(isnan(s->cases[0].heap.mapped_held_bytes));
	assert_true(isnan(s->cases[0].heap.hook_bytes));
	assert_int_equal(s->cases[0].shape.n_points, 0);
	mew_session_free(s);
}

static void an_older_recording_is_read_as_it_is_and_written_as_a_new_one(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP), *got;
	struct mew_error error = {0};
	struct mew_store *st;

	(void)state;
	write_first_version();
	st = mew_store_open("old.db", MEW_STORE_READ, &error);
	assert_non_null(st);
	assert_first_case(st);
	assert_int_equal(number(st, "PRAGMA user_version"), 1);
	mew_store_close(st);
	st = mew_store_open("old.db", MEW_STORE_WRITE, &error);
	assert_non_null(st);
	assert_int_equal(number(st, "PRAGMA user_version"), 2);
	assert_first_case(st);
	fill_shape(&mew_session_case(s, "new", "")->shape);
	record(st, s);
	got = mew_store_load(st, s->id, NULL);
	assert_non_null(got);
	assert_shape(&got->cases[0].shape);
	mew_session_free(got);
	mew_session_free(s);
	mew_store_close(st);
}

static void a_newer_recording_is_refused(void **state)
{
	struct mew_session *s = cpu_session();
	struct mew_store *st = open_store(MEW_STORE_WRITE);

	(void)state;
	record(st, s);
	mew_session_free(s);
	mew_sql_run(st, "PRAGMA user_version = 3", NULL);
	mew_store_close(st);
	assert_open_fails("x.db", MEW_STORE_READ, -EPROTONOSUPPORT,
			  "recording 'x.db' was made by a newer mew-perf (format 3, this one knows "
			  "2)");
}

/* Root may write everything: the checks run as nobody. */
static void read_only_as_nobody(void)
{
	struct mew_error error = {0};
	struct mew_store *st;

	if (!geteuid() && setresuid(65534, 65534, 65534))
		_exit(2);
	if (mew_store_open("x.db", MEW_STORE_WRITE, &error) ||
	    strcmp(error.text, "recording 'x.db' is read-only"))
		_exit(3);
	st = mew_store_open("x.db", MEW_STORE_READ, &error);
	_exit(st && mew_store_newest(st, MEW_SESSION_CPU, &error) == 1 ? 0 : 4);
}

static void a_read_only_recording_can_be_read(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();
	int status;
	pid_t pid;

	(void)state;
	record(st, s);
	mew_session_free(s);
	mew_store_close(st);
	chmod("x.db", 0444);
	pid = fork();
	if (!pid)
		read_only_as_nobody();
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void readers_cannot_write(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();

	(void)state;
	record(st, s);
	mew_store_close(st);
	st = open_store(MEW_STORE_READ);
	assert_int_not_equal(mew_store_begin(st, s, NULL), 0);
	mew_session_free(s);
	mew_store_close(st);
}

/* Applied to a good recording, each makes one that must be refused with a word. */
static void damaged_recordings_are_refused(void **state)
{
	static const struct {
		const char *sql, *text;
	} damages[] = {
		{"DELETE FROM function WHERE id = 0",
		 "recording 'x.db' is damaged: a function is missing"},
		{"DELETE FROM function WHERE id = 1",
		 "recording 'x.db' is damaged: a stack has no function"},
		{"DELETE FROM stack WHERE id = 1",
		 "recording 'x.db' is damaged: a stack is missing"},
		{"PRAGMA ignore_check_constraints = 1; UPDATE stack SET parent = 2",
		 "recording 'x.db' is damaged: a stack is missing"},
		{"UPDATE stack SET function = 4000000000",
		 "recording 'x.db' is damaged: a stack has no function"},
		{"UPDATE cpu_stack SET stack = 99 WHERE stack = 0",
		 "recording 'x.db' is damaged: a figure has no stack"},
		{"ALTER TABLE cpu_stack RENAME TO other",
		 "recording 'x.db': no such table: cpu_stack"},
	};
	struct mew_error error;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct mew_store *st = open_store(MEW_STORE_WRITE);
		struct mew_session *s = cpu_session();

		record(st, s);
		assert_int_equal(mew_sql_run(st, damages[i].sql, &error), 0);
		assert_null(mew_store_load(st, s->id, &error));
		assert_string_equal(error.text, damages[i].text);
		assert_int_equal(error.code, -EBADMSG);
		mew_session_free(s);
		mew_store_close(st);
		unlink("x.db");
	}
}

static void a_curve_with_a_gap_is_refused(void **state)
{
	static const char *const damages[] = {
		"DELETE FROM heap_curve WHERE first_allocation = 0",
		"UPDATE heap_curve SET allocations = 4 WHERE first_allocation = 8",
		"PRAGMA ignore_check_constraints = 1; UPDATE heap_curve SET allocations = 0",
	};
	struct mew_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct mew_store *st = open_store(MEW_STORE_WRITE);
		struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);

		fill_shape(&mew_session_case(s, "k", "")->shape);
		record(st, s);
		assert_int_equal(mew_sql_run(st, damages[i], &error), 0);
		assert_null(mew_store_load(st, s->id, &error));
		assert_string_equal(error.text,
				    "recording 'x.db' is damaged: a point of a curve is missing");
		assert_int_equal(error.code, -EBADMSG);
		mew_session_free(s);
		mew_store_close(st);
		unlink("x.db");
	}
}

static void a_file_with_rubbish_in_it_is_refused(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session();
	struct mew_error error = {0};
	char rubbish[4096];
	off_t size;
	int fd;

	(void)state;
	record(st, s);
	mew_store_close(st);
	memset(rubbish, 0x5a, sizeof(rubbish));
	fd = open("x.db", O_RDWR);
	size = lseek(fd, 0, SEEK_END);
	for (off_t at = 4096; at < size; at += 4096)
		assert_int_equal(pwrite(fd, rubbish, sizeof(rubbish), at), sizeof(rubbish));
	close(fd);
	st = open_store(MEW_STORE_READ);
	assert_null(mew_store_load(st, s->id, &error));
	assert_int_equal(error.code, -EBADMSG);
	assert_non_null(strstr(error.text, "recording 'x.db' is damaged: "));
	mew_session_free(s);
	mew_store_close(st);
}

static void no_memory_is_told(void **state)
{
	struct mew_store *st = open_store(MEW_STORE_WRITE);
	struct mew_session *s = cpu_session(), *got;
	struct mew_error error;
	long n;

	(void)state;
	record(st, s);
	for (n = 0; failing_alloc_more(n); n++) {
		error.code = 0;
		got = mew_store_load(st, s->id, &error);
		failing_alloc_off();
		assert_int_equal(!got, failing_alloc_hit());
		assert_int_equal(error.code, failing_alloc_hit() ? -ENOMEM : 0);
		mew_session_free(got);
	}
	assert_true(n > 10);
	mew_session_free(s);
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
		TEST(a_killed_process_loses_the_case_in_hand_alone),
		TEST(two_writers_take_turns),
		TEST(a_lock_that_stays_is_told),
		TEST(a_full_disk_is_told_and_can_be_made_good),
		TEST(what_is_no_recording_is_refused_and_left_alone),
		TEST(what_is_not_there_is_told_by_the_systems_words),
		TEST(an_older_recording_is_read_as_it_is_and_written_as_a_new_one),
		TEST(a_newer_recording_is_refused),
		TEST(a_read_only_recording_can_be_read),
		TEST(readers_cannot_write),
		TEST(damaged_recordings_are_refused),
		TEST(a_curve_with_a_gap_is_refused),
		TEST(a_file_with_rubbish_in_it_is_refused),
		TEST(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
