/* SPDX-License-Identifier: Apache-2.0 */
/* mew_main(): what a benchmark program does. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/commit.h"
#include "base/text.h"
#include "bench/environment.h"
#include "bench/host.h"
#include "bench/option.h"
#include "bench/plain.h"
#include "bench/registry.h"
#include "bench/timing.h"
#include "bench/say.h"
#include "bench/serve.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_OWN = 125, EXIT_INTERRUPTED = 130 };

static int rest_argc;
static char **rest_argv;
static char *no_arguments[1];

int mew_argc(void)
{
	return rest_argc;
}

char **mew_argv(void)
{
	return rest_argv ? rest_argv : no_arguments;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Unless whoever started us wants it ignored. */
static void catch_interrupts(void)
{
	struct sigaction action;

	if (sigaction(SIGINT, NULL, &action) != 0 || action.sa_handler == SIG_IGN)
		return;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_interrupt;
	sigaction(SIGINT, &action, NULL);
}

static int own_failure(const struct mew_error *error)
{
	mew_say(NULL, "%s", error->text);
	return EXIT_OWN;
}

/* ---- lists and help ---- */

static int put_out(const struct mew_buffer *out)
{
	int err = out->error;

	if (!err)
		err = mew_write_all(STDOUT_FILENO, out->data, out->len);
	if (!err)
		return EXIT_DONE;
	mew_say(NULL, "cannot write the results: %s", strerror(-err));
	return EXIT_OWN;
}

static int help(void)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	int status;

	mew_buffer_printf(&out, "Usage: %s [OPTION...] [-- ARG...]\nTime the benchmarks.\n\n%s",
			  program_invocation_short_name, mew_options_help);
	status = put_out(&out);
	mew_buffer_done(&out);
	return status;
}

static void put_cases(struct mew_buffer *out, const struct mew_cases *cases, const char *indent)
{
	size_t i;

	for (i = 0; i < cases->n; i++) {
		mew_buffer_puts(out, indent);
		mew_text_escape(out, cases->cases[i].key);
		if (cases->cases[i].label[0]) {
			mew_buffer_puts(out, "  ");
			mew_text_escape(out, cases->cases[i].label);
		}
		mew_buffer_putc(out, '\n');
	}
}

static int list(const struct mew_cases *cases)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	int status;

	put_cases(&out, cases, "");
	status = put_out(&out);
	mew_buffer_done(&out);
	return status;
}

static int no_match(const struct mew_cases *cases, const struct mew_error *error)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	mew_say(NULL, "%s; there %s:", error->text, cases->n == 1 ? "is" : "are");
	put_cases(&out, cases, "  ");
	mew_write_all(STDERR_FILENO, out.data, out.len);
	mew_buffer_done(&out);
	return EXIT_USAGE;
}

/* ---- the plain run ---- */

static void warn(const struct mew_cases *cases)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	char governor[MEW_GOVERNOR_BYTES];
	size_t i;

	for (i = 0; i < cases->n; i++) {
		if (!cases->cases[i].entry->unoptimized_)
			continue;
		mew_say("warning", "'%s' was compiled without optimisation: use -O2",
			cases->cases[i].entry->name);
		break;
	}
	if (n_cpus > 0 && mew_host_scales(mew_governor_read, NULL, (unsigned)n_cpus, governor))
		mew_say("warning",
			"CPU frequencies are scaled (governor '%s'): times vary; "
			"cpupower frequency-set -g performance",
			governor);
}

static void say_result(const struct mew_result *r)
{
	if (r->status == MEW_CASE_FAILED)
		mew_say(NULL, "case '%s' failed: %s", r->c->key, r->text);
	else if (r->status == MEW_CASE_SKIPPED)
		mew_say(NULL, "case '%s' skipped: %s", r->c->key, r->text);
	else if (r->left_early)
		mew_say("warning",
			"case '%s': the loop was left early: its time is of a single round",
			r->c->key);
	else if (mew_result_pauses_dominate(r))
		mew_say("warning",
			"case '%s': a pause costs %llu ns, more than 10%% of an iteration; that "
			"cost was taken out",
			r->c->key, (unsigned long long)r->pause_ns);
}

