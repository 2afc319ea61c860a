/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that somebody else made. The first byte says how: a good one with bytes changed, or
 * one that is whole for SQLite but whose tables hold any values of any type. What can be loaded is
 * shown in every format.
 */
#include "config.h"

#include <math.h>
#include <unistd.h>

#include "fuzz.h"
#include "output/output.h"
#include "store/sql.h"

#define TABLES_MAX 16
#define IDS 4 /* sessions 0 .. 3 */

/* ---- what is done with a recording ---- */

static void on_session(void *arg, const struct mew_session *head, int complete)
{
	(void)arg, (void)complete;
	FUZZ_CHECK(head->program && head->tag && !head->n_cases);
}

static void on_note(void *arg, const char *line)
{
	(void)arg;
	FUZZ_CHECK(!strchr(line, '\n') || !line[strlen(line)]);
}

static void show(const struct mew_session *s)
{
	struct mew_output_options o = {.width = 80, .hint_command = "c", .hint_program = "p"};
	struct mew_output_input in = {.session = s};
	struct mew_buffer out = MEW_BUFFER_INIT;
	size_t i;

	for (i = 0; mew_output_formats[i]; i++) {
		for (o.table = MEW_TABLE_CASES; o.table <= MEW_TABLE_STACKS; o.table++) {
			mew_buffer_reset(&out);
			mew_output_formats[i]->write(&in, &o, &out);
		}
	}
	mew_output_notes(s, &o, on_note, NULL);
	mew_buffer_done(&out);
}

static void check(const struct mew_session *s)
{
	size_t i, k;

	for (i = 1; i < s->n_stacks; i++)
		FUZZ_CHECK(s->stacks[i].parent < i && s->stacks[i].function < s->n_functions);
	for (i = 0; i < s->n_cases; i++) {
		for (k = 0; k < s->cases[i].n_values; k++)
			FUZZ_CHECK(s->cases[i].values[k].stack < s->n_stacks);
	}
}

static void load(struct mew_store *st)
{
	struct mew_error error = {0};
	struct mew_session *s;
	int64_t id;

	mew_store_list(st, on_session, NULL, NULL);
	mew_store_newest(st, MEW_SESSION_CPU, NULL);
	mew_store_newest(st, MEW_SESSION_HEAP, NULL);
	for (id = 0; id < IDS; id++) {
		mew_store_n_cases(st, id, NULL);
		s = mew_store_load(st, id, &error);
		if (!s) {
			FUZZ_CHECK(error.text[0]);
			continue;
		}
		check(s);
		show(s);
		mew_session_free(s);
	}
}

/* ---- a good one, damaged ---- */

static char path[] = "mew_fuzz.XXXXXX"; /* where it runs */
static uint8_t *good;                   /* NULL: not made yet */
static size_t good_bytes;

static void remove_file(void)
{
	unlink(path);
}

static void fill(struct mew_session *s, struct mew_pcase *c)
{
	uint32_t f = mew_session_function(s, "work", "work.c", 12, "program");
	uint32_t g = mew_session_function(s, "helper", "", 0, "lib.so");
	uint32_t outer = mew_session_stack(s, 0, f, 13, 0);
	struct mew_pvalue *v = mew_case_value(s, c, mew_session_stack(s, outer, g, 0, 1), 1);

	v->samples = v->allocations = 3;
	v->weight_s = 0.25;
	v->bytes = 100;
	c->cpu.profiler = c->heap.profiler = "x";
	c->cpu.top_function = c->heap.top_allocator = "work (work.c:12)";
	c->cpu.iterations = c->heap.iterations = 10;
	c->reason = c->hint = "";
	c->verdict = "ok";
	mew_case_counter(s, c, "things", 7, 1);
	mew_case_summarise(s, c);
}

static void write_session(struct mew_store *st, enum mew_session_kind kind)
{
	struct mew_session *s = mew_session_new(kind);
	struct mew_pcase *c;

	s->program = s->build_id = s->arguments = s->tag = "x";
	s->engine = s->machine = s->version = "y";
	c = mew_session_case(s, "case", "a label");
	fill(s, c);
	if (mew_store_begin(st, s, NULL) || mew_store_case(st, s, c, NULL) ||
	    mew_store_end(st, s, NULL))
		abort();
	mew_session_free(s);
}

static void make_good(void)
{
	struct mew_store *st;
	FILE *f;

	if (mkstemp(path) < 0 || atexit(remove_file))
		abort();
	st = mew_store_open(path, MEW_STORE_WRITE, NULL);
	if (!st)
		abort();
	write_session(st, MEW_SESSION_CPU);
	write_session(st, MEW_SESSION_HEAP);
	mew_store_close(st);
	f = fopen(path, "rb");
	good = malloc(1u << 20);
	if (!f || !good)
		abort();
	good_bytes = fread(good, 1, 1u << 20, f);
	fclose(f);
}

