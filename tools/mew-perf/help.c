/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

void mew_help_program(struct mew_buffer *out)
{
	mew_buffer_puts(out,
			"usage: mew-perf COMMAND [options] ...\n"
			"Where the timing loops of a benchmark spend CPU time and heap memory.\n"
			"\n");
	for (const struct mew_command *const *c = mew_commands; *c; c++)
		mew_buffer_printf(out, "  %-8s %s\n", (*c)->name, (*c)->summary);
	mew_buffer_puts(out, "\n"
			     "  -h, --help   this, or the help of a command: mew-perf COMMAND -h\n"
			     "  --version    the version\n"
			     "\n"
			     "Manual: man mew-perf, man mew-perf-COMMAND, man 3 mew\n");
}

/* The words of text from column on, broken at the width. */
static void wrap(struct mew_buffer *out, const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t len = strcspn(text, " \n");

		if (at > column && at + 1 + len > HELP_WIDTH) {
			mew_buffer_putc(out, '\n');
			mew_buffer_fill(out, ' ', column);
			at = column;
		} else if (at > column) {
			mew_buffer_putc(out, ' ');
			at++;
		}
		mew_buffer_add(out, text, len);
		at += len;
		text += len;
		text += *text != '\0';
	}
	mew_buffer_putc(out, '\n');
}

static void help_option(const struct mew_option *o, struct mew_buffer *out)
{
	size_t start = out->len, width;

	if (o->letter)
		mew_buffer_printf(out, "  -%c, --%s", o->letter, o->name);
	else
		mew_buffer_printf(out, "      --%s", o->name);
	if (o->value && o->optional)
		mew_buffer_printf(out, "[=%s]", o->value);
	else if (o->value)
		mew_buffer_printf(out, " %s", o->value);
	width = out->len - start;
	if (width + 2 > HELP_COLUMN) {
		mew_buffer_putc(out, '\n');
		width = 0;
	}
	mew_buffer_fill(out, ' ', HELP_COLUMN - width);
	wrap(out, o->help, HELP_COLUMN);
}

void mew_help_command(const struct mew_command *command, struct mew_buffer *out)
{
	mew_buffer_printf(out, "usage: mew-perf %s [options]%s%s\n", command->name,
			  *command->operands ? " " : "", command->operands);
	if (command->alias)
		mew_buffer_printf(out, "   or: mew-perf %s ...\n", command->alias);
	wrap(out, command->description, 0);
	mew_buffer_putc(out, '\n');
	for (const struct mew_option *const *o = command->options; *o; o++)
		help_option(*o, out);
}
