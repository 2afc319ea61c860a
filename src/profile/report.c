/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "profile/report.h"
#include "profile/roles.h"

/* Rows of stacks that name nobody. Their indices follow those of the functions. */
static const struct mew_pfunction nobody[] = {
	{.name = MEW_BROKEN_STACK, .file = "", .module = ""},
	{.name = "[no caller]", .file = "", .module = ""},
};
enum { BROKEN_STACK, NO_CALLER, N_NOBODY };

/* While a report is made. A function has one index in both sessions. */
struct join {
	const struct mew_session *cpu, *heap;
	uint32_t *index_of[2];                  /* function of cpu, of heap -> index */
	const struct mew_pfunction **functions; /* by index */
	size_t n, cap;
	uint32_t *row_of; /* index -> row + 1 of the case at hand; 0: none yet */
	uint64_t *seen;   /* index -> the last stack that counted it in TOTAL */
	uint64_t serial;
};

static int add_key(struct mew_bytes_map *map, struct mew_buffer *key, struct join *j,
		   const struct mew_pfunction *f, uint32_t *ret)
{
	uint64_t *at;
	bool is_new;

	mew_buffer_reset(key);
	mew_buffer_add(key, f->name, strlen(f->name) + 1);
	mew_buffer_add(key, f->file, strlen(f->file) + 1);
	mew_buffer_add(key, f->module, strlen(f->module) + 1);
	mew_buffer_add(key, &f->line, sizeof(f->line));
	if (key->error || MEW_ARRAY_PUSH(j->functions, j->n, j->cap))
		return -ENOMEM;
	at = mew_bytes_map_add(map, key->data, key->len, j->n, &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new)
		j->functions[j->n++] = f;
	*ret = (uint32_t)*at;
	return 0;
}

/* Gives the functions of both sessions, and nobody's, their indices. */
static int join_functions(struct join *j)
{
	const struct mew_session *sessions[2] = {j->cpu, j->heap};
	struct mew_bytes_map map;
	struct mew_buffer key = MEW_BUFFER_INIT;
	int err = 0;
	size_t side, i;

	mew_bytes_map_init(&map);
	for (side = 0; side < 2; side++) {
		const struct mew_session *s = sessions[side];

		if (!s)
			continue;
		j->index_of[side] = calloc(s->n_functions + 1, sizeof(*j->index_of[side]));
		err = j->index_of[side] ? 0 : -ENOMEM;
		for (i = 0; !err && i < s->n_functions; i++)
			err = add_key(&map, &key, j, &s->functions[i], &j->index_of[side][i]);
		if (err)
			goto out;
	}
	err = mew_array_grow(&j->functions, &j->cap, j->n + N_NOBODY, sizeof(*j->functions));
	if (err)
		goto out;
	for (i = 0; i < N_NOBODY; i++)
		j->functions[j->n + i] = &nobody[i];
	j->row_of = calloc(j->n + N_NOBODY, sizeof(*j->row_of));
	j->seen = calloc(j->n + N_NOBODY, sizeof(*j->seen));
	if (!j->row_of || !j->seen)
		err = -ENOMEM;
out:
	mew_bytes_map_done(&map);
	mew_buffer_done(&key);
	return err;
}

static struct mew_report_row *row_at(struct join *j, struct mew_report_case *c, size_t *cap,
				     uint32_t index)
{
	const struct mew_pfunction *f = j->functions[index];

	if (!j->row_of[index]) {
		if (MEW_ARRAY_PUSH(c->rows, c->n_rows, *cap))
			return NULL;
		c->rows[c->n_rows++] = (struct mew_report_row){
			.name = f->name, .file = f->file, .module = f->module, .line = f->line};
		j->row_of[index] = (uint32_t)c->n_rows;
	}
	return &c->rows[j->row_of[index] - 1];
}

/* The row that a stack's figures go to; function: MEW_NO_FUNCTION when it names nobody. */
static uint32_t blamed(const struct join *j, int side, const struct mew_pvalue *v,
		       uint32_t function)
{
	if (function != MEW_NO_FUNCTION)
		return j->index_of[side][function];
	return (uint32_t)j->n + (v->whole ? NO_CALLER : BROKEN_STACK);
}

static int add_totals(struct join *j, struct mew_report_case *c, size_t *cap, uint32_t from,
		      double weight_s)
{
	const struct mew_session *s = j->cpu;
	uint32_t at;

	j->serial++;
	for (at = from; at; at = s->stacks[at].parent) {
		uint32_t index = j->index_of[0][s->stacks[at].function];
		struct mew_report_row *row;

		if (j->seen[index] == j->serial)
			continue;
		j->seen[index] = j->serial;
		row = row_at(j, c, cap, index);
		if (!row)
			return -ENOMEM;
		row->total_s += weight_s;
	}
	return 0;
}

