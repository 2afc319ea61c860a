/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "output/cell.h"
#include "output/text.h"

/* Shares of the time below this are not worth a word. */
#define SHARE_SHOWN 0.01

static const struct mew_column columns[] = {
	{"SELF", MEW_ALIGN_RIGHT},          {"TAX", MEW_ALIGN_RIGHT},
	{"TOTAL", MEW_ALIGN_RIGHT},         {"ALLOCS/ITER", MEW_ALIGN_POINT},
	{"BYTES/ITER", MEW_ALIGN_RIGHT},    {"PEAK", MEW_ALIGN_RIGHT},
	{"HELD", MEW_ALIGN_RIGHT, 0, true}, {"SELF/ITER", MEW_ALIGN_RIGHT, 1},
	{"TAX/ITER", MEW_ALIGN_RIGHT, 2},   {"FUNCTION", MEW_ALIGN_LEFT},
};
static const struct mew_column whole_columns[] = {
	{"SELF", MEW_ALIGN_RIGHT},          {"TAX", MEW_ALIGN_RIGHT},
	{"TOTAL", MEW_ALIGN_RIGHT},         {"ALLOCS", MEW_ALIGN_POINT},
	{"BYTES", MEW_ALIGN_RIGHT},         {"PEAK", MEW_ALIGN_RIGHT},
	{"HELD", MEW_ALIGN_RIGHT, 0, true}, {"SELF TIME", MEW_ALIGN_RIGHT, 1},
	{"TAX TIME", MEW_ALIGN_RIGHT, 2},   {"FUNCTION", MEW_ALIGN_LEFT},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static bool is_whole(const struct mew_report *r)
{
	return (r->cpu && r->cpu->whole_program) || (r->heap && r->heap->whole_program);
}

/* One precision for all shares of a case: what the widest interval bears. */
static double half_width(const struct mew_report_case *c)
{
	return c->cpu ? mew_share_half_width(0.5, c->cpu->cpu.sample_count) : 1;
}

/* In a report nothing is `-`: most functions have no part in most figures. */
static const char *share_cell(struct mew_cell *cell, double share, double half)
{
	mew_format_percent(cell->text, sizeof(cell->text), share == 0 ? NAN : share, half);
	return cell->text;
}

static double nothing(double value)
{
	return value == 0 ? NAN : value;
}

/* What of the unsampled time of an iteration a sampled time stands for. */
static double per_iteration(const struct mew_report_case *c, double sampled_s)
{
	if (!c->cpu)
		return NAN;
	return mew_time_share(&c->cpu->cpu, sampled_s) * c->cpu->cpu.time_per_iteration_s;
}

static void add_row(struct mew_table *t, const struct mew_report_case *c,
		    const struct mew_report_row *row, bool is_function, const char *last)
{
	double half = half_width(c);
	struct mew_cell cell;

	mew_table_row(t, ' ');
	mew_table_cell(t, share_cell(&cell, row->self_share, half));
	mew_table_cell(t, share_cell(&cell, row->tax_share, half));
	mew_table_cell(t, is_function ? share_cell(&cell, row->total_share, half) : "");
	mew_table_cell(t, mew_cell_count(&cell, nothing(row->allocations)));
	mew_table_cell(t, mew_cell_bytes(&cell, nothing(row->bytes)));
	mew_table_cell(t, share_cell(&cell, row->peak_share, 1));
	mew_table_cell(t, mew_cell_bytes(&cell, nothing(row->held_bytes)));
	mew_table_cell(t, mew_cell_time(&cell, nothing(per_iteration(c, row->self_s))));
	mew_table_cell(t, mew_cell_time(&cell, nothing(per_iteration(c, row->tax_s))));
	mew_table_cell(t, last);
}

/* The last row: sums, with the peak in bytes and 0 as a result. */
static void add_all(struct mew_table *t, const struct mew_report_case *c)
{
	const struct mew_report_row *row = &c->all;
	double half = half_width(c);
	struct mew_cell cell;

	mew_table_row(t, ' ');
	mew_format_percent(cell.text, sizeof(cell.text), row->self_share, half);
	mew_table_cell(t, cell.text);
	mew_format_percent(cell.text, sizeof(cell.text), row->tax_share, half);
	mew_table_cell(t, cell.text);
	mew_table_cell(t, "");
	mew_table_cell(t, mew_cell_count(&cell, row->allocations));
	mew_table_cell(t, mew_cell_bytes(&cell, row->bytes));
	mew_table_cell(t, mew_cell_bytes(&cell, row->peak_bytes));
	mew_table_cell(t, mew_cell_bytes(&cell, row->held_bytes));
	mew_table_cell(t, mew_cell_time(&cell, per_iteration(c, row->self_s)));
	mew_table_cell(t, mew_cell_time(&cell, per_iteration(c, row->tax_s)));
	mew_table_cell(t, "all");
}

static void add_up(struct mew_report_row *sum, const struct mew_report_row *row)
{
	sum->self_s += row->self_s;
	sum->tax_s += row->tax_s;
	sum->self_share += row->self_share;
	sum->tax_share += row->tax_share;
	sum->allocations += row->allocations;
	sum->bytes += row->bytes;
	sum->peak_bytes += row->peak_bytes;
	sum->peak_share += row->peak_share;
	sum->held_bytes += row->held_bytes;
}

/* A function that has nothing of its own and calls little is one of the rest. */
static bool is_worth_a_row(const struct mew_report_row *row)
{
	return row->self_s > 0 || row->tax_s > 0 || row->allocations > 0 || row->peak_bytes > 0 ||
	       row->held_bytes > 0 || row->total_share >= SHARE_SHOWN;
}

/* The row with the most of something, which is 0 or more; n_rows: all have none. */
static size_t most(const struct mew_report_case *c, double (*of)(const struct mew_report_row *row))
{
	size_t best = c->n_rows;

	for (size_t i = 0; i < c->n_rows; i++)
		if (of(&c->rows[i]) > (best < c->n_rows ? of(&c->rows[best]) : 0))
			best = i;
	return best;
}

static double allocations_of(const struct mew_report_row *row)
{
	return row->allocations;
}

static double peak_of(const struct mew_report_row *row)
{
	return row->peak_bytes;
}

/* What has a row of its own where `top` are shown (0: all): the first ones, and whoever allocates
 * most. */
struct choice {
	const struct mew_report_case *c;
	unsigned top;
	size_t most_allocations, most_peak;
};

/* i follows n that are shown. */
static bool is_chosen(const struct choice *choice, size_t i, size_t n)
{
	return !choice->top || i == choice->most_allocations || i == choice->most_peak ||
	       (n < choice->top && is_worth_a_row(&choice->c->rows[i]));
}

/* How many rows are left for one line. */
static size_t count_rest(const struct choice *choice)
{
	size_t n = 0;

	for (size_t i = 0; i < choice->c->n_rows; i++)
		n += is_chosen(choice, i, n);
	n = choice->c->n_rows - n;
	/* A line that stands for one row could be that row. */
	return n == 1 ? 0 : n;
}

static int add_rows(struct mew_table *t, const struct mew_report_case *c, unsigned top)
{
	const struct choice choice = {c, top, most(c, allocations_of), most(c, peak_of)};
	size_t n_rest = count_rest(&choice), n_shown = 0, i;
	struct mew_report_row rest = {0};
	struct mew_buffer name = MEW_BUFFER_INIT;
	int err = 0;

	for (i = 0; i < c->n_rows && !err; i++) {
		const struct mew_report_row *row = &c->rows[i];
		struct mew_pfunction f = {.name = row->name,
					  .file = row->file,
					  .line = row->line,
					  .module = row->module};

		if (n_rest && !is_chosen(&choice, i, n_shown)) {
			add_up(&rest, row);
			continue;
		}
		mew_buffer_reset(&name);
		err = mew_pfunction_describe(&f, &name);
		if (!err)
			add_row(t, c, row, true, name.data);
		n_shown++;
	}
	if (n_rest && !err) {
		mew_buffer_reset(&name);
		err = mew_buffer_printf(&name, "%zu more functions", n_rest);
		if (!err)
			add_row(t, c, &rest, false, name.data);
	}
	if (!err)
		add_all(t, c);
	mew_buffer_done(&name);
	return err;
}

static bool has_figures(const struct mew_pcase *c)
{
	return c && mew_case_measured(c);
}

/* The next part of a head line, behind a colon or a comma; a newline is where a line may end, since
 * names and reasons come escaped. */
static void part(struct mew_buffer *head, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void part(struct mew_buffer *head, const char *format, ...)
{
	va_list ap;

	mew_buffer_puts(head, head->len && head->data[head->len - 1] == ':' ? " " : ",\n");
	va_start(ap, format);
	mew_buffer_vprintf(head, format, ap);
	va_end(ap);
}

static void reason_part(struct mew_buffer *head, const char *side, const struct mew_pcase *c)
{
	if (!c || c->result == MEW_RESULT_OK)
		return;
	part(head, "%s %s: ", side, c->result == MEW_RESULT_SKIPPED ? "skipped" : "failed");
	mew_text_escape(head, c->reason);
}

static void heap_parts(struct mew_buffer *head, const struct mew_heap_row *row, const char *per)
{
	struct mew_cell cell;

	part(head, "%s allocs%s", mew_cell_count(&cell, row->allocations_per_iteration), per);
	part(head, "peak %s", mew_cell_bytes(&cell, (double)row->peak_bytes));
	if (row->leaked_bytes)
		part(head, "held %s", mew_cell_bytes(&cell, (double)row->leaked_bytes));
}

static void time_parts(struct mew_buffer *head, const struct mew_report_case *c)
{
	const struct mew_cpu_row *row = &c->cpu->cpu;
	double kernel = mew_time_share(row, row->kernel_time_s);
	double off = mew_time_share(row, row->off_cpu_time_s);
	struct mew_cell cell;

	mew_format_percent(cell.text, sizeof(cell.text), c->all.tax_share, half_width(c));
	part(head, "allocator tax %s", cell.text);
	if (kernel >= SHARE_SHOWN)
		part(head, "kernel %s", mew_cell_percent(&cell, kernel));
	if (off >= SHARE_SHOWN)
		part(head, "off-CPU %s", mew_cell_percent(&cell, off));
}

static char mark_of(const struct mew_report_case *c)
{
	const struct mew_pcase *sides[2] = {c->cpu, c->heap};
	char mark = ' ';
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!sides[i])
			continue;
		if (sides[i]->result == MEW_RESULT_FAILED)
			return 'x';
		if (sides[i]->result == MEW_RESULT_SKIPPED)
			mark = '-';
		else if (sides[i]->doubtful && mark == ' ')
			mark = '!';
	}
	return mark;
}

