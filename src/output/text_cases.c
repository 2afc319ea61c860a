/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "channel/message.h"
#include "output/cell.h"
#include "output/text.h"

/* Shares of the time below this are not worth a column where names would have to be shortened. */
#define SHARE_SHOWN 0.05

/* The columns of one table: fixed ones, the counters of the cases, and the last one. */
struct cases {
	const struct mew_session *session;
	struct mew_column *columns;
	size_t n_columns, cap_columns;
	const char **counters; /* names, in order of appearance */
	size_t n_counters, cap_counters;
	struct mew_table *table;
};

static int add_column(struct cases *t, const char *title, enum mew_align align, int worth,
		      bool hide_zero)
{
	if (MEW_ARRAY_PUSH(t->columns, t->n_columns, t->cap_columns))
		return -ENOMEM;
	t->columns[t->n_columns++] = (struct mew_column){title, align, worth, hide_zero};
	return 0;
}

static int find_counters(struct cases *t)
{
	const struct mew_session *s = t->session;
	size_t i, k, n;

	for (i = 0; i < s->n_cases; i++) {
		for (k = 0; k < s->cases[i].n_counters; k++) {
			const char *name = s->cases[i].counters[k].name;

			for (n = 0; n < t->n_counters && strcmp(t->counters[n], name); n++)
				;
			if (n < t->n_counters)
				continue;
			if (MEW_ARRAY_PUSH(t->counters, t->n_counters, t->cap_counters))
				return -ENOMEM;
			t->counters[t->n_counters++] = name;
		}
	}
	return 0;
}

/* Whether some case spends so much of its time in the kernel (off: off the CPU). */
static bool any_time(const struct mew_session *s, bool off)
{
	size_t i;

	for (i = 0; i < s->n_cases; i++) {
		const struct mew_cpu_row *row = &s->cases[i].cpu;

		if (mew_case_measured(&s->cases[i]) &&
		    mew_time_share(row, off ? row->off_cpu_time_s : row->kernel_time_s) >=
			    SHARE_SHOWN)
			return true;
	}
	return false;
}

static bool any_foreign(const struct mew_session *s)
{
	size_t i;

	for (i = 0; i < s->n_cases; i++)
		if (s->cases[i].heap.foreign_frees)
			return true;
	return false;
}

/* Counters, the verdict in words, and the last column. */
static int add_last_columns(struct cases *t, const char *title, int worth)
{
	size_t i;

	for (i = 0; i < t->n_counters; i++)
		if (add_column(t, t->counters[i], MEW_ALIGN_POINT, worth + (int)i, true))
			return -ENOMEM;
	if (add_column(t, "VERDICT", MEW_ALIGN_LEFT, worth + (int)i, false))
		return -ENOMEM;
	return add_column(t, title, MEW_ALIGN_LEFT, 0, false);
}

static int cpu_columns(struct cases *t)
{
	bool whole = t->session->whole_program;
	int kernel = any_time(t->session, false) ? 0 : 5, off = any_time(t->session, true) ? 0 : 6;

	if (add_column(t, whole ? "PROGRAM" : "CASE", MEW_ALIGN_LEFT, 0, false) ||
	    add_column(t, "LABEL", MEW_ALIGN_LEFT, 0, true) ||
	    add_column(t, "ITERATIONS", MEW_ALIGN_RIGHT, whole ? 99 : 3, false) ||
	    add_column(t, whole ? "TIME" : "TIME/ITER", MEW_ALIGN_RIGHT, 0, false) ||
	    add_column(t, "+-", MEW_ALIGN_RIGHT, 1, whole) ||
	    add_column(t, "SAMPLES", MEW_ALIGN_RIGHT, 0, false) ||
	    add_column(t, "LOST", MEW_ALIGN_RIGHT, 0, true) ||
	    add_column(t, "SLOWDOWN", MEW_ALIGN_RIGHT, 2, whole) ||
	    add_column(t, "KERNEL", MEW_ALIGN_RIGHT, kernel, false) ||
	    add_column(t, "OFF-CPU", MEW_ALIGN_RIGHT, off, false) ||
	    add_column(t, "SELF", MEW_ALIGN_RIGHT, 0, false) ||
	    add_column(t, whole ? "SELF TIME" : "SELF/ITER", MEW_ALIGN_RIGHT, 4, false))
		return -ENOMEM;
	return add_last_columns(t, "TOP FUNCTION", 7);
}