static int add_cpu(struct join *j, struct mew_report_case *c, size_t *cap)
{
	const struct mew_session *s = j->cpu;
	size_t i;

	for (i = 0; i < c->cpu->n_values; i++) {
		const struct mew_pvalue *v = &c->cpu->values[i];
		struct mew_blame blame = mew_stack_blame(s, v->stack);
		uint32_t leaf = v->stack ? s->stacks[v->stack].function : MEW_NO_FUNCTION;
		uint32_t index = blamed(j, 0, v, blame.taxed ? blame.function : leaf);
		struct mew_report_row *row;

		if (add_totals(j, c, cap, blame.outside, v->weight_s))
			return -ENOMEM;
		row = row_at(j, c, cap, index);
		if (!row)
			return -ENOMEM;
		if (index >= j->n)
			row->total_s += v->weight_s;
		if (blame.taxed)
			row->tax_s += v->weight_s;
		else
			row->self_s += v->weight_s;
	}
	return 0;
}

static int add_heap(struct join *j, struct mew_report_case *c, size_t *cap)
{
	size_t i;

	for (i = 0; i < c->heap->n_values; i++) {
		const struct mew_pvalue *v = &c->heap->values[i];
		struct mew_blame blame = mew_stack_blame(j->heap, v->stack);
		struct mew_report_row *row = row_at(j, c, cap, blamed(j, 1, v, blame.function));

		if (!row)
			return -ENOMEM;
		row->allocations += (double)v->allocations;
		row->bytes += (double)v->bytes;
		row->peak_bytes += (double)v->peak_bytes;
		row->held_bytes += (double)v->held_bytes;
	}
	return 0;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* Sums, means, shares, and NAN in what was not measured. */
static void finish_rows(struct mew_report_case *c)
{
	struct mew_report_row *all = &c->all;
	double user_s = 0, iterations = NAN;
	size_t i;

	*all = (struct mew_report_row){.name = "all", .file = "", .module = ""};
	for (i = 0; i < c->n_rows; i++) {
		const struct mew_report_row *row = &c->rows[i];

		all->self_s += row->self_s;
		all->tax_s += row->tax_s;
		all->allocations += row->allocations;
		all->bytes += row->bytes;
		all->peak_bytes += row->peak_bytes;
		all->held_bytes += row->held_bytes;
	}
	all->total_s = user_s = all->self_s + all->tax_s;
	if (c->heap && c->heap->heap.iterations)
		iterations = (double)c->heap->heap.iterations;
	for (i = 0; i <= c->n_rows; i++) {
		struct mew_report_row *row = i < c->n_rows ? &c->rows[i] : all;

		row->allocations /= iterations;
		row->bytes /= iterations;
		row->self_share = ratio(row->self_s, user_s);
		row->tax_share = ratio(row->tax_s, user_s);
		row->total_share = ratio(row->total_s, user_s);
		row->peak_share = ratio(row->peak_bytes, all->peak_bytes);
		if (!c->cpu)
			row->self_s = row->tax_s = row->total_s = row->self_share = row->tax_share =
				row->total_share = NAN;
		if (!c->heap)
			row->peak_bytes = row->peak_share = row->held_bytes = NAN;
	}
}

static int fill_case(struct join *j, struct mew_report_case *c)
{
	size_t cap = 0;
	int err = 0;

	memset(j->row_of, 0, (j->n + N_NOBODY) * sizeof(*j->row_of));
	if (c->cpu)
		err = add_cpu(j, c, &cap);
	if (!err && c->heap)
		err = add_heap(j, c, &cap);
	if (!err)
		finish_rows(c);
	return err;
}

static bool is_same_case(const struct mew_pcase *a, const struct mew_pcase *b)
{
	return !strcmp(a->key, b->key) && !strcmp(a->label, b->label);
}

/*
 * A case may be there several times (repetitions): the first finds the first, the second the
 * second, and what finds none of its own takes the first again.
 */
static const struct mew_pcase *partner(const struct mew_session *heap, const struct mew_pcase *c,
				       bool *used)
{
	const struct mew_pcase *first = NULL;
	size_t i;

	for (i = 0; heap && i < heap->n_cases; i++) {
		if (!is_same_case(&heap->cases[i], c))
			continue;
		if (!used[i]) {
			used[i] = true;
			return &heap->cases[i];
		}
		if (!first)
			first = &heap->cases[i];
	}
	return first;
}

static int pair_cases(struct mew_report *r, const struct mew_session *cpu,
		      const struct mew_session *heap)
{
	size_t n_cpu = cpu ? cpu->n_cases : 0, n_heap = heap ? heap->n_cases : 0, i;
	bool *used = calloc(n_heap + 1, sizeof(*used));

	r->cases = calloc(n_cpu + n_heap + 1, sizeof(*r->cases));
	if (!used || !r->cases) {
		free(used);
		return -ENOMEM;
	}
	for (i = 0; i < n_cpu; i++) {
		const struct mew_pcase *c = &cpu->cases[i];

		r->cases[r->n_cases++] = (struct mew_report_case){
			.key = c->key, .label = c->label, .cpu = c, .heap = partner(heap, c, used)};
	}
	for (i = 0; i < n_heap; i++) {
		const struct mew_pcase *c = &heap->cases[i];

		if (!used[i])
			r->cases[r->n_cases++] = (struct mew_report_case){
				.key = c->key, .label = c->label, .heap = c};
	}
	free(used);
	return 0;
}

struct mew_report *mew_report_new(const struct mew_session *cpu, const struct mew_session *heap)
{
	struct join j = {.cpu = cpu, .heap = heap};
	struct mew_report *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;
	size_t i;

	if (!r)
		return NULL;
	r->cpu = cpu;
	r->heap = heap;
	if (pair_cases(r, cpu, heap) || join_functions(&j))
		goto out;
	err = 0;
	for (i = 0; !err && i < r->n_cases; i++)
		err = fill_case(&j, &r->cases[i]);
	mew_report_sort(r, MEW_SORT_BLAME);
out:
	free(j.index_of[0]);
	free(j.index_of[1]);
	free(j.functions);
	free(j.row_of);
	free(j.seen);
	if (err) {
		mew_report_free(r);
		return NULL;
	}
	return r;
}

void mew_report_free(struct mew_report *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n_cases; i++)
		free(r->cases[i].rows);
	free(r->cases);
	free(r);
}

