/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: what the command line said. One row an option; a command's table points to the shared
 * rows and to its own. Parsing, help texts, completion and the check of the manual pages all read
 * the rows.
 */
#ifndef MEW_PERF_OPTIONS_H
#define MEW_PERF_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "channel/message.h"
#include "output/output.h"

/* One file to write. */
struct mew_output_file {
	const char *path;
	const struct mew_output_format *format; /* NULL until all options are read */
};

/* Values of the shared options. Strings are argv's. */
struct mew_options {
	/* which cases, how often */
	const char **filters;
	size_t n_filters;
	uint64_t iterations; /* 0: the engine's default */
	uint64_t warm_up;    /* UINT64_MAX: the engine's default */
	uint32_t heap_flags; /* enum mew_heap_flags */
	unsigned repetitions;
	double timeout_s; /* 0: none */

	/* cpu */
	double interval_s; /* 0: adapt */
	uint64_t count;    /* 0: by interval */
	const char *event; /* NULL: the best there is */
	uint32_t stack_bytes;
	enum mew_pause_mode pause;

	/* results */
	struct mew_output_file *files;
	size_t n_files;
	const struct mew_output_format *format; /* of standard output; NULL: text */
	int csv;                                /* --csv without a file */
	int to_stdout;                          /* -o - */
	enum mew_output_table table;
	int table_given;

	/* recording */
	const char *db;
	int no_db;
	const char *tag;

	/* symbols */
	const char *debuginfod; /* servers to ask; NULL: none */
	int split_clones;

	/* manner */
	int quiet, verbose, wide;
	int colour; /* -1 as the terminal is, 0 never, 1 always */
	int help, version;
};

/* What can be said after an option, for completion. */
#define MEW_COMPLETE_FILE ":file"
#define MEW_COMPLETE_CASE ":case"
#define MEW_COMPLETE_FORMAT ":format"
#define MEW_COMPLETE_EVENT ":event"

struct mew_option {
	int letter;        /* 0: long only */
	const char *name;  /* without the dashes */
	const char *alias; /* another long spelling that is accepted and not shown; may be NULL */
	const char *value; /* its value's name in help; NULL: takes none */
	int optional;      /* the value may be missing, and needs an = */
	const char *complete; /* one of MEW_COMPLETE_, or words parted by blanks; may be NULL */
	const char *help;
	/* Take the value (NULL when it is missing). 0, or -EINVAL with what is wrong with it, to be
	 * read after "--name: ". */
	int (*set)(struct mew_options *o, const char *value, struct mew_error *error);
};

/* Shared rows. */
extern const struct mew_option mew_option_filter, mew_option_repetitions, mew_option_timeout;
extern const struct mew_option mew_option_interval, mew_option_frequency, mew_option_count,
	mew_option_event, mew_option_stack_size, mew_option_pause;
extern const struct mew_option mew_option_warm_up;
extern const struct mew_option mew_option_usable, mew_option_thread, mew_option_include_paused,
	mew_option_mmap;
extern const struct mew_option mew_option_output, mew_option_format, mew_option_csv,
	mew_option_table;
extern const struct mew_option mew_option_debuginfod, mew_option_split_clones;
extern const struct mew_option mew_option_db, mew_option_no_db, mew_option_tag;
extern const struct mew_option mew_option_wide, mew_option_color, mew_option_quiet,
	mew_option_verbose, mew_option_help, mew_option_version;

/* The servers that DEBUGINFOD_URLS named when mew-perf began; NULL: none. Set by main(). */
extern const char *mew_debuginfod_urls;

/* For rows of commands: a whole number from 1. */
int mew_option_number(const char *value, uint64_t max, uint64_t *ret, struct mew_error *error);
int mew_option_set_iterations(struct mew_options *o, const char *value, struct mew_error *error);

struct mew_command;

/*
 * Read the options of argv[1..]; stops at the first word that is none, or behind "--". Everything
 * wrong is said on stderr. The index of the first operand, or -1 (exit with MEW_EXIT_USAGE).
 */
int mew_options_parse(struct mew_options *o, const struct mew_command *command, int argc,
		      char **argv);
void mew_options_done(struct mew_options *o);

/* The row for a letter or a long name of len bytes; NULL: none. */
const struct mew_option *mew_option_by_letter(const struct mew_option *const *rows, int letter);
const struct mew_option *mew_option_by_name(const struct mew_option *const *rows, const char *name,
					    size_t len);

#endif
