/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "channel/message.h"
#include "store/sql.h"

#define HEAD_COLUMNS                                                                               \
	"id, kind, started, program, build_id, arguments, tag, engine, machine, version,"          \
	" whole_program, complete"

static int no_memory(struct mew_store *st, struct mew_error *error)
{
	return mew_error_errno(error, -ENOMEM, "cannot read recording '%s'", st->path);
}

/* The head of a session from the row that stmt is at. NULL: no memory. */
static struct mew_session *read_head(sqlite3_stmt *stmt)
{
	const char *kind = mew_sql_text(stmt, 1);
	struct mew_session *s =
		mew_session_new(!strcmp(kind, "cpu") ? MEW_SESSION_CPU : MEW_SESSION_HEAP);

	if (!s)
		return NULL;
	s->id = sqlite3_column_int64(stmt, 0);
	s->started_unix_ns = sqlite3_column_int64(stmt, 2);
	s->program = mew_session_text(s, mew_sql_text(stmt, 3));
	s->build_id = mew_session_text(s, mew_sql_text(stmt, 4));
	s->arguments = mew_session_text(s, mew_sql_text(stmt, 5));
	s->tag = mew_session_text(s, mew_sql_text(stmt, 6));
	s->engine = mew_session_text(s, mew_sql_text(stmt, 7));
	s->machine = mew_session_text(s, mew_sql_text(stmt, 8));
	s->version = mew_session_text(s, mew_sql_text(stmt, 9));
	s->whole_program = sqlite3_column_int(stmt, 10);
	if (s->program && s->build_id && s->arguments && s->tag && s->engine && s->machine &&
	    s->version)
		return s;
	mew_session_free(s);
	return NULL;
}

int mew_store_list(struct mew_store *st, mew_store_session_fn fn, void *arg,
		   struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, "SELECT " HEAD_COLUMNS " FROM session ORDER BY id DESC",
				  &stmt, error);

	while (!err && (err = mew_sql_step(st, stmt, error)) > 0) {
		struct mew_session *head = read_head(stmt);

		err = head ? 0 : no_memory(st, error);
		if (head)
			fn(arg, head, sqlite3_column_int(stmt, 11));
		mew_session_free(head);
	}
	sqlite3_finalize(stmt);
	return err;
}

int64_t mew_store_n_cases(struct mew_store *st, int64_t id, struct mew_error *error)
{
	int64_t n = 0;
	int err = mew_sql_number(st, "SELECT count(*) FROM case_ WHERE session = ?", id, &n, error);

	return err ? err : n;
}

int64_t mew_store_newest(struct mew_store *st, enum mew_session_kind kind, struct mew_error *error)
{
	int64_t id = 0;
	int err = mew_sql_number(
		st,
		"SELECT coalesce(max(id), 0) FROM session WHERE kind = iif(?1 = 1, 'cpu', 'mem')"
		" AND EXISTS(SELECT 1 FROM case_ WHERE case_.session = session.id)",
		kind, &id, error);

	return err ? err : id;
}

/*
 * A session under way. Ids in the file are a contract, but not to be trusted: functions and stacks
 * are numbered from 0 and 1 without gaps, and point backwards.
 */
struct loading {
	struct mew_store *st;
	struct mew_session *s;
	struct mew_error *error;
	uint32_t *functions; /* id in the file -> index in s */
	size_t n_functions, cap_functions;
	uint32_t *stacks;
	size_t n_stacks, cap_stacks;
};

static int load_function(struct loading *l, sqlite3_stmt *stmt)
{
	uint32_t index;

	if (mew_sql_u64(stmt, 0) != l->n_functions)
		return mew_sql_damaged(l->st, l->error, "a function is missing");
	index = mew_session_function(l->s, mew_sql_text(stmt, 1), mew_sql_text(stmt, 2),
				     (uint32_t)mew_sql_u64(stmt, 3), mew_sql_text(stmt, 4));
	if (index == UINT32_MAX || MEW_ARRAY_PUSH(l->functions, l->n_functions, l->cap_functions))
		return no_memory(l->st, l->error);
	l->functions[l->n_functions++] = index;
	return 0;
}

