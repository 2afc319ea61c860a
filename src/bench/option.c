/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

const char mew_options_help[] =
	"Options:\n"
	"  -k, --filter REGEX     run the cases whose key or label matches; a leading '-'\n"
	"                         excludes them; may be repeated\n"
	"      --list             list the cases\n"
	"  -n, --iterations N     of each round, exactly\n"
	"      --min-time TIME    iterations are added until a round takes so long: 0.5, 200ms;\n"
	"                         or 100x: so many iterations\n"
	"  -r, --repetitions N    measured rounds of a case; rows are their median, mean,\n"
	"                         stddev and cv\n"
	"      --csv[=FILE]       CSV instead of the table, or into FILE beside it\n"
	"      --no-fork          all cases in this process, for debuggers\n"
	"  -h, --help             this\n"
	"  --                     what follows belongs to the benchmarks\n"
	"Google Benchmark's spellings are known: --benchmark_filter, --benchmark_list_tests,\n"
	"--benchmark_min_time, --benchmark_repetitions, --benchmark_format=console|csv.\n"
	"Profile the cases with `mew-perf run`.\n";

enum option_id {
	OPT_FILTER,
	OPT_LIST,
	OPT_ITERATIONS,
	OPT_MIN_TIME,
	OPT_REPETITIONS,
	OPT_CSV,
	OPT_FORMAT,
	OPT_NO_FORK,
	OPT_HELP,
};

enum option_value { NO_VALUE, OPTIONAL_VALUE, NEEDS_VALUE };

