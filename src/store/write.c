/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>

#include "channel/message.h"
#include "store/sql.h"

static const char *kind_text(enum mew_session_kind kind)
{
	return kind == MEW_SESSION_CPU ? "cpu" : "mem";
}

static const char *const results[] = {
	[MEW_RESULT_OK] = "ok", [MEW_RESULT_SKIPPED] = "skipped", [MEW_RESULT_FAILED] = "failed"};
static const char *const roles[] = {[MEW_ROLE_PLAIN] = "plain",
				    [MEW_ROLE_ALLOCATOR] = "allocator",
				    [MEW_ROLE_WRAPPER] = "wrapper"};
static const char *const units[] = {[MEW_COUNTER_AS_IS] = "",
				    [MEW_COUNTER_PER_ITERATION] = "/iteration",
				    [MEW_COUNTER_PER_SECOND] = "/s"};

int mew_store_begin(struct mew_store *st, struct mew_session *s, struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(
		st,
		"INSERT INTO session(kind, started, program, build_id, arguments, tag, engine,"
		" machine, version, whole_program) VALUES(?,?,?,?,?,?,?,?,?,?)",
		&stmt, error);

	if (err)
		return err;
	mew_sql_bind_text(stmt, 1, kind_text(s->kind));
	sqlite3_bind_int64(stmt, 2, s->started_unix_ns);
	mew_sql_bind_text(stmt, 3, s->program);
	mew_sql_bind_text(stmt, 4, s->build_id);
	mew_sql_bind_text(stmt, 5, s->arguments);
	mew_sql_bind_text(stmt, 6, s->tag);
	mew_sql_bind_text(stmt, 7, s->engine);
	mew_sql_bind_text(stmt, 8, s->machine);
	mew_sql_bind_text(stmt, 9, s->version);
	sqlite3_bind_int(stmt, 10, !!s->whole_program);
	err = mew_sql_execute(st, stmt, error);
	if (!err)
		st->session = s->id = sqlite3_last_insert_rowid(st->db);
	sqlite3_finalize(stmt);
	return err;
}

/* Figures are bound in the order of the columns below. */
static void bind_cpu(sqlite3_stmt *stmt, int at, const struct mew_cpu_row *row)
{
	mew_sql_bind_text(stmt, at++, row->profiler);
	mew_sql_bind_u64(stmt, at++, row->iterations);
	mew_sql_bind_u64(stmt, at++, row->lost);
	mew_sql_bind_double(stmt, at++, row->wall_time_s);
	mew_sql_bind_u64(stmt, at++, row->sample_count);
	mew_sql_bind_text(stmt, at++, row->top_function);
	mew_sql_bind_double(stmt, at++, row->top_self_s);
	mew_sql_bind_double(stmt, at++, row->interval_s);
	mew_sql_bind_double(stmt, at++, row->paused_time_s);
	mew_sql_bind_double(stmt, at++, row->kernel_time_s);
	mew_sql_bind_double(stmt, at++, row->off_cpu_time_s);
	mew_sql_bind_u64(stmt, at++, row->truncated);
	mew_sql_bind_u64(stmt, at++, row->unknown);
	mew_sql_bind_double(stmt, at++, row->slowdown);
	mew_sql_bind_double(stmt, at++, row->pause_cost_s);
	mew_sql_bind_double(stmt, at++, row->time_per_iteration_s);
	mew_sql_bind_double(stmt, at++, row->time_spread);
	mew_sql_bind_double(stmt, at++, row->user_time_s);
	mew_sql_bind_double(stmt, at++, row->top_share);
	mew_sql_bind_double(stmt, at++, row->top_share_half_width);
}
#define CPU_COLUMNS                                                                                \
	"profiler, iterations, lost, wall_time, sample_count, top_function,"                       \
	" top_function_total_self_time, interval, paused_time, kernel_time, off_cpu_time,"         \
	" truncated, unknown, slowdown, pause_cost, time_per_iteration, time_spread, user_time,"   \
	" top_share, top_share_half_width"
