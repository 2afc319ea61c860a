/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "output/folded.h"
#include "output/formats.h"

static void header(struct mew_csv *csv, const char *names)
{
	mew_buffer_puts(csv->out, names);
	mew_buffer_puts(csv->out, "\r\n");
}

static void i64(struct mew_csv *csv, int64_t value)
{
	if (value >= 0)
		mew_csv_u64(csv, (uint64_t)value);
	else
		mew_csv_double(csv, (double)value);
}

static void verdict(struct mew_csv *csv, const struct mew_pcase *c, struct mew_buffer *text)
{
	if (c->result == MEW_RESULT_OK) {
		mew_csv_text(csv, c->verdict);
		return;
	}
	mew_buffer_reset(text);
	mew_buffer_printf(text, "%s: %s", c->result == MEW_RESULT_SKIPPED ? "skipped" : "failed",
			  c->reason);
	if (mew_case_measured(c) && strcmp(c->verdict, "ok") != 0)
		mew_buffer_printf(text, "; %s", c->verdict);
	mew_csv_text(csv, text->data);
	if (text->error)
		csv->out->error = text->error;
}

static void cpu_row(struct mew_csv *csv, const struct mew_cpu_row *row)
{
	mew_csv_text(csv, row->profiler);
	mew_csv_double(csv, row->wall_time_s);
	mew_csv_u64(csv, row->sample_count);
	mew_csv_text(csv, row->top_function);
	mew_csv_double(csv, row->top_self_s);
	mew_csv_u64(csv, row->iterations);
	mew_csv_double(csv, row->interval_s);
	mew_csv_double(csv, row->paused_time_s);
	mew_csv_double(csv, row->kernel_time_s);
	mew_csv_double(csv, row->off_cpu_time_s);
	mew_csv_u64(csv, row->lost);
	mew_csv_u64(csv, row->truncated);
	mew_csv_u64(csv, row->unknown);
	mew_csv_double(csv, row->slowdown);
	mew_csv_double(csv, row->pause_cost_s);
}
enum { CPU_FIELDS = 15 };

static void heap_row(struct mew_csv *csv, const struct mew_heap_row *row)
{
	mew_csv_text(csv, row->profiler);
	i64(csv, row->peak_bytes);
	i64(csv, row->total_bytes);
	mew_csv_u64(csv, row->total_allocations);
	mew_csv_u64(csv, row->iterations);
	mew_csv_double(csv, row->allocations_per_iteration);
	mew_csv_u64(csv, row->allocated_bytes);
	mew_csv_u64(csv, row->frees);
	mew_csv_u64(csv, row->temporary);
	i64(csv, row->leaked_bytes);
	mew_csv_u64(csv, row->first_iteration_allocations);
	mew_csv_u64(csv, row->foreign_frees);
	mew_csv_u64(csv, row->lost);
	mew_csv_double(csv, row->iteration_peak_min);
	mew_csv_double(csv, row->iteration_peak_median);
	mew_csv_double(csv, row->iteration_peak_max);
	mew_csv_double(csv, row->mapped_calls);
	mew_csv_double(csv, row->mapped_bytes);
	mew_csv_double(csv, row->mapped_peak_bytes);
	mew_csv_double(csv, row->mapped_held_bytes);
	mew_csv_double(csv, row->hook_bytes);
}
enum { HEAP_FIELDS = 21 };

static void session_cases(const struct mew_session *s, struct mew_csv *csv, struct mew_buffer *text)
{
	int is_cpu = s->kind == MEW_SESSION_CPU, k;
	size_t i;

	header(csv, is_cpu ? "name,label,profiler,wall_time,sample_count,top_function,"
			     "top_function_total_self_time,iterations,interval,paused_time,"
			     "kernel_time,off_cpu_time,lost,truncated,unknown,slowdown,pause_cost,"
			     "verdict"
			   : "name,label,profiler,peak_bytes,total_bytes,total_allocations,"
			     "iterations,allocations_per_iteration,allocated_bytes,frees,temporary,"
			     "leaked_bytes,first_iteration_allocations,foreign_frees,lost,"
			     "iteration_peak_min,iteration_peak_median,iteration_peak_max,"
			     "mapped_calls,mapped_bytes,mapped_peak_bytes,mapped_held_bytes,"
			     "hook_bytes,"
			     "verdict");
	for (i = 0; i < s->n_cases; i++) {
		const struct mew_pcase *c = &s->cases[i];

		mew_csv_text(csv, c->key);
		mew_csv_text(csv, c->label);
		if (!mew_case_measured(c))
			for (k = 0; k < (is_cpu ? CPU_FIELDS : HEAP_FIELDS); k++)
				mew_csv_empty(csv);
		else if (is_cpu)
			cpu_row(csv, &c->cpu);
		else
			heap_row(csv, &c->heap);
		verdict(csv, c, text);
		mew_csv_end_row(csv);
	}
}

