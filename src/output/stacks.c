/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/cell.h"
#include "output/folded.h"
#include "output/output.h"

static const char *const titles[] = {
	[MEW_STACKS_CPU] = "where the time goes",
	[MEW_STACKS_PEAK] = "what the peak holds",
	[MEW_STACKS_HELD] = "what is held at the loop's end",
};

static double value_of(const struct mew_pvalue *v, enum mew_stack_view view)
{
	switch (view) {
	case MEW_STACKS_CPU:
		return v->weight_s;
	case MEW_STACKS_PEAK:
		return (double)v->peak_bytes;
	case MEW_STACKS_HELD:
		return (double)v->held_bytes;
	}
	return 0;
}

/* Largest first; equal ones as they came. */
struct order {
	const struct mew_pvalue *value;
	double size;
	size_t place;
};

static int by_size(const void *va, const void *vb)
{
	const struct order *a = va, *b = vb;

	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Appends text in what is left of the width behind `indent` columns. */
static void put_line(struct mew_buffer *out, const char *text, size_t indent, unsigned width)
{
	struct mew_buffer safe = MEW_BUFFER_INIT;

	mew_text_escape(&safe, text);
	if (width > indent + 12)
		mew_text_shorten(out, safe.data, width - indent, NULL);
	else
		mew_buffer_puts(out, safe.data);
	mew_buffer_putc(out, '\n');
	if (safe.error)
		out->error = safe.error;
	mew_buffer_done(&safe);
}

/* The frames, innermost first, below the figure of the stack. */
static void put_frames(const struct mew_session *s, const struct mew_pvalue *v, size_t indent,
		       const struct mew_output_options *o, struct mew_buffer *out)
{
	struct mew_buffer line = MEW_BUFFER_INIT;
	uint32_t at;

	for (at = v->stack; at; at = s->stacks[at].parent) {
		mew_buffer_reset(&line);
		if (s->stacks[at].inlined)
			mew_buffer_puts(&line, "(inlined) ");
		mew_pfunction_describe(&s->functions[s->stacks[at].function], &line);
		if (at != v->stack)
			mew_buffer_fill(out, ' ', indent);
		put_line(out, line.data, indent, o->width);
	}
	if (mew_folded_lacks_mark(s, v)) {
		if (v->stack)
			mew_buffer_fill(out, ' ', indent);
		mew_buffer_puts(out, MEW_BROKEN_STACK "\n");
	} else if (!v->stack) {
		mew_buffer_puts(out, "[no caller]\n");
	}
	if (line.error)
		out->error = line.error;
	mew_buffer_done(&line);
}

static void put_stack(const struct mew_session *s, const struct order *stack, double all,
		      enum mew_stack_view view, const struct mew_output_options *o,
		      struct mew_buffer *out)
{
	size_t start = out->len;
	struct mew_cell cell;

	mew_buffer_printf(out, "%6s  ", mew_cell_percent(&cell, stack->size / all));
	if (view == MEW_STACKS_CPU)
		mew_buffer_printf(out, "%9s  ", mew_cell_time(&cell, stack->size));
	else
		mew_buffer_printf(out, "%9s  ", mew_cell_bytes(&cell, stack->size));
	put_frames(s, stack->value, out->len - start, o, out);
}

static int put_case(const struct mew_session *s, const struct mew_pcase *c,
		    enum mew_stack_view view, const struct mew_output_options *o,
		    struct mew_buffer *out)
{
	struct mew_pvalue *values = NULL;
	struct order *order = NULL;
	size_t n = 0, n_shown = 0, i;
	double all = 0, rest = 0;
	struct mew_cell cell;
	int err = mew_folded(s, c, &values, &n);

	if (err)
		return err;
	order = calloc(n + 1, sizeof(*order));
	if (!order) {
		free(values);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		order[i] = (struct order){&values[i], value_of(&values[i], view), i};
		all += order[i].size;
	}
	qsort(order, n, sizeof(*order), by_size);
	mew_text_escape(out, c->key);
	if (*c->label) {
		mew_buffer_putc(out, ' ');
		mew_text_escape(out, c->label);
	}
	mew_buffer_printf(out, ": %s%s\n", titles[view], all > 0 ? "" : ": nothing");
	for (i = 0; i < n && order[i].size > 0; i++) {
		if (o->top && n_shown == o->top) {
			rest += order[i].size;
			continue;
		}
		put_stack(s, &order[i], all, view, o, out);
		n_shown++;
	}
	if (rest > 0)
		mew_buffer_printf(out, "%6s  in more stacks\n",
				  mew_cell_percent(&cell, rest / all));
	free(order);
	free(values);
	return out->error;
}

int mew_output_stacks(const struct mew_report *r, enum mew_stack_view view,
		      const struct mew_output_options *o, struct mew_buffer *out)
{
	const struct mew_session *s = view == MEW_STACKS_CPU ? r->cpu : r->heap;
	int err = out->error, first = 1;
	size_t i;

	for (i = 0; i < r->n_cases && !err; i++) {
		const struct mew_pcase *c =
			view == MEW_STACKS_CPU ? r->cases[i].cpu : r->cases[i].heap;

		if (!c || !mew_case_measured(c))
			continue;
		if (!first)
			mew_buffer_putc(out, '\n');
		first = 0;
		err = put_case(s, c, view, o, out);
	}
	return err;
}