static int heap_columns(struct cases *t)
{
	bool whole = t->session->whole_program;
	int foreign = any_foreign(t->session) ? 0 : 4;

	if (add_column(t, whole ? "PROGRAM" : "CASE", MEW_ALIGN_LEFT, 0, false) ||
	    add_column(t, "LABEL", MEW_ALIGN_LEFT, 0, true) ||
	    add_column(t, "ITERATIONS", MEW_ALIGN_RIGHT, whole ? 99 : 5, false) ||
	    add_column(t, whole ? "ALLOCS" : "ALLOCS/ITER", MEW_ALIGN_POINT, 0, false) ||
	    add_column(t, "FIRST", MEW_ALIGN_RIGHT, 3, whole) ||
	    add_column(t, "TEMP", MEW_ALIGN_RIGHT, 2, false) ||
	    add_column(t, whole ? "BYTES" : "BYTES/ITER", MEW_ALIGN_RIGHT, 0, false) ||
	    add_column(t, "PEAK", MEW_ALIGN_RIGHT, 0, false) ||
	    add_column(t, "HELD", MEW_ALIGN_RIGHT, 0, true) ||
	    add_column(t, "LOST", MEW_ALIGN_RIGHT, 0, true) ||
	    add_column(t, "FOREIGN", MEW_ALIGN_RIGHT, foreign, false) ||
	    add_column(t, "SHARE", MEW_ALIGN_RIGHT, 1, false))
		return -ENOMEM;
	return add_last_columns(t, "TOP ALLOCATOR", 6);
}

/* Time per iteration in figures of the profile: its sampled share of the unsampled time. */
static double self_per_iteration(const struct mew_cpu_row *row)
{
	return mew_time_share(row, row->top_self_s) * row->time_per_iteration_s;
}

static void cpu_cells(struct mew_table *t, const struct mew_pcase *c)
{
	const struct mew_cpu_row *row = &c->cpu;
	struct mew_cell cell;

	mew_table_cell(t, mew_cell_u64(&cell, row->iterations));
	mew_table_cell(t, mew_cell_time(&cell, row->time_per_iteration_s));
	mew_table_cell(t, mew_cell_spread(&cell, row->time_spread));
	mew_table_cell(t, mew_cell_u64(&cell, row->sample_count));
	mew_table_cell(t, mew_cell_u64(&cell, row->lost));
	mew_table_cell(t, mew_cell_ratio(&cell, row->slowdown));
	mew_table_cell(t, mew_cell_percent(&cell, mew_time_share(row, row->kernel_time_s)));
	mew_table_cell(t, mew_cell_percent(&cell, mew_time_share(row, row->off_cpu_time_s)));
	mew_table_cell(t, mew_cell_sampled(&cell, row->top_share, row->top_share_half_width));
	mew_table_cell(t, mew_cell_time(&cell, self_per_iteration(row)));
}

static double per(double value, uint64_t n)
{
	return n ? value / (double)n : NAN;
}

static bool is_whole_number(double value)
{
	return !isnan(value) && value == floor(value);
}

/* Whether all means are whole numbers: then room for decimals is kept, so that the column looks the
 * same when one of them no longer is. */
static bool keeps_room(const struct mew_session *s)
{
	size_t i;

	for (i = 0; i < s->n_cases; i++)
		if (!is_whole_number(s->cases[i].heap.allocations_per_iteration) &&
		    mew_case_measured(&s->cases[i]))
			return false;
	return true;
}