static int load_stack(struct loading *l, sqlite3_stmt *stmt)
{
	uint64_t id = mew_sql_u64(stmt, 0), parent = mew_sql_u64(stmt, 1);
	uint64_t function = mew_sql_u64(stmt, 2);
	uint32_t index;

	if (id != l->n_stacks || parent >= id)
		return mew_sql_damaged(l->st, l->error, "a stack is missing");
	if (function >= l->n_functions)
		return mew_sql_damaged(l->st, l->error, "a stack has no function");
	index = mew_session_stack(l->s, l->stacks[parent], l->functions[function],
				  (uint32_t)mew_sql_u64(stmt, 3), sqlite3_column_int(stmt, 4));
	if (index == UINT32_MAX || MEW_ARRAY_PUSH(l->stacks, l->n_stacks, l->cap_stacks))
		return no_memory(l->st, l->error);
	l->stacks[l->n_stacks++] = index;
	return 0;
}

static const char *text_at(struct loading *l, sqlite3_stmt *stmt, int at)
{
	return mew_session_text(l->s, mew_sql_text(stmt, at));
}

static int load_cpu(struct loading *l, sqlite3_stmt *stmt, int at, struct mew_cpu_row *row)
{
	row->profiler = text_at(l, stmt, at++);
	row->iterations = mew_sql_u64(stmt, at++);
	row->lost = mew_sql_u64(stmt, at++);
	row->wall_time_s = mew_sql_double(stmt, at++);
	row->sample_count = mew_sql_u64(stmt, at++);
	row->top_function = text_at(l, stmt, at++);
	row->top_self_s = mew_sql_double(stmt, at++);
	row->interval_s = mew_sql_double(stmt, at++);
	row->paused_time_s = mew_sql_double(stmt, at++);
	row->kernel_time_s = mew_sql_double(stmt, at++);
	row->off_cpu_time_s = mew_sql_double(stmt, at++);
	row->truncated = mew_sql_u64(stmt, at++);
	row->unknown = mew_sql_u64(stmt, at++);
	row->slowdown = mew_sql_double(stmt, at++);
	row->pause_cost_s = mew_sql_double(stmt, at++);
	row->time_per_iteration_s = mew_sql_double(stmt, at++);
	row->time_spread = mew_sql_double(stmt, at++);
	row->user_time_s = mew_sql_double(stmt, at++);
	row->top_share = mew_sql_double(stmt, at++);
	row->top_share_half_width = mew_sql_double(stmt, at++);
	return row->profiler && row->top_function ? 0 : -ENOMEM;
}

static int load_heap(struct loading *l, sqlite3_stmt *stmt, int at, struct mew_heap_row *row)
{
	row->profiler = text_at(l, stmt, at++);
	row->iterations = mew_sql_u64(stmt, at++);
	row->lost = mew_sql_u64(stmt, at++);
	row->peak_bytes = sqlite3_column_int64(stmt, at++);
	row->total_bytes = sqlite3_column_int64(stmt, at++);
	row->total_allocations = mew_sql_u64(stmt, at++);
	row->allocations_per_iteration = mew_sql_double(stmt, at++);
	row->allocated_bytes = mew_sql_u64(stmt, at++);
	row->frees = mew_sql_u64(stmt, at++);
	row->temporary = mew_sql_u64(stmt, at++);
	row->leaked_bytes = sqlite3_column_int64(stmt, at++);
	row->first_iteration_allocations = mew_sql_u64(stmt, at++);
	row->foreign_frees = mew_sql_u64(stmt, at++);
	row->top_allocator = text_at(l, stmt, at++);
	row->top_allocator_share = mew_sql_double(stmt, at++);
	row->iteration_peak_min = mew_sql_double(stmt, at++);
	row->iteration_peak_median = mew_sql_double(stmt, at++);
	row->iteration_peak_max = mew_sql_double(stmt, at++);
	row->mapped_calls = mew_sql_double(stmt, at++);
	row->mapped_bytes = mew_sql_double(stmt, at++);
	row->mapped_peak_bytes = mew_sql_double(stmt, at++);
	row->mapped_held_bytes = mew_sql_double(stmt, at++);
	row->hook_bytes = mew_sql_double(stmt, at++);
	return row->profiler && row->top_allocator ? 0 : -ENOMEM;
}

static enum mew_case_result result_of(const char *text)
{
	return !strcmp(text, "ok")        ? MEW_RESULT_OK
	       : !strcmp(text, "skipped") ? MEW_RESULT_SKIPPED
					  : MEW_RESULT_FAILED;
}

