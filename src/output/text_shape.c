/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of a heap case as lines of text: curve, peaks of the iterations, sizes, mappings. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "output/cell.h"
#include "output/text.h"

enum { LABEL_COLUMNS = 10, CURVE_COLUMNS = 64, BAR_COLUMNS = 24, LEVELS = 8 };

/* From nothing to the peak. */
static const char *const blocks[LEVELS + 1] = {"_", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[LEVELS + 1] = {"_", ".", ":", "-", "=", "+", "*", "#", "@"};

static void label(struct mew_buffer *out, const char *text)
{
	mew_buffer_printf(out, "  %-*s", LABEL_COLUMNS - 2, text);
}

static int64_t highest(const int64_t *points, size_t n)
{
	int64_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (points[i] > most)
			most = points[i];
	return most;
}

static unsigned level_of(int64_t value, int64_t most)
{
	return value > 0 ? (unsigned)ceil((double)value / (double)most * LEVELS) : 0;
}

static void curve(const struct mew_pcase *c, const struct mew_output_options *o,
		  struct mew_buffer *out)
{
	size_t n = CURVE_COLUMNS;
	int64_t points[CURVE_COLUMNS], most;
	uint64_t over = c->shape.n_points * c->shape.width;
	struct mew_cell cell;

	if (!c->shape.n_points)
		return;
	if (o->width && o->width < LABEL_COLUMNS + CURVE_COLUMNS)
		n = o->width > LABEL_COLUMNS ? o->width - LABEL_COLUMNS : 1;
	n = mew_shape_reduce(&c->shape, n, points);
	most = highest(points, n);
	label(out, "live");
	for (size_t i = 0; i < n; i++)
		mew_buffer_puts(out, (o->utf8 ? blocks : letters)[level_of(points[i], most)]);
	mew_buffer_putc(out, '\n');
	label(out, "");
	mew_buffer_printf(out, "up to %s over", mew_cell_bytes(&cell, (double)most));
	/* Of several images of a program the curve is of one. */
	if (c->heap.total_allocations < over)
		over = c->heap.total_allocations;
	mew_buffer_printf(out, " %s allocation%s\n", mew_cell_u64(&cell, over),
			  over == 1 ? "" : "s");
}

static void iterations(const struct mew_heap_row *row, struct mew_buffer *out)
{
	struct mew_cell cell;

	if (isnan(row->iteration_peak_min) || row->iterations < 2)
		return;
	label(out, "peaks");
	mew_buffer_printf(out, "of an iteration: %s",
			  mew_cell_bytes(&cell, row->iteration_peak_min));
	if (row->iteration_peak_min < row->iteration_peak_max) {
		mew_buffer_printf(out, " to %s", mew_cell_bytes(&cell, row->iteration_peak_max));
		mew_buffer_printf(out, ", median %s",
				  mew_cell_bytes(&cell, row->iteration_peak_median));
	}
	mew_buffer_putc(out, '\n');
}

static void sizes(const struct mew_pcase *c, const struct mew_output_options *o,
		  struct mew_buffer *out)
{
	const struct mew_shape *shape = &c->shape;
	uint64_t all = 0, most = 0;
	struct mew_cell cell;

	for (size_t i = 0; i < shape->n_sizes; i++) {
		all += shape->sizes[i].allocations;
		if (shape->sizes[i].allocations > most)
			most = shape->sizes[i].allocations;
	}
	for (size_t i = 0; i < shape->n_sizes; i++) {
		const struct mew_shape_size *size = &shape->sizes[i];
		double share = (double)size->allocations / (double)all;
		unsigned bar =
			(unsigned)ceil((double)size->allocations / (double)most * BAR_COLUMNS);

		label(out, i ? "" : "sizes");
		mew_buffer_printf(out, "%s %9s", size->most > 1 ? "<=" : "  ",
				  mew_cell_bytes(&cell, (double)size->most));
		mew_buffer_printf(out, "  %10" PRIu64, size->allocations);
		mew_buffer_printf(out, "  %4s  ", mew_cell_percent(&cell, share));
		while (bar--)
			mew_buffer_puts(out, o->utf8 ? blocks[LEVELS] : "#");
		mew_buffer_putc(out, '\n');
	}
}

static void mappings(const struct mew_heap_row *row, struct mew_buffer *out)
{
	struct mew_cell cell;

	if (isnan(row->mapped_calls))
		return;
	label(out, "mmap");
	mew_buffer_printf(out, "%s calls", mew_cell_count(&cell, row->mapped_calls));
	mew_buffer_printf(out, ", %s mapped", mew_cell_bytes(&cell, row->mapped_bytes));
	mew_buffer_printf(out, ", peak %s", mew_cell_bytes(&cell, row->mapped_peak_bytes));
	mew_buffer_printf(out, ", held %s\n", mew_cell_bytes(&cell, row->mapped_held_bytes));
}

static void hook(const struct mew_heap_row *row, struct mew_buffer *out)
{
	struct mew_cell cell;

	if (isnan(row->hook_bytes))
		return;
	label(out, "hook");
	mew_buffer_printf(out, "%s of memory of its own\n", mew_cell_bytes(&cell, row->hook_bytes));
}

int mew_text_shape(const struct mew_pcase *c, const struct mew_output_options *o,
		   struct mew_buffer *out)
{
	if (o->verbose) {
		curve(c, o, out);
		iterations(&c->heap, out);
		sizes(c, o, out);
	}
	mappings(&c->heap, out);
	if (o->verbose)
		hook(&c->heap, out);
	return out->error;
}

int mew_text_shapes(const struct mew_session *s, const struct mew_output_options *o,
		    struct mew_buffer *out)
{
	for (size_t i = 0; i < s->n_cases; i++) {
		const struct mew_pcase *c = &s->cases[i];

		if (!mew_case_measured(c) || (!o->verbose && isnan(c->heap.mapped_calls)))
			continue;
		mew_buffer_putc(out, '\n');
		mew_text_escape(out, c->key);
		mew_buffer_puts(out, *c->label ? " " : "");
		mew_text_escape(out, c->label);
		mew_buffer_putc(out, '\n');
		mew_text_shape(c, o, out);
	}
	return out->error;
}