static void report_cases(const struct mew_report *r, struct mew_csv *csv, struct mew_buffer *text)
{
	size_t i;

	header(csv, "name,label,time_per_iteration,self_time,tax_time,kernel_time,off_cpu_time,"
		    "allocations_per_iteration,bytes_per_iteration,peak_bytes,held_bytes,"
		    "cpu_verdict,mem_verdict");
	for (i = 0; i < r->n_cases; i++) {
		const struct mew_report_case *c = &r->cases[i];

		mew_csv_text(csv, c->key);
		mew_csv_text(csv, c->label);
		mew_csv_double(csv, c->cpu ? c->cpu->cpu.time_per_iteration_s : NAN);
		mew_csv_double(csv, c->all.self_s);
		mew_csv_double(csv, c->all.tax_s);
		mew_csv_double(csv, c->cpu ? c->cpu->cpu.kernel_time_s : NAN);
		mew_csv_double(csv, c->cpu ? c->cpu->cpu.off_cpu_time_s : NAN);
		mew_csv_double(csv, c->all.allocations);
		mew_csv_double(csv, c->all.bytes);
		mew_csv_double(csv, c->all.peak_bytes);
		mew_csv_double(csv, c->all.held_bytes);
		if (c->cpu)
			verdict(csv, c->cpu, text);
		else
			mew_csv_empty(csv);
		if (c->heap)
			verdict(csv, c->heap, text);
		else
			mew_csv_empty(csv);
		mew_csv_end_row(csv);
	}
}

static void functions(const struct mew_report *r, struct mew_csv *csv)
{
	size_t i, k;

	header(csv, "name,label,function,file,line,module,self_time,tax_time,total_time,"
		    "self_share,tax_share,total_share,allocations_per_iteration,"
		    "bytes_per_iteration,peak_bytes,peak_share,held_bytes");
	for (i = 0; i < r->n_cases; i++) {
		for (k = 0; k < r->cases[i].n_rows; k++) {
			const struct mew_report_row *row = &r->cases[i].rows[k];

			mew_csv_text(csv, r->cases[i].key);
			mew_csv_text(csv, r->cases[i].label);
			mew_csv_text(csv, row->name);
			mew_csv_text(csv, row->file);
			mew_csv_double(csv, row->line ? row->line : NAN);
			mew_csv_text(csv, row->module);
			mew_csv_double(csv, row->self_s);
			mew_csv_double(csv, row->tax_s);
			mew_csv_double(csv, row->total_s);
			mew_csv_double(csv, row->self_share);
			mew_csv_double(csv, row->tax_share);
			mew_csv_double(csv, row->total_share);
			mew_csv_double(csv, row->allocations);
			mew_csv_double(csv, row->bytes);
			mew_csv_double(csv, row->peak_bytes);
			mew_csv_double(csv, row->peak_share);
			mew_csv_double(csv, row->held_bytes);
			mew_csv_end_row(csv);
		}
	}
}

static void stack_row(const struct mew_session *s, const struct mew_pcase *c,
		      const struct mew_pvalue *v, struct mew_csv *csv, const char *stack)
{
	mew_csv_text(csv, c->key);
	mew_csv_text(csv, c->label);
	mew_csv_text(csv, stack);
	if (s->kind == MEW_SESSION_CPU) {
		mew_csv_u64(csv, v->samples);
		mew_csv_double(csv, v->weight_s);
	} else {
		mew_csv_u64(csv, v->allocations);
		mew_csv_u64(csv, v->bytes);
		mew_csv_u64(csv, v->frees);
		mew_csv_u64(csv, v->temporary);
		i64(csv, v->peak_bytes);
		i64(csv, v->held_bytes);
	}
	mew_csv_end_row(csv);
}

static int case_stacks(const struct mew_session *s, const struct mew_pcase *c, struct mew_csv *csv,
		       struct mew_buffer *text)
{
	struct mew_pvalue *values = NULL;
	size_t n = 0, i;
	int err = mew_folded(s, c, &values, &n);

	for (i = 0; i < n && !err; i++) {
		mew_buffer_reset(text);
		err = mew_folded_text(s, &values[i], text);
		if (!err)
			stack_row(s, c, &values[i], csv, text->data);
	}
	free(values);
	return err;
}