static void run_damaged(struct fuzz_input *in)
{
	struct mew_error error = {0};
	struct mew_store *st;
	uint8_t *bytes;
	size_t n;
	FILE *f;

	if (!good)
		make_good();
	bytes = malloc(good_bytes);
	f = fopen(path, "wb");
	if (!f || !bytes)
		abort();
	memcpy(bytes, good, good_bytes);
	n = good_bytes - fuzz_number(in, 2) % 4096 * (fuzz_number(in, 1) & 1);
	while (in->left) {
		size_t at = fuzz_number(in, 3) % good_bytes, len = fuzz_number(in, 1) % 16;

		fuzz_bytes(in, bytes + at, len < good_bytes - at ? len : good_bytes - at);
	}
	if (fwrite(bytes, 1, n, f) != n || fclose(f))
		abort();
	free(bytes);
	st = mew_store_open(path, MEW_STORE_READ, &error);
	FUZZ_CHECK(st || error.text[0]);
	if (st) {
		load(st);
		mew_store_close(st);
	}
}

/* ---- any rows ---- */

static struct mew_store rows = {.path = (char *)(uintptr_t) "rows", .mode = MEW_STORE_READ};
static sqlite3_stmt *inserts[TABLES_MAX], *deletes[TABLES_MAX];
static unsigned n_tables;

static void must(int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
		abort();
}

/* Tables with the columns of the schema and none of its constraints. */
static void make_tables(void)
{
	sqlite3 *db;
	sqlite3_stmt *s;
	unsigned i;

	must(sqlite3_open(":memory:", &db));
	must(sqlite3_open(":memory:", &rows.db));
	for (i = 0; i < MEW_STORE_SCHEMA_VERSION; i++)
		must(sqlite3_exec(db, mew_store_schema[i], NULL, NULL, NULL));
	must(sqlite3_prepare_v2(
		db,
		"SELECT 'CREATE TABLE ' || m.name || '(' || group_concat(c.name) || ')',"
		" 'INSERT INTO ' || m.name || ' VALUES(' || group_concat('?') || ')',"
		" 'DELETE FROM ' || m.name"
		" FROM sqlite_schema m, pragma_table_info(m.name) c"
		" WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' GROUP BY m.name ORDER BY 1",
		-1, &s, NULL));
	while (sqlite3_step(s) == SQLITE_ROW && n_tables < TABLES_MAX) {
		must(sqlite3_exec(rows.db, mew_sql_text(s, 0), NULL, NULL, NULL));
		must(sqlite3_prepare_v2(rows.db, mew_sql_text(s, 1), -1, &inserts[n_tables], NULL));
		must(sqlite3_prepare_v2(rows.db, mew_sql_text(s, 2), -1, &deletes[n_tables++],
					NULL));
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
}

static void bind(sqlite3_stmt *s, int at, struct fuzz_input *in)
{
	static const char *const words[] = {"cpu", "mem",        "ok", "skipped",
					    "/s",  "/iteration", "",   "plain"};
	static uint8_t text[256];
	uint8_t how = (uint8_t)fuzz_number(in, 1);
	uint64_t u;
	double d;

	switch (how % 8) {
	case 0:
		sqlite3_bind_null(s, at);
		return;
	case 1:
		u = fuzz_number(in, 8);
		sqlite3_bind_int64(s, at, (int64_t)u);
		return;
	case 2:
		u = fuzz_number(in, 8);
		memcpy(&d, &u, sizeof(d));
		sqlite3_bind_double(s, at, d);
		return;
	case 3:
		sqlite3_bind_text(s, at, words[how / 8 % 8], -1, SQLITE_STATIC);
		return;
	case 4:
		fuzz_bytes(in, text, how);
		sqlite3_bind_text(s, at, (const char *)text, how, SQLITE_TRANSIENT);
		return;
	default:
		sqlite3_bind_int64(s, at, how / 8 % 8);
	}
}

static void run_rows(struct fuzz_input *in)
{
	unsigned i;
	int k;

	if (!rows.db)
		make_tables();
	for (i = 0; i < n_tables; i++) {
		must(sqlite3_step(deletes[i]));
		must(sqlite3_reset(deletes[i]));
	}
	while (in->left) {
		i = (unsigned)fuzz_number(in, 1) % n_tables;
		for (k = 1; k <= sqlite3_bind_parameter_count(inserts[i]); k++)
			bind(inserts[i], k, in);
		must(sqlite3_step(inserts[i]));
		must(sqlite3_reset(inserts[i]));
	}
	load(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};

	if (fuzz_number(&in, 1) & 1)
		run_rows(&in);
	else
		run_damaged(&in);
	return 0;
}
