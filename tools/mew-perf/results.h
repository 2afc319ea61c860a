/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h: where results go: standard output and the files of -o and --csv, by the options.
 */
#ifndef MEW_PERF_RESULTS_H
#define MEW_PERF_RESULTS_H

#include "command.h"
#include "output/output.h"

/* After the options are read: choose each file's format, look whether it can be written. Says what
 * is wrong. 0, or the exit status. */
int mew_results_check(struct mew_options *o);

/* May path be written, as far as can be told before? A file appears by a rename in its folder, a
 * recording has a journal there. 0 or negative errno. */
int mew_results_can_write(const char *path);

/* How to show: width and colour of the terminal on standard output, what the options say. */
void mew_results_options(const struct mew_options *o, struct mew_output_options *ret);

enum mew_results_where {
	MEW_RESULTS_STDOUT = 1,
	MEW_RESULTS_FILES = 2,
	MEW_RESULTS_ALL = 3,
};

/* For the note functions of output.h: a line on stderr. */
void mew_results_note(void *arg, const char *line);

/* Does text go to standard output? */
int mew_results_text(const struct mew_options *o);

/* Write one result. Says what failed. 0, or the exit status. */
int mew_results_write(const struct mew_options *o, const struct mew_output_input *in,
		      const struct mew_output_options *how, enum mew_results_where where);

/* Write text to standard output. Says what failed. 0, or the exit status. */
int mew_results_print(const struct mew_buffer *text);

/* Whether --table asks for rows that only a heap session has. */
static inline int mew_results_of_heap(const struct mew_options *o)
{
	return o->table == MEW_TABLE_CURVE || o->table == MEW_TABLE_SIZES;
}

#endif