static void stacks_header(const struct mew_session *s, struct mew_csv *csv)
{
	header(csv, s->kind == MEW_SESSION_CPU
			    ? "name,label,stack,samples,self_time"
			    : "name,label,stack,allocations,bytes,frees,temporary,peak_bytes,"
			      "held_bytes");
}

static int session_stacks(const struct mew_session *s, struct mew_csv *csv, struct mew_buffer *text)
{
	int err = 0;
	size_t i;

	stacks_header(s, csv);
	for (i = 0; i < s->n_cases && !err; i++)
		err = case_stacks(s, &s->cases[i], csv, text);
	return err;
}

/* Two kinds of rows in one file would be no table: the CPU's, if there are. */
static int report_stacks(const struct mew_report *r, struct mew_csv *csv, struct mew_buffer *text)
{
	const struct mew_session *s = r->cpu ? r->cpu : r->heap;
	int err = 0;
	size_t i;

	if (!s)
		return 0;
	stacks_header(s, csv);
	for (i = 0; i < r->n_cases && !err; i++) {
		const struct mew_pcase *c = r->cpu ? r->cases[i].cpu : r->cases[i].heap;

		if (c)
			err = case_stacks(s, c, csv, text);
	}
	return err;
}

/* ---- the heap's shapes: rows of a heap session, or of a report's heap side ---- */

static void curve_rows(const struct mew_pcase *c, struct mew_csv *csv)
{
	const struct mew_shape *shape = &c->shape;

	for (size_t i = 0; i < shape->n_points; i++) {
		mew_csv_text(csv, c->key);
		mew_csv_text(csv, c->label);
		mew_csv_u64(csv, i * shape->width);
		mew_csv_u64(csv, shape->width);
		i64(csv, shape->points[i]);
		mew_csv_end_row(csv);
	}
}

static void size_rows(const struct mew_pcase *c, struct mew_csv *csv)
{
	for (size_t i = 0; i < c->shape.n_sizes; i++) {
		mew_csv_text(csv, c->key);
		mew_csv_text(csv, c->label);
		mew_csv_u64(csv, c->shape.sizes[i].most);
		mew_csv_u64(csv, c->shape.sizes[i].allocations);
		mew_csv_end_row(csv);
	}
}

static void write_shapes(const struct mew_output_input *in, enum mew_output_table table,
			 struct mew_csv *csv)
{
	void (*rows)(const struct mew_pcase *c, struct mew_csv *csv) =
		table == MEW_TABLE_CURVE ? curve_rows : size_rows;

	header(csv, table == MEW_TABLE_CURVE ? "name,label,first_allocation,allocations,live_bytes"
					     : "name,label,max_bytes,allocations");
	if (in->report) {
		for (size_t i = 0; i < in->report->n_cases; i++)
			if (in->report->cases[i].heap)
				rows(in->report->cases[i].heap, csv);
		return;
	}
	for (size_t i = 0; i < in->session->n_cases; i++)
		rows(&in->session->cases[i], csv);
}

static int write_functions(const struct mew_output_input *in, struct mew_csv *csv)
{
	const struct mew_session *s = in->session;
	struct mew_report *own;

	if (in->report) {
		functions(in->report, csv);
		return 0;
	}
	own = mew_report_new(s->kind == MEW_SESSION_CPU ? s : NULL,
			     s->kind == MEW_SESSION_HEAP ? s : NULL);
	if (!own)
		return -ENOMEM;
	functions(own, csv);
	mew_report_free(own);
	return 0;
}

static int write_csv(const struct mew_output_input *in, const struct mew_output_options *o,
		     struct mew_buffer *out)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	struct mew_csv csv;
	int err = 0;

	mew_csv_init(&csv, out);
	if (o->table == MEW_TABLE_FUNCTIONS)
		err = write_functions(in, &csv);
	else if (o->table == MEW_TABLE_STACKS)
		err = in->report ? report_stacks(in->report, &csv, &text)
				 : session_stacks(in->session, &csv, &text);
	else if (o->table == MEW_TABLE_CURVE || o->table == MEW_TABLE_SIZES)
		write_shapes(in, o->table, &csv);
	else if (in->report)
		report_cases(in->report, &csv, &text);
	else
		session_cases(in->session, &csv, &text);
	mew_buffer_done(&text);
	return err ? err : out->error;
}

const struct mew_output_format mew_output_csv = {
	.name = "csv",
	.extension = ".csv",
	.summary = "comma-separated values, RFC 4180; --table chooses the rows",
	.write = write_csv,
};
