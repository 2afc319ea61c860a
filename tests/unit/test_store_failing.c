/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of processes that die, that others lock, of full disks, of other versions, damaged. */
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
#include "recording.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_open_fails(const char *path, enum mew_store_mode mode, int code,
			      const char *text)
{
	struct mew_error error = {0};

	assert_null(mew_store_open(path, mode, &error));
	assert_string_equal(error.text, text);
	assert_int_equal(error.code, code);
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