#define CPU_VALUES "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

static void bind_heap(sqlite3_stmt *stmt, int at, const struct mew_heap_row *row)
{
	mew_sql_bind_text(stmt, at++, row->profiler);
	mew_sql_bind_u64(stmt, at++, row->iterations);
	mew_sql_bind_u64(stmt, at++, row->lost);
	sqlite3_bind_int64(stmt, at++, row->peak_bytes);
	sqlite3_bind_int64(stmt, at++, row->total_bytes);
	mew_sql_bind_u64(stmt, at++, row->total_allocations);
	mew_sql_bind_double(stmt, at++, row->allocations_per_iteration);
	mew_sql_bind_u64(stmt, at++, row->allocated_bytes);
	mew_sql_bind_u64(stmt, at++, row->frees);
	mew_sql_bind_u64(stmt, at++, row->temporary);
	sqlite3_bind_int64(stmt, at++, row->leaked_bytes);
	mew_sql_bind_u64(stmt, at++, row->first_iteration_allocations);
	mew_sql_bind_u64(stmt, at++, row->foreign_frees);
	mew_sql_bind_text(stmt, at++, row->top_allocator);
	mew_sql_bind_double(stmt, at++, row->top_allocator_share);
	mew_sql_bind_double(stmt, at++, row->iteration_peak_min);
	mew_sql_bind_double(stmt, at++, row->iteration_peak_median);
	mew_sql_bind_double(stmt, at++, row->iteration_peak_max);
	mew_sql_bind_double(stmt, at++, row->mapped_calls);
	mew_sql_bind_double(stmt, at++, row->mapped_bytes);
	mew_sql_bind_double(stmt, at++, row->mapped_peak_bytes);
	mew_sql_bind_double(stmt, at++, row->mapped_held_bytes);
	mew_sql_bind_double(stmt, at++, row->hook_bytes);
}
#define HEAP_COLUMNS                                                                               \
	"profiler, iterations, lost, peak_bytes, total_bytes, total_allocations,"                  \
	" allocations_per_iteration, allocated_bytes, frees, temporary, leaked_bytes,"             \
	" first_iteration_allocations, foreign_frees, top_allocator, top_allocator_share,"         \
	" iteration_peak_min, iteration_peak_median, iteration_peak_max, mapped_calls,"            \
	" mapped_bytes, mapped_peak_bytes, mapped_held_bytes, hook_bytes"
#define HEAP_VALUES "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

#define CASE_COLUMNS "session, name, label, threads, result, reason, doubtful, hint, verdict, "
#define CASE_VALUES "?,?,?,?,?,?,?,?,?,"
enum { N_CASE_COLUMNS = 9 };

/* The row of the case. *ret_id is its id. */
static int write_case(struct mew_store *st, const struct mew_session *s, const struct mew_pcase *c,
		      int64_t *ret_id, struct mew_error *error)
{
	int is_cpu = s->kind == MEW_SESSION_CPU, err;
	sqlite3_stmt *stmt = NULL;

	err = mew_sql_prepare(st,
			      is_cpu ? "INSERT INTO case_(" CASE_COLUMNS CPU_COLUMNS
				       ") VALUES(" CASE_VALUES CPU_VALUES ")"
				     : "INSERT INTO case_(" CASE_COLUMNS HEAP_COLUMNS
				       ") VALUES(" CASE_VALUES HEAP_VALUES ")",
			      &stmt, error);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, s->id);
	mew_sql_bind_text(stmt, 2, c->key);
	mew_sql_bind_text(stmt, 3, c->label);
	sqlite3_bind_int64(stmt, 4, c->n_threads);
	mew_sql_bind_text(stmt, 5, results[c->result]);
	mew_sql_bind_text(stmt, 6, c->reason);
	sqlite3_bind_int(stmt, 7, !!c->doubtful);
	mew_sql_bind_text(stmt, 8, c->hint);
	mew_sql_bind_text(stmt, 9, c->verdict);
	if (is_cpu)
		bind_cpu(stmt, N_CASE_COLUMNS + 1, &c->cpu);
	else
		bind_heap(stmt, N_CASE_COLUMNS + 1, &c->heap);
	err = mew_sql_execute(st, stmt, error);
	if (!err)
		*ret_id = sqlite3_last_insert_rowid(st->db);
	sqlite3_finalize(stmt);
	return err;
}

