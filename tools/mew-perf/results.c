/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/commit.h"
#include "results.h"
#include "say.h"

enum { REPORT_ROWS = 10 };

static int has_extension(const char *path, const char *extension)
{
	size_t n = strlen(path), m = strlen(extension);

	return n > m && !strcmp(path + n - m, extension);
}

static int has_some_extension(const char *path)
{
	return strchr(mew_base_name(path), '.') != NULL;
}

static void hint_formats(void)
{
	struct mew_buffer text = MEW_BUFFER_INIT;

	for (const struct mew_output_format *const *f = mew_output_formats; *f; f++)
		if (*(*f)->extension)
			mew_buffer_printf(&text, " %s", (*f)->extension);
	mew_say_error_hint("extensions are%s; --format NAME names the format of any file",
			   text.data);
	mew_buffer_done(&text);
}

int mew_results_can_write(const char *path)
{
	struct stat st;
	int is_there = !stat(path, &st), err = 0;
	char *real;

	if (!is_there && errno != ENOENT)
		return -errno;
	if (is_there && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (is_there && access(path, W_OK))
		return -errno;
	if (is_there && !S_ISREG(st.st_mode))
		return 0;
	real = is_there ? realpath(path, NULL) : strdup(path);
	if (!real)
		return -errno;
	if (access(dirname(real), W_OK | X_OK))
		err = -errno;
	free(real);
	return err;
}

static int check_file(const struct mew_options *o, struct mew_output_file *f)
{
	int err;

	if (!f->format && !has_some_extension(f->path))
		f->format = o->format;
	if (!f->format)
		f->format = mew_output_format_by_path(f->path);
	if (!f->format)
		f->format = o->format;
	if (!f->format && has_extension(f->path, ".db")) {
		mew_say_error("'%s' is a recording's name, no format of results", f->path);
		mew_say_error_hint("-d %s", f->path);
		return MEW_EXIT_USAGE;
	}
	if (!f->format) {
		mew_say_error("no format has the extension of '%s'", f->path);
		hint_formats();
		return MEW_EXIT_USAGE;
	}
	err = mew_results_can_write(f->path);
	if (err) {
		mew_say_error("cannot write '%s': %s", f->path, strerror(-err));
		return MEW_EXIT_OWN;
	}
	return 0;
}

static const struct mew_output_format *stdout_format(const struct mew_options *o)
{
	return o->csv      ? mew_output_format_by_name("csv")
	       : o->format ? o->format
			   : mew_output_format_by_name("text");
}

static int is_text(const struct mew_output_format *f)
{
	return f == mew_output_format_by_name("text");
}

/* Results go to standard output when they go nowhere else, or when it was asked for. */
static int to_stdout(const struct mew_options *o)
{
	return !o->n_files || o->to_stdout || o->csv;
}

int mew_results_text(const struct mew_options *o)
{
	return to_stdout(o) && is_text(stdout_format(o));
}

int mew_results_check(struct mew_options *o)
{
	int tables = to_stdout(o) && !mew_results_text(o);

	if (o->csv && o->format && o->format != stdout_format(o)) {
		mew_say_error("options '--csv' and '--format %s' exclude each other",
			      o->format->name);
		mew_say_error_hint("--csv=FILE");
		return MEW_EXIT_USAGE;
	}
	for (size_t i = 0; i < o->n_files; i++) {
		int status = check_file(o, &o->files[i]);

		if (status)
			return status;
		tables |= !is_text(o->files[i].format);
	}
	if (o->table_given && !tables) {
		mew_say_error("--table chooses the rows of CSV, and nothing here is CSV");
		mew_say_error_hint("--csv");
		return MEW_EXIT_USAGE;
	}
	return 0;
}

/* By the environment: the program itself stays in the C locale, for its numbers. */
static int is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	int utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return utf8;
}

void mew_results_options(const struct mew_options *o, struct mew_output_options *ret)
{
	const char *no_color = getenv("NO_COLOR");
	int terminal = isatty(STDOUT_FILENO);
	struct winsize size = {0};

	*ret = (struct mew_output_options){
		.table = o->table, .top = REPORT_ROWS, .verbose = o->verbose};
	if (terminal && !o->wide) {
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
		ret->width = size.ws_col ? size.ws_col : 80;
	}
	ret->utf8 = is_utf8();
	ret->colour = o->colour >= 0 ? o->colour : terminal && !(no_color && *no_color);
}

static int write_one(const char *path, const struct mew_output_format *format,
		     const struct mew_output_input *in, const struct mew_output_options *how)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	struct mew_error error = {0};
	int status = 0, err = format->write(in, how, &text);

	if (err)
		mew_error_errno(&error, err, "cannot write '%s'", path);
	else
		err = mew_commit(path, &text, &error);
	if (err) {
		mew_say_error("%s", error.text);
		status = MEW_EXIT_OWN;
	}
	mew_buffer_done(&text);
	return status;
}

int mew_results_write(const struct mew_options *o, const struct mew_output_input *in,
		      const struct mew_output_options *how, enum mew_results_where where)
{
	struct mew_output_options plain = *how;
	int status = 0, err;

	plain.width = 0;
	plain.colour = 0;
	mew_say_progress(NULL);
	if ((where & MEW_RESULTS_STDOUT) && to_stdout(o))
		status = write_one("-", stdout_format(o), in, how);
	if (where & MEW_RESULTS_FILES)
		for (size_t i = 0; i < o->n_files; i++) {
			err = write_one(o->files[i].path, o->files[i].format, in, &plain);
			if (err)
				status = err;
		}
	return status;
}

void mew_results_note(void *arg, const char *line)
{
	(void)arg;
	mew_say_note("%s", line);
}

int mew_results_print(const struct mew_buffer *text)
{
	struct mew_error error = {0};

	if (text->error)
		mew_error_errno(&error, text->error, "cannot write standard output");
	if (!error.code && !mew_commit("-", text, &error))
		return MEW_EXIT_OK;
	mew_say_error("%s", error.text);
	return MEW_EXIT_OWN;
}