/* An optional value comes with '=' only. plain: means nothing under mew-perf. */
static const struct option_row {
	const char *name;
	char letter;
	enum option_id id;
	enum option_value value;
	bool plain;
} rows[] = {
	{"filter", 'k', OPT_FILTER, NEEDS_VALUE, false},
	{"list", 0, OPT_LIST, NO_VALUE, true},
	{"iterations", 'n', OPT_ITERATIONS, NEEDS_VALUE, true},
	{"min-time", 0, OPT_MIN_TIME, NEEDS_VALUE, true},
	{"repetitions", 'r', OPT_REPETITIONS, NEEDS_VALUE, true},
	{"csv", 0, OPT_CSV, OPTIONAL_VALUE, true},
	{"no-fork", 0, OPT_NO_FORK, NO_VALUE, true},
	{"help", 'h', OPT_HELP, NO_VALUE, false},
	{"benchmark_filter", 0, OPT_FILTER, NEEDS_VALUE, false},
	{"benchmark_list_tests", 0, OPT_LIST, OPTIONAL_VALUE, true},
	{"benchmark_min_time", 0, OPT_MIN_TIME, NEEDS_VALUE, true},
	{"benchmark_repetitions", 0, OPT_REPETITIONS, NEEDS_VALUE, true},
	{"benchmark_format", 0, OPT_FORMAT, NEEDS_VALUE, true},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static int bad_value(const char *value, const char *name, struct mew_error *error)
{
	return mew_error_set(error, -EINVAL, "'%s' is no value for '--%s'", value, name);
}

static int add_filter(struct mew_options *o, const char *value, struct mew_error *error)
{
	const char **filters = realloc(o->filters, (o->n_filters + 1) * sizeof(*filters));

	if (!filters)
		return mew_error_errno(error, -ENOMEM, "cannot keep the filter");
	o->filters = filters;
	o->filters[o->n_filters++] = value;
	return 0;
}

static int set_iterations(struct mew_options *o, const char *value, const char *name,
			  struct mew_error *error)
{
	uint64_t n;

	if (mew_parse_u64(value, &n) != 0 || n == 0)
		return bad_value(value, name, error);
	o->iterations = n;
	return 0;
}

static int set_min_time(struct mew_options *o, const char *value, const char *name,
			struct mew_error *error)
{
	size_t len = strlen(value);
	char number[32];
	double time_s;

	if (len > 1 && len < sizeof(number) && value[len - 1] == 'x') {
		memcpy(number, value, len - 1);
		number[len - 1] = '\0';
		if (set_iterations(o, number, name, NULL) == 0)
			return 0;
	} else if (mew_parse_time(value, &time_s) == 0 && time_s > 0) {
		o->min_time_s = time_s;
		return 0;
	}
	return bad_value(value, name, error);
}

static int set_repetitions(struct mew_options *o, const char *value, const char *name,
			   struct mew_error *error)
{
	uint64_t n;

	if (mew_parse_u64(value, &n) != 0 || n == 0 || n > MEW_REPETITIONS_MAX)
		return bad_value(value, name, error);
	o->repetitions = (unsigned)n;
	return 0;
}

static int set_list(struct mew_options *o, const char *value, const char *name,
		    struct mew_error *error)
{
	if (!value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0)
		o->list = true;
	else if (strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
		o->list = false;
	else
		return bad_value(value, name, error);
	return 0;
}

static int apply(struct mew_options *o, const struct option_row *row, const char *value,
		 struct mew_error *error)
{
	switch (row->id) {
	case OPT_FILTER:
		return add_filter(o, value, error);
	case OPT_LIST:
		return set_list(o, value, row->name, error);
	case OPT_ITERATIONS:
		return set_iterations(o, value, row->name, error);
	case OPT_MIN_TIME:
		return set_min_time(o, value, row->name, error);
	case OPT_REPETITIONS:
		return set_repetitions(o, value, row->name, error);
	case OPT_CSV:
		o->csv = !value || strcmp(value, "-") == 0;
		o->csv_file = o->csv ? NULL : value;
		return 0;
	case OPT_FORMAT:
		if (strcmp(value, "csv") != 0 && strcmp(value, "console") != 0)
			return bad_value(value, row->name, error);
		o->csv = value[1] == 's';
		return 0;
	case OPT_NO_FORK:
		o->no_fork = true;
		return 0;
	case OPT_HELP:
		o->help = true;
		return 0;
	}
	return 0;
}

/* The row of a word that begins with '-'. *ret_value: what follows '=' or the letter, or NULL. */
static const struct option_row *find_row(const char *word, const char **ret_value)
{
	size_t i, len;

	for (i = 0; i < N_ROWS; i++) {
		if (word[1] != '-') {
			if (rows[i].letter == 0 || rows[i].letter != word[1])
				continue;
			*ret_value = word[2] ? word + 2 : NULL;
			return &rows[i];
		}
		len = strlen(rows[i].name);
		if (strncmp(word + 2, rows[i].name, len) != 0 ||
		    (word[2 + len] != '\0' && word[2 + len] != '='))
			continue;
		*ret_value = word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
		return &rows[i];
	}
	return NULL;
}

int mew_options_parse(struct mew_options *ret, int argc, char **argv, struct mew_error *error)
{
	int i, err;

	memset(ret, 0, sizeof(*ret));
	ret->repetitions = 1;
	ret->rest = argc;
	for (i = 1; i < argc; i++) {
		const struct option_row *row;
		const char *value = NULL;

		if (strcmp(argv[i], "--") == 0) {
			ret->rest = i + 1;
			return 0;
		}
		if (argv[i][0] != '-' || argv[i][1] == '\0')
			return mew_error_set(error, -EINVAL,
					     "unexpected argument '%s': what belongs to the "
					     "benchmarks follows '--'",
					     argv[i]);
		row = find_row(argv[i], &value);
		if (!row)
			return mew_error_set(error, -EINVAL, "unknown option '%s'", argv[i]);
		if (value && row->value == NO_VALUE)
			return mew_error_set(error, -EINVAL, "option '--%s' takes no value",
					     row->name);
		if (!value && row->value == NEEDS_VALUE) {
			if (i + 1 == argc)
				return mew_error_set(error, -EINVAL, "option '--%s' needs a value",
						     row->name);
			value = argv[++i];
		}
		if (row->plain)
			ret->plain = row->name;
		err = apply(ret, row, value, error);
		if (err)
			return err;
	}
	return 0;
}

void mew_options_done(struct mew_options *o)
{
	free(o->filters);
	o->filters = NULL;
	o->n_filters = 0;
}
