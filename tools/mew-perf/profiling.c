/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "profiling.h"
#include "say.h"
#include "symbol/debuginfod.h"
#include "symbol/package.h"
#include "symbol/symbol.h"

static const char *const kind_names[] = {[MEW_SESSION_CPU] = "cpu", [MEW_SESSION_HEAP] = "mem"};

static int find_program(struct mew_profiling *p)
{
	const char *name = p->argv[0];
	const struct mew_output_format *format = mew_output_format_by_path(name);
	struct mew_error error = {0};
	int err = mew_program_inspect(name, &p->program, &error);

	if (!err)
		return 0;
	/* --csv out.csv ./bench */
	if (format && *format->extension) {
		mew_say_error("'%s' is the name of a file of results, no program", name);
		mew_say_error_hint("--%s=%s", format->name, name);
		return MEW_EXIT_USAGE;
	}
	mew_say_error("%s", error.text);
	return err == -ENOENT                      ? MEW_EXIT_NOT_FOUND
	       : err == -EACCES || err == -ENOEXEC ? MEW_EXIT_CANNOT_RUN
						   : MEW_EXIT_OWN;
}

/* A recording that is there is opened before anything runs. A new one is made when there is a case
 * to put into it; until then it is enough to know that it can be. */
static int open_recording(struct mew_profiling *p)
{
	const char *path = p->options->db;
	struct mew_error error = {0};
	int err;

	if (!access(path, F_OK)) {
		p->store = mew_store_open(path, MEW_STORE_WRITE, &error);
		err = p->store ? 0 : error.code;
	} else {
		err = mew_results_can_write(path);
		if (err)
			mew_error_errno(&error, err, "cannot make recording '%s'", path);
	}
	if (!err)
		return 0;
	mew_say_error("%s", error.text);
	mew_say_error_hint("-d FILE names another recording, --no-db records nothing");
	return MEW_EXIT_OWN;
}

static int ask_debuginfod(const struct mew_options *o)
{
	struct mew_error error = {0};

	if (!o->debuginfod || !mew_debuginfod_use(o->debuginfod, &error))
		return 0;
	mew_say_error("%s", error.text);
	mew_say_error_hint("apt install libdebuginfod1");
	return MEW_EXIT_OWN;
}

int mew_profiling_open(struct mew_profiling *p, const struct mew_options *o, int argc, char **argv)
{
	int status;

	*p = (struct mew_profiling){.options = o, .argv = argv};
	mew_buffer_init(&p->command);
	if (argc < 1) {
		mew_say_error("no program to run");
		mew_say_error_hint("mew-perf COMMAND [options] [--] PROGRAM [ARG...]");
		return MEW_EXIT_USAGE;
	}
	for (int i = 0; i < argc; i++) {
		if (i)
			mew_buffer_putc(&p->command, ' ');
		else if (*argv[i] == '-')
			mew_buffer_puts(&p->command, "-- ");
		mew_text_quote(&p->command, argv[i]);
	}
	mew_symbols_split_clones(o->split_clones);
	status = find_program(p);
	if (!status)
		status = ask_debuginfod(o);
	if (!status && !o->no_db)
		status = open_recording(p);
	return status;
}

void mew_profiling_close(struct mew_profiling *p)
{
	mew_store_close(p->store);
	mew_program_done(&p->program);
	mew_buffer_done(&p->command);
	free(p->heap_library);
}

/* What went wrong with the recording has been said by its text; its number would be taken for the
 * kernel's, or the filters'. */
static int begin(void *arg, struct mew_session *s, struct mew_error *error)
{
	struct mew_profiling *p = arg;

	if (p->options->no_db)
		return 0;
	if (!p->store) {
		p->store = mew_store_open(p->options->db, MEW_STORE_WRITE, error);
		if (!p->store)
			return -EIO;
		p->is_new = 1;
	}
	return mew_store_begin(p->store, s, error) ? -EIO : 0;
}

static int finished(void *arg, struct mew_session *s, struct mew_pcase *c, struct mew_error *error)
{
	struct mew_profiling *p = arg;

	if (!p->store)
		return 0;
	if (mew_store_case(p->store, s, c, error))
		return -EIO;
	if (p->is_new)
		mew_say_note("new recording '%s'", p->options->db);
	p->is_new = 0;
	return 0;
}

static void starting(void *arg, const char *key, const char *label, size_t index, size_t n)
{
	char line[2 * MEW_KEY_BYTES + 64];

	(void)arg;
	/* What a single one prints would stand behind it. */
	if (n == 1)
		return;
	snprintf(line, sizeof(line), "%zu of %zu: %s%s%s", index + 1, n, key, *label ? " " : "",
		 label);
	mew_say_progress(line);
}

static void note(void *arg, char kind, const char *line)
{
	(void)arg;
	if (kind == 'w')
		mew_say_warning("%s", line);
	else if (kind == 'h')
		mew_say_hint("%s", line);
	else
		mew_say_note("%s", line);
}

