/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "results.h"
#include "say.h"

const struct mew_command *const mew_commands[] = {
	&mew_command_run,    &mew_command_cpu,  &mew_command_mem,
	&mew_command_report, &mew_command_list, NULL,
};

volatile sig_atomic_t mew_interrupted;

const struct mew_command *mew_command_by_name(const char *name)
{
	for (const struct mew_command *const *c = mew_commands; *c; c++)
		if (!strcmp((*c)->name, name) || ((*c)->alias && !strcmp((*c)->alias, name)))
			return *c;
	return NULL;
}

/* Words that users of other tools type. */
static const struct {
	const char *word, *hint;
} other_words[] = {
	{"record", "'mew-perf cpu' samples a program, 'mew-perf run' does all"},
	{"top", "'mew-perf report' shows the hottest functions of each case"},
	{"annotate", "'mew-perf report --stacks' shows lines; there is no listing of instructions"},
	{"script", "'--csv --table=stacks' gives every stack"},
	{"stat", "this version counts no events; 'perf stat' does, for a whole program"},
	{"diff", "this version compares nothing; '--csv' gives figures to compare"},
	{"compare", "this version compares nothing; '--csv' gives figures to compare"},
	{"help", "'mew-perf -h', 'mew-perf COMMAND -h', 'man mew-perf'"},
	{"version", "'mew-perf --version'"},
};

static int unknown_command(const char *word)
{
	mew_say_error("unknown command '%s'", word);
	for (size_t i = 0; i < sizeof(other_words) / sizeof(*other_words); i++)
		if (!strcmp(other_words[i].word, word)) {
			mew_say_error_hint("%s", other_words[i].hint);
			return MEW_EXIT_USAGE;
		}
	if (strchr(word, '/'))
		mew_say_error_hint("'mew-perf run %s' profiles that program", word);
	else
		mew_say_error_hint("'mew-perf -h' lists the commands");
	return MEW_EXIT_USAGE;
}

static int print_version(void)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	int status;

	mew_buffer_puts(&text, PACKAGE_NAME " " PACKAGE_VERSION "\n");
	status = mew_results_print(&text);
	mew_buffer_done(&text);
	return status;
}

static int print_help(const struct mew_command *command)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	int status;

	if (command)
		mew_help_command(command, &text);
	else
		mew_help_program(&text);
	status = mew_results_print(&text);
	mew_buffer_done(&text);
	return status;
}

static void interrupt(int signo)
{
	(void)signo;
	mew_interrupted = 1;
}

/* The first signal asks for an end that keeps what is finished; a second one kills. A signal that
 * the caller ignores stays ignored, as a shell wants it for what runs in the background. */
static void catch_signal(int signo)
{
	struct sigaction end = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, old;

	sigemptyset(&end.sa_mask);
	if (!sigaction(signo, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(signo, &end, NULL);
}

static void catch_signals(void)
{
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	/* A closed pipe and a file that is too large are errors of write(). */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * A descriptor below 3 that the caller closed would be taken by the next file that is opened, and
 * results would be written into it. Standard output is then one that refuses to be written.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < STDERR_FILENO && fd != STDOUT_FILENO);
	if (fd == STDOUT_FILENO) {
		close(fd);
		open("/dev/null", O_RDONLY);
		fd = open("/dev/null", O_RDWR);
	}
	if (fd > STDERR_FILENO)
		close(fd);
}

static int run_command(const struct mew_command *command, int argc, char **argv)
{
	struct mew_options options;
	int first = mew_options_parse(&options, command, argc, argv);
	int status = MEW_EXIT_USAGE;

	if (first < 0)
		goto out;
	if (options.help || options.version) {
		status = options.help ? print_help(command) : print_version();
		goto out;
	}
	mew_say_quiet(options.quiet);
	status = mew_results_check(&options);
	if (!status)
		status = command->run(&options, argc - first, argv + first);
	mew_say_progress(NULL);
out:
	mew_options_done(&options);
	return status;
}

int main(int argc, char **argv)
{
	const struct mew_command *command;
	const char *word = argc > 1 ? argv[1] : NULL, *urls;

	fill_standard_descriptors();
	catch_signals();
	/* libdw would ask servers for debug files, and wait for them: --debuginfod may. */
	urls = getenv("DEBUGINFOD_URLS");
	if (urls && *urls)
		mew_debuginfod_urls = strdup(urls);
	unsetenv("DEBUGINFOD_URLS");

	if (!word) {
		mew_say_error("no command");
		mew_say_error_hint("'mew-perf -h' lists the commands");
		return MEW_EXIT_USAGE;
	}
	if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		return print_help(NULL);
	if (!strcmp(word, "--version"))
		return print_version();
	if (!strcmp(word, "--complete"))
		return mew_complete(argc - 2, argv + 2);
	if (*word == '-') {
		mew_say_error("unknown option '%s'", word);
		mew_say_error_hint("options stand behind the command: mew-perf COMMAND [options]");
		return MEW_EXIT_USAGE;
	}
	command = mew_command_by_name(word);
	return command ? run_command(command, argc - 1, argv + 1) : unknown_command(word);
}
