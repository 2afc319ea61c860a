/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/commit.h"
#include "base/csv.h"
#include "base/table.h"
#include "kernel/event.h"
#include "results.h"
#include "say.h"
#include "session/session.h"

/* What to list, and the columns of all three lists. */
static int list_events, list_formats;
static const char *event_glob;

static int set_events(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)o;
	(void)error;
	list_events = 1;
	event_glob = value;
	return 0;
}

static int set_formats(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)o;
	(void)value;
	(void)error;
	list_formats = 1;
	return 0;
}

static const struct mew_option events = {
	.name = "events",
	.value = "GLOB",
	.optional = 1,
	.help = "events that 'mew-perf cpu -e' takes, of this machine",
	.set = set_events};
static const struct mew_option formats = {
	.name = "formats", .help = "formats that -o and --format take", .set = set_formats};

static const struct mew_option *const options[] = {
	&events,           &formats,         &mew_option_csv,     &mew_option_color,
	&mew_option_quiet, &mew_option_help, &mew_option_version, NULL,
};

/* Rows of up to three cells, as text table or as CSV. */
struct list {
	struct mew_table *table; /* NULL: CSV */
	struct mew_csv csv;
	struct mew_buffer out;
	size_t n_rows;
};

enum { COLUMNS_MAX = 3 };

static void add_row(struct list *l, const char *const cells[], size_t n)
{
	if (l->table)
		mew_table_row(l->table, ' ');
	for (size_t i = 0; i < n; i++)
		if (l->table)
			mew_table_cell(l->table, cells[i]);
		else
			mew_csv_text(&l->csv, cells[i]);
	if (!l->table)
		mew_csv_end_row(&l->csv);
	l->n_rows++;
}

static int is_csv(const struct mew_options *o)
{
	return o->csv || o->n_files;
}

/* Columns are CSV's names; a table shows them in capitals. */
static int list_begin(struct list *l, const struct mew_options *o, const char *const names[],
		      struct mew_column columns[])
{
	size_t n = 0;

	*l = (struct list){0};
	mew_buffer_init(&l->out);
	while (n < COLUMNS_MAX && columns[n].title)
		n++;
	if (!is_csv(o)) {
		l->table = mew_table_new(columns, n);
		return l->table ? 0 : -ENOMEM;
	}
	mew_csv_init(&l->csv, &l->out);
	add_row(l, names, n);
	l->n_rows = 0;
	return 0;
}

/* Write what was listed. */
static int list_end(struct list *l, const struct mew_options *o)
{
	struct mew_output_options how;
	struct mew_error error = {0};
	int status = 0;

	mew_results_options(o, &how);
	if (l->table) {
		struct mew_table_style style = {.width = how.width, .color = how.colour};

		mew_table_render(l->table, &style, &l->out, NULL);
	}
	if (!o->n_files || o->csv)
		status = mew_results_print(&l->out);
	for (size_t i = 0; i < o->n_files && !status; i++)
		if (l->out.error || mew_commit(o->files[i].path, &l->out, &error)) {
			mew_say_error("%s", l->out.error ? strerror(-l->out.error) : error.text);
			status = MEW_EXIT_OWN;
		}
	mew_table_free(l->table);
	mew_buffer_done(&l->out);
	return status;
}

static int no_memory(void)
{
	mew_say_error("%s", strerror(ENOMEM));
	return MEW_EXIT_OWN;
}

static int show_formats(const struct mew_options *o)
{
	static const char *const names[] = {"format", "extension", "summary"};
	struct mew_column columns[] = {
		{.title = "FORMAT"}, {.title = "EXTENSION"}, {.title = "SUMMARY"}};
	struct list l;

	if (list_begin(&l, o, names, columns))
		return no_memory();
	for (const struct mew_output_format *const *f = mew_output_formats; *f; f++)
		add_row(&l, (const char *const[]){(*f)->name, (*f)->extension, (*f)->summary}, 3);
	return list_end(&l, o);
}

static void add_event(void *arg, const char *name, const char *summary)
{
	add_row(arg, (const char *const[]){name, summary}, 2);
}

static int show_events(const struct mew_options *o)
{
	static const char *const names[] = {"event", "summary"};
	struct mew_column columns[] = {{.title = "EVENT"}, {.title = "SUMMARY"}, {0}};
	struct mew_error error = {0};
	struct list l;
	size_t n;
	int status;

	if (list_begin(&l, o, names, columns))
		return no_memory();
	if (mew_event_list(event_glob, add_event, &l, &error)) {
		mew_say_error("%s", error.text);
		mew_table_free(l.table);
		mew_buffer_done(&l.out);
		return MEW_EXIT_OWN;
	}
	n = l.n_rows;
	status = list_end(&l, o);
	if (!status && !n) {
		mew_say_error("no event matches '%s'", event_glob ? event_glob : "*");
		status = MEW_EXIT_USAGE;
	}
	return status;
}

static int show_cases(const struct mew_options *o, char **argv)
{
	static const char *const names[] = {"name", "label"};
	struct mew_column columns[] = {{.title = "CASE"}, {.title = "LABEL"}, {0}};
	struct mew_listed_case *cases = NULL;
	struct mew_program program = {0};
	struct mew_error error = {0};
	struct list l;
	size_t n = 0;
	int err = mew_program_inspect(argv[0], &program, &error);

	if (err) {
		mew_say_error("%s", error.text);
		return err == -ENOENT                      ? MEW_EXIT_NOT_FOUND
		       : err == -EACCES || err == -ENOEXEC ? MEW_EXIT_CANNOT_RUN
							   : MEW_EXIT_OWN;
	}
	/* Only a program that says it is a benchmark is started. */
	if (program.kind != MEW_PROGRAM_BENCHMARK) {
		mew_say_error("'%s' is not linked with libmew: it runs whole, as one case",
			      argv[0]);
		mew_program_done(&program);
		return MEW_EXIT_FAILED;
	}
	mew_program_done(&program);
	if (mew_session_list(argv, &cases, &n, &error)) {
		mew_say_error("%s", error.text);
		return MEW_EXIT_FAILED;
	}
	if (list_begin(&l, o, names, columns)) {
		free(cases);
		return no_memory();
	}
	for (size_t i = 0; i < n; i++)
		add_row(&l, (const char *const[]){cases[i].key, cases[i].label}, 2);
	free(cases);
	return list_end(&l, o);
}

static int run(const struct mew_options *o, int argc, char **argv)
{
	if (list_events + list_formats + (argc > 0) != 1) {
		mew_say_error((list_events + list_formats + (argc > 0)) ? "one list at a time"
									: "no program to list");
		mew_say_error_hint("mew-perf list PROGRAM, --events[=GLOB] or --formats");
		return MEW_EXIT_USAGE;
	}
	return list_formats ? show_formats(o) : list_events ? show_events(o) : show_cases(o, argv);
}

const struct mew_command mew_command_list = {
	.name = "list",
	.operands = "[PROGRAM [ARG...] | --events[=GLOB] | --formats]",
	.summary = "the cases of a program, events, formats",
	.description = "List the cases of PROGRAM, or the events or formats there are. Only a "
		       "program linked with libmew is started; none of its cases runs.",
	.takes_program = 1,
	.options = options,
	.run = run,
};