static int load_case(struct loading *l, sqlite3_stmt *stmt)
{
	struct mew_pcase *c = mew_session_case(l->s, mew_sql_text(stmt, 1), mew_sql_text(stmt, 2));
	int err;

	if (!c)
		return no_memory(l->st, l->error);
	c->id = sqlite3_column_int64(stmt, 0);
	c->n_threads = (uint32_t)mew_sql_u64(stmt, 3);
	c->result = result_of(mew_sql_text(stmt, 4));
	c->reason = text_at(l, stmt, 5);
	c->doubtful = sqlite3_column_int(stmt, 6);
	c->hint = text_at(l, stmt, 7);
	c->verdict = text_at(l, stmt, 8);
	err = l->s->kind == MEW_SESSION_CPU ? load_cpu(l, stmt, 9, &c->cpu)
					    : load_heap(l, stmt, 9, &c->heap);
	return c->reason && c->hint && c->verdict && !err ? 0 : no_memory(l->st, l->error);
}

/* Rows come by case, so the case at hand is the last one's or a later one. */
static struct mew_pcase *case_of(struct mew_session *s, int64_t id)
{
	size_t low = 0, high = s->n_cases;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->cases[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n_cases && s->cases[low].id == id ? &s->cases[low] : NULL;
}

static int load_value(struct loading *l, sqlite3_stmt *stmt)
{
	struct mew_pcase *c = case_of(l->s, sqlite3_column_int64(stmt, 0));
	uint64_t stack = mew_sql_u64(stmt, 1);
	struct mew_pvalue *v;

	if (!c || stack >= l->n_stacks)
		return mew_sql_damaged(l->st, l->error, "a figure has no stack");
	v = mew_case_value(l->s, c, l->stacks[stack], sqlite3_column_int(stmt, 2));
	if (!v)
		return no_memory(l->st, l->error);
	if (l->s->kind == MEW_SESSION_CPU) {
		v->samples += mew_sql_u64(stmt, 3);
		v->weight_s += sqlite3_column_double(stmt, 4);
		return 0;
	}
	v->allocations += mew_sql_u64(stmt, 3);
	v->bytes += mew_sql_u64(stmt, 4);
	v->frees += mew_sql_u64(stmt, 5);
	v->temporary += mew_sql_u64(stmt, 6);
	v->peak_bytes += sqlite3_column_int64(stmt, 7);
	v->held_bytes += sqlite3_column_int64(stmt, 8);
	return 0;
}

/* Points are of equal width and without gaps. */
static int load_point(struct loading *l, sqlite3_stmt *stmt)
{
	struct mew_pcase *c = case_of(l->s, sqlite3_column_int64(stmt, 0));
	uint64_t first = mew_sql_u64(stmt, 1), width = mew_sql_u64(stmt, 2);

	if (!c || !width || first % width || first / width != c->shape.n_points ||
	    (c->shape.n_points && c->shape.width != width))
		return mew_sql_damaged(l->st, l->error, "a point of a curve is missing");
	c->shape.width = width;
	return mew_shape_point(&c->shape, sqlite3_column_int64(stmt, 3))
		       ? no_memory(l->st, l->error)
		       : 0;
}

static int load_size(struct loading *l, sqlite3_stmt *stmt)
{
	struct mew_pcase *c = case_of(l->s, sqlite3_column_int64(stmt, 0));

	if (!c)
		return mew_sql_damaged(l->st, l->error, "a size has no case");
	return mew_shape_size(&c->shape, mew_sql_u64(stmt, 1), mew_sql_u64(stmt, 2))
		       ? no_memory(l->st, l->error)
		       : 0;
}

static int load_counter(struct loading *l, sqlite3_stmt *stmt)
{
	struct mew_pcase *c = case_of(l->s, sqlite3_column_int64(stmt, 0));
	const char *unit = mew_sql_text(stmt, 3);
	int kind = !strcmp(unit, "/s")           ? MEW_COUNTER_PER_SECOND
		   : !strcmp(unit, "/iteration") ? MEW_COUNTER_PER_ITERATION
						 : MEW_COUNTER_AS_IS;

	if (!c)
		return mew_sql_damaged(l->st, l->error, "a counter has no case");
	return mew_case_counter(l->s, c, mew_sql_text(stmt, 1), mew_sql_double(stmt, 2), kind)
		       ? no_memory(l->st, l->error)
		       : 0;
}

/* Each row of sql, whose parameter is the session's id, goes to load. */
static int load_rows(struct loading *l, const char *sql,
		     int (*load)(struct loading *l, sqlite3_stmt *stmt))
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(l->st, sql, &stmt, l->error);

	if (!err)
		sqlite3_bind_int64(stmt, 1, l->s->id);
	while (!err && (err = mew_sql_step(l->st, stmt, l->error)) > 0)
		err = load(l, stmt);
	sqlite3_finalize(stmt);
	return err;
}

