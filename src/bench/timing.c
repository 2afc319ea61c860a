/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/timing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/csv.h"
#include "base/number.h"
#include "bench/statistic.h"

/* A row's figures, s and Hz; NAN: not measured. A cv row holds shares. */
enum { TIME, CPU, ITERATIONS, BYTES, ITEMS, N_FIGURES };
struct figures {
	double of[N_FIGURES];
};

enum { MEDIAN, MEAN, STDDEV, CV, N_STATISTICS };
static const char *const statistic_names[] = {"median", "mean", "stddev", "cv"};

/* Which columns some case fills. */
struct columns {
	bool label, statistic, bytes, items, note;
	const char **counters; /* owned; the names are the results' */
	size_t n_counters, cap_counters;
};

static const char *note_of(const struct mew_result *r)
{
	if (r->text[0])
		return r->text;
	if (r->left_early)
		return "the loop was left early";
	return mew_result_pauses_dominate(r) ? "pauses cost more than 10% of it" : "";
}

static int columns_init(struct columns *c, struct mew_result *const *results, size_t n)
{
	size_t i, j;
	unsigned k;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < n; i++) {
		const struct mew_result *r = results[i];

		c->label |= r->label[0] != '\0';
		c->statistic |= r->n_repetitions > 1;
		c->bytes |= r->bytes > 0;
		c->items |= r->items > 0;
		c->note |= note_of(r)[0] != '\0';
		for (k = 0; k < r->n_counters; k++) {
			for (j = 0; j < c->n_counters; j++) {
				if (strcmp(c->counters[j], r->counters[k].name) == 0)
					break;
			}
			if (j < c->n_counters)
				continue;
			if (MEW_ARRAY_PUSH(c->counters, c->n_counters, c->cap_counters) != 0)
				return -ENOMEM;
			c->counters[c->n_counters++] = r->counters[k].name;
		}
	}
	return 0;
}

static bool has_figures(const struct mew_result *r)
{
	return r->status == MEW_CASE_OK && r->n_repetitions > 0;
}

static struct figures figures_of(const struct mew_result *r, const struct mew_round *round)
{
	double n = (double)round->iterations, wall_s = (double)round->wall_ns * 1e-9;
	struct figures f;

	f.of[TIME] = (double)round->loop_ns * 1e-9 / n;
	f.of[CPU] = (double)round->cpu_ns * 1e-9 / n;
	f.of[ITERATIONS] = n;
	f.of[BYTES] = r->bytes > 0 ? r->bytes * n / wall_s : NAN;
	f.of[ITEMS] = r->items > 0 ? r->items * n / wall_s : NAN;
	return f;
}

/* The four statistics of each figure over the repetitions. */
static int statistics_of(const struct mew_result *r, struct figures ret[N_STATISTICS])
{
	double *values = malloc(r->n_repetitions * sizeof(*values));
	size_t which;
	unsigned i;

	if (!values)
		return -ENOMEM;
	for (which = 0; which < N_FIGURES; which++) {
		struct mew_statistic s;

		for (i = 0; i < r->n_repetitions; i++) {
			values[i] = figures_of(r, &r->repetitions[i]).of[which];
		}
		s = mew_statistic_of(values, r->n_repetitions);
		ret[MEDIAN].of[which] = s.median;
		ret[MEAN].of[which] = s.mean;
		ret[STDDEV].of[which] = s.stddev;
		ret[CV].of[which] = s.cv;
	}
	free(values);
	return 0;
}

static const struct mew_result_counter *find_counter(const struct mew_result *r, const char *name)
{
	unsigned i;

	for (i = 0; i < r->n_counters; i++) {
		if (strcmp(r->counters[i].name, name) == 0)
			return &r->counters[i];
	}
	return NULL;
}

/* ---- text ---- */

static void share_cell(struct mew_table *t, double share)
{
	char text[MEW_NUMBER_SIZE];

	/* One decimal: a spread is not a share of samples. */
	mew_table_cell(t, isnan(share) ? "-" : mew_format_percent(text, sizeof(text), share, 0));
}

