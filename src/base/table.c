/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/table.h"
#include "base/array.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Optional columns come while the last one keeps that many columns (or all that it needs). */
enum { LAST_KEEPS = 26, LAST_LEAST = 12, GAP = 2, MARK_WIDTH = 2 };

#define RED "\033[31m"
#define GREEN "\033[32m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

struct row {
	char mark;    /* '\0' = a section */
	size_t first; /* of its cells in cells[], or of the section's text */
	size_t n;
};

struct mew_table {
	const struct mew_column *columns;
	size_t n_columns;
	struct row *rows;
	size_t n_rows, cap_rows;
	size_t *cells; /* where each text begins in text */
	size_t n_cells, cap_cells;
	struct mew_buffer text; /* escaped, NUL terminated one after the other */
	int error;
};

/* How the table is laid out for one width. */
struct layout {
	bool *shown;
	size_t *widths;    /* of each column's title and cells */
	size_t *fractions; /* MEW_ALIGN_POINT: the longest part from the point on */
};

struct mew_table *mew_table_new(const struct mew_column *columns, size_t n_columns)
{
	struct mew_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	t->n_columns = n_columns;
	mew_buffer_init(&t->text);
	return t;
}

void mew_table_free(struct mew_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t->cells);
	mew_buffer_done(&t->text);
	free(t);
}

static void add_text(struct mew_table *t, const char *text)
{
	size_t start = t->text.len;

	if (t->error)
		return;
	t->error = MEW_ARRAY_PUSH(t->cells, t->n_cells, t->cap_cells);
	if (t->error)
		return;
	mew_text_escape(&t->text, text);
	mew_buffer_putc(&t->text, '\0');
	t->error = t->text.error;
	if (!t->error) {
		t->cells[t->n_cells++] = start;
		t->rows[t->n_rows - 1].n++;
	}
}

static void add_row(struct mew_table *t, char mark)
{
	if (!t->error)
		t->error = MEW_ARRAY_PUSH(t->rows, t->n_rows, t->cap_rows);
	if (!t->error)
		t->rows[t->n_rows++] = (struct row){.mark = mark, .first = t->n_cells};
}

void mew_table_row(struct mew_table *t, char mark)
{
	add_row(t, mark);
}

void mew_table_cell(struct mew_table *t, const char *text)
{
	if (t->n_rows && t->rows[t->n_rows - 1].mark && t->rows[t->n_rows - 1].n < t->n_columns)
		add_text(t, text);
}

void mew_table_cellf(struct mew_table *t, const char *fmt, ...)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	va_list ap;

	va_start(ap, fmt);
	mew_buffer_vprintf(&text, fmt, ap);
	va_end(ap);
	if (text.error && !t->error)
		t->error = text.error;
	mew_table_cell(t, text.data);
	mew_buffer_done(&text);
}

void mew_table_section(struct mew_table *t, const char *text)
{
	add_row(t, '\0');
	add_text(t, text);
}

size_t mew_table_rows(const struct mew_table *t)
{
	size_t n = 0, i;

	for (i = 0; i < t->n_rows; i++)
		n += t->rows[i].mark != '\0';
	return n;
}

static const char *cell_text(const struct mew_table *t, const struct row *row, size_t column)
{
	return column < row->n ? t->text.data + t->cells[row->first + column] : "";
}

static bool is_zero(const char *cell)
{
	return !*cell || !strcmp(cell, "0") || !strcmp(cell, "0%") || !strcmp(cell, "-");
}

/* From the decimal point on; `-` and words have no such part. */
static size_t fraction_width(const char *cell)
{
	const char *point = strchr(cell, '.');

	return point ? mew_text_width(point) : 0;
}

static void measure(const struct mew_table *t, struct layout *l)
{
	size_t c, r;

	for (c = 0; c < t->n_columns; c++) {
		const struct mew_column *column = &t->columns[c];
		bool any = false;

		for (r = 0; r < t->n_rows; r++) {
			if (!t->rows[r].mark)
				continue;
			any |= !is_zero(cell_text(t, &t->rows[r], c));
			if (fraction_width(cell_text(t, &t->rows[r], c)) > l->fractions[c] &&
			    column->align == MEW_ALIGN_POINT)
				l->fractions[c] = fraction_width(cell_text(t, &t->rows[r], c));
		}
		l->widths[c] = mew_text_width(column->title);
		for (r = 0; r < t->n_rows; r++) {
			const char *cell = cell_text(t, &t->rows[r], c);
			size_t width = mew_text_width(cell);

			if (!t->rows[r].mark)
				continue;
			if (column->align == MEW_ALIGN_POINT)
				width += l->fractions[c] - fraction_width(cell);
			if (width > l->widths[c])
				l->widths[c] = width;
		}
		l->shown[c] = !column->worth && !(column->hide_zero && !any);
	}
	if (t->n_columns)
		l->shown[t->n_columns - 1] = true;
}

/* Where the last column begins. */
static size_t last_start(const struct mew_table *t, const struct layout *l)
{
	size_t start = MARK_WIDTH, c;

	for (c = 0; c + 1 < t->n_columns; c++)
		if (l->shown[c])
			start += l->widths[c] + GAP;
	return start;
}

/* Shows or hides the columns of one worth; returns whether there is a column of a higher one. */
static bool set_worth(const struct mew_table *t, struct layout *l, int worth, bool shown)
{
	bool more = false, any;
	size_t c, r;

	for (c = 0; c + 1 < t->n_columns; c++) {
		more |= t->columns[c].worth > worth;
		if (t->columns[c].worth != worth)
			continue;
		any = !t->columns[c].hide_zero;
		for (r = 0; r < t->n_rows && !any; r++)
			any = t->rows[r].mark && !is_zero(cell_text(t, &t->rows[r], c));
		l->shown[c] = shown && any;
	}
	return more;
}