/* The parts in as few lines as hold them, those after the first one indented. */
static void put_head(struct mew_buffer *out, char mark, char *parts, unsigned width)
{
	size_t line = out->len;
	char *rest = NULL;

	if (mark != ' ')
		mew_buffer_printf(out, "%c ", mark);
	for (char *at = strtok_r(parts, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
		size_t used = out->error ? 0 : mew_text_width(out->data + line);

		if (at == parts) {
			mew_buffer_puts(out, at);
		} else if (width && used + 1 + mew_text_width(at) > width) {
			mew_buffer_putc(out, '\n');
			line = out->len;
			mew_buffer_printf(out, "    %s", at);
		} else {
			mew_buffer_printf(out, " %s", at);
		}
	}
	mew_buffer_putc(out, '\n');
}

/* "split_line: 514.8 ns/iter, 14 allocs/iter, ..." */
static int head_line(const struct mew_report_case *c, bool whole, unsigned width,
		     struct mew_buffer *out)
{
	const char *per = whole ? "" : "/iter";
	struct mew_buffer head = MEW_BUFFER_INIT;
	struct mew_cell cell;
	int err;

	mew_text_escape(&head, c->key);
	if (*c->label) {
		mew_buffer_putc(&head, ' ');
		mew_text_escape(&head, c->label);
	}
	mew_buffer_putc(&head, ':');
	if (has_figures(c->cpu))
		part(&head, "%s%s", mew_cell_time(&cell, c->cpu->cpu.time_per_iteration_s), per);
	if (has_figures(c->heap))
		heap_parts(&head, &c->heap->heap, per);
	if (has_figures(c->cpu))
		time_parts(&head, c);
	reason_part(&head, "cpu", c->cpu);
	reason_part(&head, "mem", c->heap);
	if (!head.error)
		put_head(out, mark_of(c), head.data, width);
	err = head.error ? head.error : out->error;
	mew_buffer_done(&head);
	return err;
}

static int write_case(const struct mew_report *r, const struct mew_report_case *c,
		      const struct mew_output_options *o, struct mew_buffer *out, size_t *n_cut)
{
	struct mew_table_style style = {.width = o->width, .color = o->colour};
	struct mew_table *t;
	size_t cut = 0;
	int err = head_line(c, is_whole(r), o->width, out);

	if (err || (!has_figures(c->cpu) && !has_figures(c->heap)))
		return err;
	t = mew_table_new(is_whole(r) ? whole_columns : columns, N_COLUMNS);
	if (!t)
		return -ENOMEM;
	err = add_rows(t, c, o->top);
	if (!err)
		err = mew_table_render(t, &style, out, &cut);
	*n_cut += cut;
	mew_table_free(t);
	if (!err && has_figures(c->heap))
		err = mew_text_shape(c->heap, o, out);
	return err;
}

int mew_text_report(const struct mew_report *r, const struct mew_output_options *o,
		    struct mew_buffer *out, size_t *ret_n_cut)
{
	size_t n_cut = 0, i;
	int err = out->error;

	for (i = 0; i < r->n_cases && !err; i++) {
		if (i)
			mew_buffer_putc(out, '\n');
		err = write_case(r, &r->cases[i], o, out, &n_cut);
	}
	if (!err && ret_n_cut)
		*ret_n_cut = n_cut;
	return err;
}