static void figure_cells(struct mew_table *t, const struct columns *c, const struct figures *f,
			 bool shares)
{
	char text[MEW_NUMBER_SIZE];

	if (shares) {
		share_cell(t, f->of[TIME]);
		share_cell(t, f->of[CPU]);
		mew_table_cell(t, "-");
		if (c->bytes)
			share_cell(t, f->of[BYTES]);
		if (c->items)
			share_cell(t, f->of[ITEMS]);
		return;
	}
	mew_table_cell(t, mew_format_time(text, sizeof(text), f->of[TIME]));
	mew_table_cell(t, mew_format_time(text, sizeof(text), f->of[CPU]));
	mew_table_cell(t, mew_format_count(text, sizeof(text), f->of[ITERATIONS]));
	if (c->bytes)
		mew_table_cell(t, mew_format_rate(text, sizeof(text), f->of[BYTES], "B/s"));
	if (c->items)
		mew_table_cell(t, mew_format_rate(text, sizeof(text), f->of[ITEMS], "/s"));
}

static void counter_cell(struct mew_table *t, const struct mew_result_counter *counter)
{
	char text[MEW_NUMBER_SIZE];

	if (!counter)
		mew_table_cell(t, "-");
	else if (counter->is_rate)
		mew_table_cell(t, mew_format_rate(text, sizeof(text), counter->value, "/s"));
	else
		mew_table_cell(t, mew_format_count(text, sizeof(text), counter->value));
}

static void text_row(struct mew_table *t, const struct columns *c, const struct mew_result *r,
		     const char *statistic, const struct figures *f, bool shares)
{
	static const struct figures none = {{NAN, NAN, NAN, NAN, NAN}};
	char mark = ' ';
	size_t i;

	if (r->status != MEW_CASE_OK)
		mark = r->status == MEW_CASE_SKIPPED ? '-' : 'x';
	else if (r->left_early || mew_result_pauses_dominate(r))
		mark = '!';
	mew_table_row(t, mark);
	mew_table_cell(t, r->c->key);
	if (c->label)
		mew_table_cell(t, r->label);
	if (c->statistic)
		mew_table_cell(t, statistic);
	figure_cells(t, c, f ? f : &none, shares);
	for (i = 0; i < c->n_counters; i++)
		counter_cell(t, f && !shares ? find_counter(r, c->counters[i]) : NULL);
	mew_table_cell(t, note_of(r));
}

/* Figures that are no time go from a narrow terminal, the iterations first, then counters. */
static size_t make_columns(const struct columns *c, struct mew_column *ret)
{
	size_t n = 0, i;

#define COLUMN(text, side, rank)                                                                   \
	(ret[n++] = (struct mew_column){.title = (text), .align = (side), .worth = (rank)})
	COLUMN("CASE", MEW_ALIGN_LEFT, 0);
	if (c->label)
		COLUMN("LABEL", MEW_ALIGN_LEFT, 0);
	if (c->statistic)
		COLUMN("OF", MEW_ALIGN_LEFT, 0);
	COLUMN("TIME", MEW_ALIGN_RIGHT, 0);
	COLUMN("CPU", MEW_ALIGN_RIGHT, 0);
	COLUMN("ITERATIONS", MEW_ALIGN_RIGHT, 3 + (int)c->n_counters);
	if (c->bytes)
		COLUMN("BYTES", MEW_ALIGN_RIGHT, 1);
	if (c->items)
		COLUMN("ITEMS", MEW_ALIGN_RIGHT, 2);
	for (i = 0; i < c->n_counters; i++)
		COLUMN(c->counters[i], MEW_ALIGN_POINT, 3 + (int)i);
	/* Without a note it is there all the same: the last column is not aligned. */
	COLUMN(c->note ? "NOTE" : "", MEW_ALIGN_LEFT, 0);
#undef COLUMN
	return n;
}