static void choose_columns(const struct mew_table *t, struct layout *l, size_t width)
{
	size_t keeps;
	bool more = true;
	int worth;

	if (!t->n_columns)
		return;
	keeps = l->widths[t->n_columns - 1];
	if (keeps > LAST_KEEPS)
		keeps = LAST_KEEPS;
	for (worth = 1; more; worth++) {
		more = set_worth(t, l, worth, true);
		if (width && last_start(t, l) + keeps > width) {
			set_worth(t, l, worth, false);
			break;
		}
	}
}

static void trim_line(struct mew_buffer *out, size_t line)
{
	while (out->len > line && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

static void put_cell(struct mew_buffer *out, const struct layout *l, size_t c, enum mew_align align,
		     const char *text)
{
	size_t width = mew_text_width(text), after = 0;

	if (align == MEW_ALIGN_POINT && l->fractions[c] > fraction_width(text))
		after = l->fractions[c] - fraction_width(text);
	/* A title may be wider than the room before the point. */
	if (width + after > l->widths[c])
		after = l->widths[c] - width;
	if (align != MEW_ALIGN_LEFT)
		mew_buffer_fill(out, ' ', l->widths[c] - width - after);
	mew_buffer_puts(out, text);
	if (align == MEW_ALIGN_LEFT)
		after = l->widths[c] - width;
	mew_buffer_fill(out, ' ', after + GAP);
}

static void put_header(const struct mew_table *t, const struct layout *l, bool color,
		       struct mew_buffer *out)
{
	size_t line, c;

	if (color)
		mew_buffer_puts(out, BOLD);
	line = out->len;
	mew_buffer_fill(out, ' ', MARK_WIDTH);
	for (c = 0; c < t->n_columns; c++) {
		enum mew_align align = t->columns[c].align;

		if (align == MEW_ALIGN_POINT)
			align = MEW_ALIGN_RIGHT;
		if (l->shown[c])
			put_cell(out, l, c, c + 1 < t->n_columns ? align : MEW_ALIGN_LEFT,
				 t->columns[c].title);
	}
	trim_line(out, line);
	mew_buffer_puts(out, color ? PLAIN "\n" : "\n");
}

static void put_mark(struct mew_buffer *out, char mark, bool color)
{
	const char *paint = mark == '!' || mark == 'x' ? RED : mark == '+' ? GREEN : NULL;

	if (color && paint)
		mew_buffer_printf(out, "%s%c" PLAIN " ", paint, mark);
	else
		mew_buffer_printf(out, "%c ", mark);
}

/* The last cell, in `room` columns (0 = no limit). Returns whether more than its location is gone.
 */
static bool put_last(struct mew_buffer *out, const char *text, size_t room, bool color)
{
	size_t start = out->len, location;
	bool cut = false;

	if (room)
		mew_text_shorten(out, text, room, &cut);
	else
		mew_buffer_puts(out, text);
	location = out->error ? 0 : mew_text_location(out->data + start);
	if (color && !out->error && !cut && out->data[start + location]) {
		out->len = start + location;
		out->data[out->len] = '\0';
		mew_buffer_printf(out, DIM "%s" PLAIN, text + location);
	}
	return cut;
}

static bool put_row(const struct mew_table *t, const struct layout *l, const struct row *row,
		    const struct mew_table_style *style, struct mew_buffer *out)
{
	size_t line = out->len, start = last_start(t, l), room = 0, c;
	bool cut = false;

	if (style->width)
		room = style->width > start + LAST_LEAST ? style->width - start : LAST_LEAST;
	put_mark(out, row->mark, style->color);
	for (c = 0; c < t->n_columns; c++) {
		if (!l->shown[c])
			continue;
		if (c + 1 < t->n_columns)
			put_cell(out, l, c, t->columns[c].align, cell_text(t, row, c));
		else
			cut = put_last(out, cell_text(t, row, c), room, style->color);
	}
	trim_line(out, line);
	mew_buffer_putc(out, '\n');
	return cut;
}

int mew_table_render(const struct mew_table *t, const struct mew_table_style *style,
		     struct mew_buffer *out, size_t *ret_n_cut)
{
	struct layout l = {0};
	size_t n_cut = 0, r;
	int rc = t->error;

	if (rc)
		return rc;
	l.shown = calloc(t->n_columns + 1, sizeof(*l.shown));
	l.widths = calloc(t->n_columns + 1, sizeof(*l.widths));
	l.fractions = calloc(t->n_columns + 1, sizeof(*l.fractions));
	if (!l.shown || !l.widths || !l.fractions) {
		rc = -ENOMEM;
		goto out;
	}
	measure(t, &l);
	choose_columns(t, &l, style->width);
	put_header(t, &l, style->color, out);
	for (r = 0; r < t->n_rows; r++) {
		const struct row *row = &t->rows[r];

		if (row->mark) {
			n_cut += put_row(t, &l, row, style, out);
		} else {
			mew_buffer_puts(out, cell_text(t, row, 0));
			mew_buffer_putc(out, '\n');
		}
	}
	rc = out->error;
	if (!rc && ret_n_cut)
		*ret_n_cut = n_cut;
out:
	free(l.shown);
	free(l.widths);
	free(l.fractions);
	return rc;
}
