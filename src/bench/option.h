/* SPDX-License-Identifier: Apache-2.0 */
/* option.h: a benchmark program's command line. Knows spellings; runs and prints nothing. */
#ifndef MEW_BENCH_OPTION_H
#define MEW_BENCH_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define MEW_REPETITIONS_MAX 10000

struct mew_options {
	const char **filters; /* owned; the strings are argv's */
	size_t n_filters;
	bool help, list;
	bool csv;             /* CSV on stdout instead of the table */
	const char *csv_file; /* argv's; NULL: none */
	bool no_fork;
	double min_time_s;    /* 0: not given */
	uint64_t iterations;  /* 0: not given */
	unsigned repetitions; /* 1: not given */
	const char *plain;    /* the last option that means nothing under mew-perf, argv's; NULL:
			       * none was given */
	int rest;             /* index in argv of the program's own arguments, argc when none */
};

/* What --help prints. */
extern const char mew_options_help[];

/* ret is made in any case: done with it by mew_options_done. -EINVAL: usage; -ENOMEM. */
int mew_options_parse(struct mew_options *ret, int argc, char **argv, struct mew_error *error);
void mew_options_done(struct mew_options *o);

#endif
