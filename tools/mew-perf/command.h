/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h: the table of commands. A command is cmd_<name>.c with its row, its options and its
 * manual page mew-perf-<name>(1); the row stands in mew_commands.
 */
#ifndef MEW_PERF_COMMAND_H
#define MEW_PERF_COMMAND_H

#include <signal.h>

#include "base/buffer.h"
#include "options.h"

enum mew_exit {
	MEW_EXIT_OK = 0,
	MEW_EXIT_FAILED = 1, /* a case failed */
	MEW_EXIT_USAGE = 2,
	MEW_EXIT_OWN = 125,        /* mew-perf itself failed */
	MEW_EXIT_CANNOT_RUN = 126, /* as a shell has them */
	MEW_EXIT_NOT_FOUND = 127,
	MEW_EXIT_INTERRUPTED = 130,
};

struct mew_command {
	const char *name;
	const char *alias;       /* NULL: none */
	const char *operands;    /* as in the usage line; "" for none */
	const char *summary;     /* a line of `mew-perf -h` */
	const char *description; /* a paragraph for `mew-perf NAME -h`, of one line */
	int takes_program;       /* completion: the first operand is a program */
	const struct mew_option *const *options; /* NULL at the end */
	/* argv[0..argc) are the operands. The exit status. */
	int (*run)(const struct mew_options *o, int argc, char **argv);
};

extern const struct mew_command mew_command_cpu, mew_command_mem, mew_command_run,
	mew_command_report, mew_command_list;
extern const struct mew_command *const mew_commands[]; /* NULL at the end, in the order of help */

/* By name or alias; NULL: none. */
const struct mew_command *mew_command_by_name(const char *name);

/* Set by SIGINT, SIGTERM and SIGHUP. */
extern volatile sig_atomic_t mew_interrupted;

/* Help, generated from the rows. */
void mew_help_program(struct mew_buffer *out);
void mew_help_command(const struct mew_command *command, struct mew_buffer *out);

/* What shells ask: mew-perf --complete INDEX WORD..., the words behind "mew-perf", WORD[INDEX] to
 * be completed. Candidates go to stdout, a line each. The exit status. */
int mew_complete(int argc, char **argv);

#endif