/* Functions and stacks only grow: those that the recording has not yet. */
static int write_functions(struct mew_store *st, const struct mew_session *s,
			   struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int64_t i = 0;
	int err =
		mew_sql_number(st, "SELECT coalesce(max(id) + 1, 0) FROM function WHERE session=?",
			       s->id, &i, error);

	if (!err)
		err = mew_sql_prepare(st, "INSERT INTO function VALUES(?,?,?,?,?,?,?)", &stmt,
				      error);
	for (; !err && (uint64_t)i < s->n_functions; i++) {
		const struct mew_pfunction *f = &s->functions[i];

		sqlite3_bind_int64(stmt, 1, s->id);
		sqlite3_bind_int64(stmt, 2, i);
		mew_sql_bind_text(stmt, 3, f->name);
		mew_sql_bind_text(stmt, 4, f->file);
		sqlite3_bind_int64(stmt, 5, f->line);
		mew_sql_bind_text(stmt, 6, f->module);
		mew_sql_bind_text(stmt, 7, roles[f->role]);
		err = mew_sql_execute(st, stmt, error);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_stacks(struct mew_store *st, const struct mew_session *s, struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int64_t i = 1;
	int err = mew_sql_number(st, "SELECT coalesce(max(id) + 1, 1) FROM stack WHERE session=?",
				 s->id, &i, error);

	if (!err)
		err = mew_sql_prepare(st, "INSERT INTO stack VALUES(?,?,?,?,?,?)", &stmt, error);
	for (; !err && (uint64_t)i < s->n_stacks; i++) {
		const struct mew_pstack *node = &s->stacks[i];

		sqlite3_bind_int64(stmt, 1, s->id);
		sqlite3_bind_int64(stmt, 2, i);
		sqlite3_bind_int64(stmt, 3, node->parent);
		sqlite3_bind_int64(stmt, 4, node->function);
		sqlite3_bind_int64(stmt, 5, node->line);
		sqlite3_bind_int(stmt, 6, node->inlined);
		err = mew_sql_execute(st, stmt, error);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_values(struct mew_store *st, const struct mew_session *s,
			const struct mew_pcase *c, int64_t id, struct mew_error *error)
{
	int is_cpu = s->kind == MEW_SESSION_CPU, err;
	sqlite3_stmt *stmt = NULL;
	size_t i;

	err = mew_sql_prepare(st,
			      is_cpu ? "INSERT INTO cpu_stack VALUES(?,?,?,?,?)"
				     : "INSERT INTO heap_stack VALUES(?,?,?,?,?,?,?,?,?)",
			      &stmt, error);
	for (i = 0; !err && i < c->n_values; i++) {
		const struct mew_pvalue *v = &c->values[i];

		sqlite3_bind_int64(stmt, 1, id);
		sqlite3_bind_int64(stmt, 2, v->stack);
		sqlite3_bind_int(stmt, 3, !!v->whole);
		if (is_cpu) {
			mew_sql_bind_u64(stmt, 4, v->samples);
			mew_sql_bind_double(stmt, 5, v->weight_s);
		} else {
			mew_sql_bind_u64(stmt, 4, v->allocations);
			mew_sql_bind_u64(stmt, 5, v->bytes);
			mew_sql_bind_u64(stmt, 6, v->frees);
			mew_sql_bind_u64(stmt, 7, v->temporary);
			sqlite3_bind_int64(stmt, 8, v->peak_bytes);
			sqlite3_bind_int64(stmt, 9, v->held_bytes);
		}
		err = mew_sql_execute(st, stmt, error);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_curve(struct mew_store *st, const struct mew_shape *shape, int64_t id,
		       struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, "INSERT INTO heap_curve VALUES(?,?,?,?)", &stmt, error);
	size_t i;

	for (i = 0; !err && i < shape->n_points; i++) {
		sqlite3_bind_int64(stmt, 1, id);
		mew_sql_bind_u64(stmt, 2, i * shape->width);
		mew_sql_bind_u64(stmt, 3, shape->width);
		sqlite3_bind_int64(stmt, 4, shape->points[i]);
		err = mew_sql_execute(st, stmt, error);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_sizes(struct mew_store *st, const struct mew_shape *shape, int64_t id,
		       struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, "INSERT INTO heap_size VALUES(?,?,?)", &stmt, error);
	size_t i;

	for (i = 0; !err && i < shape->n_sizes; i++) {
		sqlite3_bind_int64(stmt, 1, id);
		mew_sql_bind_u64(stmt, 2, shape->sizes[i].most);
		mew_sql_bind_u64(stmt, 3, shape->sizes[i].allocations);
		err = mew_sql_execute(st, stmt, error);
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_counters(struct mew_store *st, const struct mew_pcase *c, int64_t id,
			  struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, "INSERT INTO counter VALUES(?,?,?,?,?)", &stmt, error);
	size_t i;

	for (i = 0; !err && i < c->n_counters; i++) {
		const struct mew_pcounter *counter = &c->counters[i];

		sqlite3_bind_int64(stmt, 1, id);
		sqlite3_bind_int64(stmt, 2, (int64_t)i);
		mew_sql_bind_text(stmt, 3, counter->name);
		mew_sql_bind_double(stmt, 4, counter->value);
		mew_sql_bind_text(stmt, 5,
				  (unsigned)counter->kind < sizeof(units) / sizeof(units[0])
					  ? units[counter->kind]
					  : "");
		err = mew_sql_execute(st, stmt, error);
	}
	sqlite3_finalize(stmt);
	return err;
}

int mew_store_case(struct mew_store *st, const struct mew_session *s, struct mew_pcase *c,
		   struct mew_error *error)
{
	int64_t id = 0;
	int err = mew_sql_run(st, "BEGIN IMMEDIATE", error);

	if (err)
		return err;
	err = write_case(st, s, c, &id, error);
	if (!err)
		err = write_functions(st, s, error);
	if (!err)
		err = write_stacks(st, s, error);
	if (!err)
		err = write_values(st, s, c, id, error);
	if (!err)
		err = write_curve(st, &c->shape, id, error);
	if (!err)
		err = write_sizes(st, &c->shape, id, error);
	if (!err)
		err = write_counters(st, c, id, error);
	if (!err)
		err = mew_sql_run(st, "COMMIT", error);
	if (err)
		goto failed;
	c->id = id;
	st->is_new = 0;
	return 0;
failed:
	sqlite3_exec(st->db, "ROLLBACK", NULL, NULL, NULL); /* may be done already */
	return err;
}

int mew_store_end(struct mew_store *st, const struct mew_session *s, struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, "UPDATE session SET complete = 1 WHERE id = ?", &stmt, error);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, s->id);
	err = mew_sql_execute(st, stmt, error);
	sqlite3_finalize(stmt);
	return err;
}

int mew_store_remove(struct mew_store *st, int64_t id, struct mew_error *error)
{
	sqlite3_stmt *stmt = NULL;
	int err = mew_sql_prepare(st, "DELETE FROM session WHERE id = ?", &stmt, error);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, id);
	err = mew_sql_execute(st, stmt, error);
	if (!err && !sqlite3_changes(st->db))
		err = mew_error_set(error, -ENOENT, "recording '%s' has no session %lld", st->path,
				    (long long)id);
	sqlite3_finalize(stmt);
	return err;
}