static int text_rows(struct mew_table *t, const struct columns *c, const struct mew_result *r)
{
	struct figures f[N_STATISTICS];
	int i;

	if (!has_figures(r)) {
		text_row(t, c, r, "", NULL, false);
		return 0;
	}
	if (r->n_repetitions == 1) {
		f[0] = figures_of(r, &r->repetitions[0]);
		text_row(t, c, r, "", &f[0], false);
		return 0;
	}
	if (statistics_of(r, f) != 0)
		return -ENOMEM;
	for (i = 0; i < N_STATISTICS; i++)
		text_row(t, c, r, statistic_names[i], &f[i], i == CV);
	return 0;
}

int mew_timing_text(struct mew_result *const *results, size_t n,
		    const struct mew_table_style *style, struct mew_buffer *out)
{
	struct mew_column *columns = NULL;
	struct mew_table *t = NULL;
	struct columns c;
	size_t i;
	int err = columns_init(&c, results, n);

	if (!err) {
		columns = calloc(c.n_counters + 9, sizeof(*columns));
		if (columns)
			t = mew_table_new(columns, make_columns(&c, columns));
		err = t ? 0 : -ENOMEM;
	}
	for (i = 0; i < n && !err; i++)
		err = text_rows(t, &c, results[i]);
	if (!err)
		err = mew_table_render(t, style, out, NULL);
	mew_table_free(t);
	free(columns);
	free(c.counters);
	return err;
}

/* ---- CSV ---- */

static const char *status_name(enum mew_case_status status)
{
	return status == MEW_CASE_OK ? "ok" : status == MEW_CASE_SKIPPED ? "skipped" : "failed";
}

/* statistic NULL: repetition number `number`, 0: neither. */
static void csv_row(struct mew_csv *csv, const struct columns *c, const struct mew_result *r,
		    const char *statistic, unsigned number, const struct figures *f)
{
	size_t i, which;

	mew_csv_text(csv, r->c->key);
	mew_csv_text(csv, r->label);
	if (number > 0)
		mew_csv_u64(csv, number);
	else
		mew_csv_text(csv, statistic);
	for (which = 0; which < N_FIGURES; which++)
		mew_csv_double(csv, f ? f->of[which] : NAN);
	mew_csv_text(csv, status_name(r->status));
	mew_csv_text(csv, note_of(r));
	for (i = 0; i < c->n_counters; i++) {
		const struct mew_result_counter *counter = find_counter(r, c->counters[i]);

		mew_csv_double(csv, f && counter && number > 0 ? counter->value : NAN);
	}
	mew_csv_end_row(csv);
}

static int csv_rows(struct mew_csv *csv, const struct columns *c, const struct mew_result *r)
{
	struct figures f[N_STATISTICS];
	unsigned i;

	if (!has_figures(r)) {
		csv_row(csv, c, r, NULL, 0, NULL);
		return 0;
	}
	for (i = 0; i < r->n_repetitions; i++) {
		f[0] = figures_of(r, &r->repetitions[i]);
		csv_row(csv, c, r, NULL, i + 1, &f[0]);
	}
	if (r->n_repetitions == 1)
		return 0;
	if (statistics_of(r, f) != 0)
		return -ENOMEM;
	for (i = 0; i < N_STATISTICS; i++)
		csv_row(csv, c, r, statistic_names[i], 0, &f[i]);
	return 0;
}

int mew_timing_csv(struct mew_result *const *results, size_t n, struct mew_buffer *out)
{
	static const char *const titles[] = {
		"name",   "label",      "repetition",       "time",
		"cpu",    "iterations", "bytes_per_second", "items_per_second",
		"status", "note",
	};
	struct mew_csv csv;
	struct columns c;
	size_t i;
	int err = columns_init(&c, results, n);

	mew_csv_init(&csv, out);
	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		mew_csv_text(&csv, titles[i]);
	for (i = 0; i < c.n_counters; i++)
		mew_csv_text(&csv, c.counters[i]);
	mew_csv_end_row(&csv);
	for (i = 0; i < n && !err; i++)
		err = csv_rows(&csv, &c, results[i]);
	free(c.counters);
	return err ? err : out->error;
}