void mew_report_keep(struct mew_report *r, int (*keep)(void *arg, const struct mew_report_case *c),
		     void *arg)
{
	size_t n = 0, i;

	for (i = 0; i < r->n_cases; i++) {
		if (keep(arg, &r->cases[i]))
			r->cases[n++] = r->cases[i];
		else
			free(r->cases[i].rows);
	}
	r->n_cases = n;
}

static const char *const sort_words[] = {
	[MEW_SORT_BLAME] = "blame", [MEW_SORT_SELF] = "self",          [MEW_SORT_TAX] = "tax",
	[MEW_SORT_TOTAL] = "total", [MEW_SORT_ALLOCATIONS] = "allocs", [MEW_SORT_BYTES] = "bytes",
	[MEW_SORT_PEAK] = "peak",   [MEW_SORT_HELD] = "held",          [MEW_SORT_NAME] = "name",
};

const char *mew_report_sort_word(enum mew_report_sort by)
{
	return (size_t)by < sizeof(sort_words) / sizeof(sort_words[0]) ? sort_words[by] : NULL;
}

int mew_report_sort_parse(const char *word, enum mew_report_sort *ret)
{
	size_t i;

	for (i = 0; i < sizeof(sort_words) / sizeof(sort_words[0]); i++) {
		if (strcmp(word, sort_words[i]))
			continue;
		*ret = (enum mew_report_sort)i;
		return 0;
	}
	return -EINVAL;
}

static double sort_value(const struct mew_report_row *row, enum mew_report_sort by)
{
	switch (by) {
	case MEW_SORT_BLAME:
		return row->self_s + row->tax_s;
	case MEW_SORT_SELF:
		return row->self_s;
	case MEW_SORT_TAX:
		return row->tax_s;
	case MEW_SORT_TOTAL:
		return row->total_s;
	case MEW_SORT_ALLOCATIONS:
		return row->allocations;
	case MEW_SORT_BYTES:
		return row->bytes;
	case MEW_SORT_PEAK:
		return row->peak_bytes;
	case MEW_SORT_HELD:
		return row->held_bytes;
	case MEW_SORT_NAME:
		break;
	}
	return 0;
}

/* Larger first; not measured is not larger than anything. */
static int descending(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_rows(const void *va, const void *vb, void *arg)
{
	const struct mew_report_row *a = va, *b = vb;
	enum mew_report_sort by = *(const enum mew_report_sort *)arg;
	int order = descending(sort_value(a, by), sort_value(b, by));

	if (!order && by != MEW_SORT_NAME)
		order = descending(sort_value(a, MEW_SORT_BLAME), sort_value(b, MEW_SORT_BLAME));
	if (!order && by != MEW_SORT_NAME)
		order = descending(a->bytes, b->bytes);
	if (!order && by != MEW_SORT_NAME)
		order = descending(a->total_s, b->total_s);
	if (order)
		return order;
	return mew_pfunction_compare(
		&(struct mew_pfunction){
			.name = a->name, .file = a->file, .line = a->line, .module = a->module},
		&(struct mew_pfunction){
			.name = b->name, .file = b->file, .line = b->line, .module = b->module});
}

void mew_report_sort(struct mew_report *r, enum mew_report_sort by)
{
	size_t i;

	for (i = 0; i < r->n_cases; i++)
		if (r->cases[i].n_rows)
			qsort_r(r->cases[i].rows, r->cases[i].n_rows, sizeof(*r->cases[i].rows),
				compare_rows, &by);
}
