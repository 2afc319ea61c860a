/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h: what results look like. One const struct a format, one array of them; chosen by
 * --format or by a file's extension. Writers fill a buffer; files appear under their name only when
 * complete. Numbers ignore the locale, order is defined.
 */
#ifndef MEW_OUTPUT_OUTPUT_H
#define MEW_OUTPUT_OUTPUT_H

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"
#include "profile/report.h"

enum mew_output_table {
	MEW_TABLE_CASES,
	MEW_TABLE_FUNCTIONS,
	MEW_TABLE_STACKS,
	MEW_TABLE_CURVE, /* of the live heap; none of a CPU session */
	MEW_TABLE_SIZES, /* of the allocations; likewise */
};
enum mew_stack_view { MEW_STACKS_CPU, MEW_STACKS_PEAK, MEW_STACKS_HELD };

/* What to show and how. */
struct mew_output_options {
	unsigned width; /* columns of the terminal; 0: a pipe or file: every column, nothing
			   shortened */
	int colour;
	enum mew_output_table table; /* CSV: which rows; a report's cases are its joined rows'
					sums */
	unsigned top;                /* rows a case in a report; 0: all */
	int verbose;                 /* a heap case's shapes too */
	int utf8;                    /* 0: drawings in ASCII */
	const char *hint_command;    /* "mew-perf cpu", for hint lines */
	const char *hint_program;    /* program and arguments, shell-quoted, for hint lines */
	const char *hint_debuginfod; /* the option that asks servers for debug info; NULL: it is
					given */
	/* What a file without debug info is, texts appended; 0: it has some, or none is due. NULL:
	 * nothing is known of files. */
	int (*module)(const char *path, struct mew_buffer *ret_build_id,
		      struct mew_buffer *ret_package);
};

/* One result: a session's cases, or a report. */
struct mew_output_input {
	const struct mew_session *session; /* NULL: a report */
	const struct mew_report *report;   /* NULL: a session */
};

struct mew_output_format {
	const char *name;      /* "text", "csv" */
	const char *extension; /* ".csv"; "" for text */
	const char *summary;
	int (*write)(const struct mew_output_input *in, const struct mew_output_options *o,
		     struct mew_buffer *out);
};

extern const struct mew_output_format *const mew_output_formats[]; /* NULL at the end */
const struct mew_output_format *mew_output_format_by_name(const char *name);
/* By the extension; "-" and a name without one are text. NULL: no format has that extension. */
const struct mew_output_format *mew_output_format_by_path(const char *path);

/* Warning and hint lines of a session (one a doubtful row, modules without debug info, shortened
 * names): text for stderr, each line without the "mew-perf: " prefix. */
typedef void (*mew_output_note_fn)(void *arg, const char *line);
void mew_output_notes(const struct mew_session *s, const struct mew_output_options *o,
		      mew_output_note_fn fn, void *arg);

/* The same for a table of a report: shortened names. */
void mew_output_report_notes(const struct mew_report *r, const struct mew_output_options *o,
			     mew_output_note_fn fn, void *arg);

/* report --stacks: the hottest stacks of each case, or those that hold the peak, or what is held at
 * the loop's end. */
int mew_output_stacks(const struct mew_report *r, enum mew_stack_view view,
		      const struct mew_output_options *o, struct mew_buffer *out);

#endif