static void heap_cells(struct mew_table *t, const struct mew_pcase *c, bool room)
{
	const struct mew_heap_row *row = &c->heap;
	struct mew_cell cell;

	mew_table_cell(t, mew_cell_u64(&cell, row->iterations));
	mew_table_cellf(t, "%s%s", mew_cell_count(&cell, row->allocations_per_iteration),
			room ? "   " : "");
	mew_table_cell(t, mew_cell_u64(&cell, row->first_iteration_allocations));
	mew_table_cell(
		t, mew_cell_percent(&cell, per((double)row->temporary, row->total_allocations)));
	mew_table_cell(t,
		       mew_cell_bytes(&cell, per((double)row->allocated_bytes, row->iterations)));
	mew_table_cell(t, mew_cell_bytes(&cell, (double)row->peak_bytes));
	mew_table_cell(t, mew_cell_bytes(&cell, (double)row->leaked_bytes));
	mew_table_cell(t, mew_cell_u64(&cell, row->lost));
	mew_table_cell(t, mew_cell_u64(&cell, row->foreign_frees));
	mew_table_cell(t, mew_cell_percent(&cell, row->top_allocator_share));
}

static const struct mew_pcounter *counter_of(const struct mew_pcase *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_counters; i++)
		if (!strcmp(c->counters[i].name, name))
			return &c->counters[i];
	return NULL;
}

static void last_cells(struct cases *t, const struct mew_pcase *c, const char *last)
{
	struct mew_cell cell;
	size_t i;

	for (i = 0; i < t->n_counters; i++) {
		const struct mew_pcounter *counter = counter_of(c, t->counters[i]);

		mew_table_cell(t->table, !counter ? "-"
					 : counter->kind == MEW_COUNTER_PER_SECOND
						 ? mew_cell_rate(&cell, counter->value)
						 : mew_cell_count(&cell, counter->value));
	}
	mew_table_cell(t->table, c->result == MEW_RESULT_OK ? c->verdict : "failed");
	mew_table_cell(t->table, last);
}

/* A case without figures: why. */
static void reason_cells(struct cases *t, const struct mew_pcase *c)
{
	size_t i;

	for (i = 2; i + 2 < t->n_columns; i++)
		mew_table_cell(t->table, "-");
	mew_table_cell(t->table, c->result == MEW_RESULT_SKIPPED ? "skipped" : "failed");
	mew_table_cell(t->table, c->reason);
}

static char mark_of(const struct mew_pcase *c)
{
	return c->result == MEW_RESULT_SKIPPED  ? '-'
	       : c->result == MEW_RESULT_FAILED ? 'x'
	       : c->doubtful                    ? '!'
						: ' ';
}

static void add_rows(struct cases *t)
{
	const struct mew_session *s = t->session;
	bool room = s->kind == MEW_SESSION_HEAP && keeps_room(s);
	size_t i;

	for (i = 0; i < s->n_cases; i++) {
		const struct mew_pcase *c = &s->cases[i];

		mew_table_row(t->table, mark_of(c));
		mew_table_cell(t->table, c->key);
		mew_table_cell(t->table, c->label);
		if (!mew_case_measured(c)) {
			reason_cells(t, c);
		} else if (s->kind == MEW_SESSION_CPU) {
			cpu_cells(t->table, c);
			last_cells(t, c, c->cpu.top_function);
		} else {
			heap_cells(t->table, c, room);
			last_cells(t, c, c->heap.top_allocator);
		}
	}
}

int mew_text_cases(const struct mew_session *s, const struct mew_output_options *o,
		   struct mew_buffer *out, size_t *ret_n_cut)
{
	struct mew_table_style style = {.width = o->width, .color = o->colour};
	struct cases t = {.session = s};
	int err;

	err = find_counters(&t);
	if (!err)
		err = s->kind == MEW_SESSION_CPU ? cpu_columns(&t) : heap_columns(&t);
	if (err)
		goto out;
	t.table = mew_table_new(t.columns, t.n_columns);
	if (!t.table) {
		err = -ENOMEM;
		goto out;
	}
	add_rows(&t);
	err = mew_table_render(t.table, &style, out, ret_n_cut);
out:
	mew_table_free(t.table);
	free(t.columns);
	free(t.counters);
	return err;
}