#define OF_SESSION " WHERE session = ?1 ORDER BY id"
#define OF_CASES " WHERE case_ IN (SELECT id FROM case_ WHERE session = ?1)"
#define CASE_COLUMNS                                                                               \
	"SELECT id, name, label, threads, result, reason, doubtful, hint, verdict, profiler,"      \
	" iterations, lost, "
#define HEAP_COLUMNS                                                                               \
	"peak_bytes, total_bytes, total_allocations, allocations_per_iteration, allocated_bytes,"  \
	" frees, temporary, leaked_bytes, first_iteration_allocations, foreign_frees,"             \
	" top_allocator, top_allocator_share, "

/* What an older recording has no columns for is not measured. */
static int load_cases(struct loading *l)
{
	const char *sql =
		l->s->kind == MEW_SESSION_CPU ? CASE_COLUMNS
			"wall_time, sample_count, top_function, top_function_total_self_time,"
			" interval, paused_time, kernel_time, off_cpu_time, truncated, unknown,"
			" slowdown, pause_cost, time_per_iteration, time_spread, user_time,"
			" top_share, top_share_half_width FROM case_" OF_SESSION
		: l->st->version < 2 ? CASE_COLUMNS HEAP_COLUMNS
			"NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM case_" OF_SESSION
				     : CASE_COLUMNS HEAP_COLUMNS
			"iteration_peak_min, iteration_peak_median, iteration_peak_max,"
			" mapped_calls, mapped_bytes, mapped_peak_bytes, mapped_held_bytes, "
			"hook_bytes"
			" FROM case_" OF_SESSION;

	return load_rows(l, sql, load_case);
}

static int load_shapes(struct loading *l)
{
	int err = load_rows(l,
			    "SELECT case_, first_allocation, allocations, live_bytes FROM "
			    "heap_curve" OF_CASES " ORDER BY case_, first_allocation",
			    load_point);

	return err ? err
		   : load_rows(l,
			       "SELECT case_, max_bytes, allocations FROM heap_size" OF_CASES
			       " ORDER BY case_, max_bytes",
			       load_size);
}

static int load_all(struct loading *l)
{
	int is_cpu = l->s->kind == MEW_SESSION_CPU, err;

	if (MEW_ARRAY_PUSH(l->stacks, l->n_stacks, l->cap_stacks))
		return no_memory(l->st, l->error);
	l->stacks[l->n_stacks++] = 0;
	err = load_rows(l, "SELECT id, name, file, line, module FROM function" OF_SESSION,
			load_function);
	if (!err)
		err = load_rows(l,
				"SELECT id, parent, function, line, inlined FROM stack" OF_SESSION,
				load_stack);
	if (!err)
		err = load_cases(l);
	if (!err)
		err = load_rows(
			l,
			is_cpu ? "SELECT case_, stack, whole, samples, weight FROM "
				 "cpu_stack" OF_CASES " ORDER BY case_, stack, whole"
			       : "SELECT case_, stack, whole, allocations, bytes, frees, temporary,"
				 " peak_bytes, held_bytes FROM heap_stack" OF_CASES
				 " ORDER BY case_, stack, whole",
			load_value);
	if (!err && !is_cpu && l->st->version >= 2)
		err = load_shapes(l);
	if (!err)
		err = load_rows(l,
				"SELECT case_, name, value, unit FROM counter" OF_CASES
				" ORDER BY case_, place",
				load_counter);
	return err;
}

static struct mew_session *load_head(struct mew_store *st, int64_t id, struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	struct mew_session *s = NULL;
	int err = mew_sql_prepare(st, "SELECT " HEAD_COLUMNS " FROM session WHERE id = ?", &stmt,
				  error);

	if (!err) {
		sqlite3_bind_int64(stmt, 1, id);
		err = mew_sql_step(st, stmt, error);
	}
	if (err > 0) {
		s = read_head(stmt);
		if (!s)
			no_memory(st, error);
	} else if (!err) {
		mew_error_set(error, -ENOENT, "recording '%s' has no session %lld", st->path,
			      (long long)id);
	}
	sqlite3_finalize(stmt);
	return s;
}

/* In one transaction: a writer may be adding cases. */
struct mew_session *mew_store_load(struct mew_store *st, int64_t id, struct mew_error *error)
{
	struct loading l = {.st = st, .error = error};
	int err = mew_sql_run(st, "BEGIN", error);

	if (err)
		return NULL;
	l.s = load_head(st, id, error);
	err = l.s ? load_all(&l) : -ENOENT;
	sqlite3_exec(st->db, "COMMIT", NULL, NULL, NULL);
	free(l.functions);
	free(l.stacks);
	if (!err)
		return l.s;
	mew_session_free(l.s);
	return NULL;
}