/* The exit status of a session that ended with err. */
static int status_of(int err)
{
	switch (err) {
	case 0:
		return MEW_EXIT_OK;
	case -EINTR:
		return MEW_EXIT_INTERRUPTED;
	case -ENOEXEC:
		return MEW_EXIT_CANNOT_RUN;
	case -EINVAL: /* a fault in the event's name, no regular expression */
	case -ENXIO:  /* no such event */
	case -ENOENT: /* the filters match nothing, no such event on this machine */
		return MEW_EXIT_USAGE;
	default:
		return MEW_EXIT_OWN;
	}
}

static int any_failed(const struct mew_session *s)
{
	for (size_t i = 0; i < s->n_cases; i++)
		if (s->cases[i].result == MEW_RESULT_FAILED)
			return 1;
	return 0;
}

int mew_profiling_run(struct mew_profiling *p, enum mew_session_kind kind, struct mew_session **ret,
		      int *ret_error)
{
	const struct mew_options *o = p->options;
	struct mew_run_options run = {
		.argv = p->argv,
		.filters = o->filters,
		.n_filters = o->n_filters,
		.iterations = o->iterations,
		.warm_up = o->warm_up,
		.heap_flags = o->heap_flags,
		.repetitions = o->repetitions,
		.timeout_s = o->timeout_s,
		.interval_s = o->interval_s,
		.count = o->count,
		.event = o->event,
		.stack_bytes = o->stack_bytes,
		.pause = o->pause,
		.verbose = o->verbose,
		.tag = o->tag,
		.interrupted = &mew_interrupted,
		.begin = begin,
		.finished = finished,
		.starting = starting,
		.note = note,
		.arg = p,
	};
	struct mew_error error = {0};
	int err, status;

	*ret = NULL;
	*ret_error = 0;
	if (kind == MEW_SESSION_HEAP && !p->heap_library) {
		p->heap_library = mew_heap_library();
		if (!p->heap_library) {
			mew_say_error("cannot find libmew-heap.so in '%s'", MEW_PKGLIBDIR);
			return MEW_EXIT_OWN;
		}
	}
	run.heap_library = p->heap_library;
	err = kind == MEW_SESSION_CPU ? mew_session_cpu(&run, ret, &error)
				      : mew_session_heap(&run, ret, &error);
	mew_say_progress(NULL);
	*ret_error = err;
	status = status_of(err);
	if (err == -EINTR)
		mew_say_error("interrupted");
	else if (err)
		mew_say_error("%s", error.text);
	if (err == -ENXIO)
		mew_say_error_hint("'mew-perf list --events' lists those of this machine");
	/* The keys that are left to choose from may be more than an error holds. */
	if (err == -ENOENT && strlen(error.text) == sizeof(error.text) - 1)
		mew_say_error_hint("'mew-perf list %s' lists them all", p->command.data);
	if (!err && p->store && (*ret)->id && mew_store_end(p->store, *ret, &error)) {
		mew_say_error("%s", error.text);
		status = MEW_EXIT_OWN;
	}
	return !status && any_failed(*ret) ? MEW_EXIT_FAILED : status;
}

/* For the hints of a file without debug info. */
static int tell_module(const char *path, struct mew_buffer *ret_build_id,
		       struct mew_buffer *ret_package)
{
	if (!mew_symbols_lack_debug(path, ret_build_id))
		return 0;
	/* On other systems there are no such lists. */
	mew_package_of("/var/lib/dpkg/info", path, ret_package);
	return 1;
}

int mew_profiling_show(struct mew_profiling *p, const struct mew_session *s,
		       enum mew_results_where where)
{
	const struct mew_output_input in = {.session = s};
	struct mew_output_options how;
	struct mew_buffer hint = MEW_BUFFER_INIT;
	int status;

	mew_results_options(p->options, &how);
	mew_buffer_printf(&hint, "mew-perf %s", kind_names[s->kind]);
	how.hint_command = hint.data;
	how.hint_program = p->command.data;
	if (!p->options->debuginfod)
		how.hint_debuginfod = mew_debuginfod_urls ? "--debuginfod" : "--debuginfod=URL";
	how.module = tell_module;
	status = mew_results_write(p->options, &in, &how, where);
	mew_output_notes(s, &how, mew_results_note, NULL);
	mew_buffer_done(&hint);
	return status;
}

int mew_profiling_command(enum mew_session_kind kind, const struct mew_options *o, int argc,
			  char **argv)
{
	struct mew_profiling p;
	struct mew_session *s = NULL;
	int status, err, shown;

	if (kind == MEW_SESSION_CPU && mew_results_of_heap(o)) {
		mew_say_error("--table: a CPU session has no curve and no sizes of the heap");
		return MEW_EXIT_USAGE;
	}
	status = mew_profiling_open(&p, o, argc, argv);
	if (status)
		goto out;
	status = mew_profiling_run(&p, kind, &s, &err);
	if (s && (s->n_cases || !err)) {
		shown = mew_profiling_show(&p, s, MEW_RESULTS_ALL);
		if (shown)
			status = shown;
	}
out:
	mew_session_free(s);
	mew_profiling_close(&p);
	return status;
}