static struct mew_table_style terminal_style(void)
{
	struct mew_table_style style = {0, false};
	const char *no_color = getenv("NO_COLOR");
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return style;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	style.color = !no_color || !no_color[0];
	return style;
}

static int report(struct mew_result *const *results, size_t n, const struct mew_options *o)
{
	struct mew_buffer out = MEW_BUFFER_INIT, csv = MEW_BUFFER_INIT;
	struct mew_table_style style = terminal_style();
	int status = EXIT_DONE, err = 0;

	if (o->csv || o->csv_file)
		mew_timing_csv(results, n, &csv);
	if (o->csv) {
		status = put_out(&csv);
	} else {
		err = mew_timing_text(results, n, &style, &out);
		if (err)
			out.error = err;
		status = put_out(&out);
	}
	if (o->csv_file) {
		struct mew_error error = {0};

		if (mew_commit(o->csv_file, &csv, &error))
			status = own_failure(&error);
	}
	mew_buffer_done(&csv);
	mew_buffer_done(&out);
	return status;
}

static int run(const struct mew_cases *cases, const struct mew_options *o)
{
	struct mew_result **results = calloc(cases->n + 1, sizeof(*results));
	struct mew_error error = {0};
	int status = EXIT_DONE, err = 0;
	size_t n = 0, i;

	if (!results) {
		mew_error_errno(&error, -ENOMEM, "cannot run the benchmarks");
		return own_failure(&error);
	}
	warn(cases);
	if (!o->no_fork)
		catch_interrupts();
	for (i = 0; i < cases->n && !err; i++) {
		err = mew_plain_run(&cases->cases[i], o, &interrupted, &results[n], &error);
		if (err)
			break;
		say_result(results[n]);
		if (results[n]->status == MEW_CASE_FAILED)
			status = EXIT_FAILED;
		n++;
	}
	/* What has finished is reported, whatever came after it. */
	i = (size_t)report(results, n, o);
	if (i != EXIT_DONE)
		status = (int)i;
	if (err == -EINTR) {
		mew_say(NULL, "interrupted");
		status = EXIT_INTERRUPTED;
	} else if (err) {
		status = own_failure(&error);
	}
	for (i = 0; i < n; i++)
		mew_plain_free(results[i], o);
	free(results);
	return status;
}

static int serve(const char *path, const struct mew_cases *cases, const struct mew_options *o)
{
	struct mew_error error = {0};

	if (o->plain)
		mew_say("warning", "'--%s' means nothing under mew-perf", o->plain);
	if (mew_serve(path, cases, &error) != 0)
		return own_failure(&error);
	return EXIT_DONE;
}

static int main_with(const char *socket, const struct mew_options *o)
{
	struct mew_cases cases = {NULL, 0};
	struct mew_error error = {0};
	int err, status;

	if (o->help)
		return help();
	err = mew_cases_init(&cases, mew_registry_entries(), &error);
	if (!err)
		err = mew_cases_filter(&cases, o->filters, o->n_filters, &error);
	if (err == -ENOENT) {
		status = no_match(&cases, &error);
	} else if (err) {
		mew_say(NULL, "%s", error.text);
		status = err == -EINVAL ? EXIT_USAGE : EXIT_OWN;
	} else if (socket) {
		status = serve(socket, &cases, o);
	} else if (o->list) {
		status = list(&cases);
	} else {
		status = run(&cases, o);
	}
	mew_cases_done(&cases);
	return status;
}

int mew_main(int argc, char **argv)
{
	char *socket = mew_environment_take();
	struct mew_error error = {0};
	struct mew_options o;
	int status, err;

	err = mew_options_parse(&o, argc, argv, &error);
	if (err) {
		mew_say(NULL, "%s", error.text);
		if (err == -EINVAL)
			mew_say("hint", "--help lists the options");
		status = err == -EINVAL ? EXIT_USAGE : EXIT_OWN;
	} else {
		rest_argc = argc - o.rest;
		rest_argv = argv + o.rest;
		status = main_with(socket, &o);
	}
	mew_options_done(&o);
	free(socket);
	return status;
}
