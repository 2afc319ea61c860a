/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion for shells: reads the words as getopt_long would, and prints what may stand at one of
 * them. A line ":file" or ":program" asks the shell for its own names.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "command.h"
#include "kernel/event.h"
#include "results.h"
#include "session/session.h"

struct completion {
	const struct mew_command *command;
	char **words; /* behind the command's name */
	int n, at;    /* words; the one to be completed */
	struct mew_buffer out;
};

/* What a word is. */
enum place {
	PLACE_OPTION,  /* begins with a dash, or may */
	PLACE_VALUE,   /* of the option in the word before */
	PLACE_PROGRAM, /* the first operand */
	PLACE_ARGUMENT,
};

static const struct mew_option *option_of(const struct completion *c, const char *word)
{
	if (!strncmp(word, "--", 2))
		return mew_option_by_name(c->command->options, word + 2, strcspn(word + 2, "="));
	/* In -qk, k is what may take a value. */
	for (word++; *word; word++) {
		const struct mew_option *o = mew_option_by_letter(c->command->options, *word);

		if (!o || o->value)
			return o;
	}
	return NULL;
}

/* Does the option in word take the next word as its value? */
static int wants_next(const struct completion *c, const char *word, const struct mew_option **ret)
{
	const struct mew_option *o = option_of(c, word);
	const char *letter;

	*ret = o;
	if (!o || !o->value || o->optional)
		return 0;
	if (!strncmp(word, "--", 2))
		return !strchr(word, '=');
	letter = strchr(word + 1, o->letter);
	return letter && !letter[1];
}

/* What word `at` is; *ret_program is the index of PROGRAM, or -1. */
static enum place place_of(const struct completion *c, const struct mew_option **ret_option,
			   int *ret_program)
{
	enum place place = PLACE_ARGUMENT;
	const struct mew_option *o;
	int operands = 0;

	*ret_program = -1;
	*ret_option = NULL;
	for (int i = 0; i < c->n; i++) {
		const char *word = c->words[i];

		if (!operands && !strcmp(word, "--") && i != c->at) {
			operands = 1;
			continue;
		}
		/* An empty word that is being typed is not PROGRAM when one follows. */
		if (operands || *word != '-' || (!word[1] && i != c->at)) {
			if (i == c->at)
				place = PLACE_PROGRAM;
			else
				*ret_program = i;
			if (i != c->at || operands)
				break;
			continue;
		}
		if (i == c->at)
			place = PLACE_OPTION;
		if (i != c->at && wants_next(c, word, &o)) {
			i++;
			if (i == c->at) {
				place = PLACE_VALUE;
				*ret_option = o;
			}
		}
	}
	return place;
}

static void add(struct completion *c, const char *candidate)
{
	mew_buffer_puts(&c->out, candidate);
	mew_buffer_putc(&c->out, '\n');
}

static void add_event(void *arg, const char *name, const char *summary)
{
	(void)summary;
	add(arg, name);
}

/* The key as a regular expression that means it. */
static void add_key(struct completion *c, const char *key)
{
	if (strchr(key, '\n')) /* a line is a candidate */
		return;
	if (*key == '-')
		mew_buffer_putc(&c->out, '^'); /* a leading dash excludes */
	for (; *key; key++) {
		if (strchr("\\[](){}*+?|^$", *key))
			mew_buffer_putc(&c->out, '\\');
		mew_buffer_putc(&c->out, *key);
	}
	mew_buffer_putc(&c->out, '\n');
}

/* Keys of the program on the line, if it says that it is a benchmark: no other is started. */
static void add_cases(struct completion *c, int program_at)
{
	struct mew_listed_case *cases = NULL;
	struct mew_program program = {0};
	size_t n = 0;

	if (program_at < 0 || mew_program_inspect(c->words[program_at], &program, NULL))
		return;
	if (program.kind == MEW_PROGRAM_BENCHMARK &&
	    !mew_session_list(c->words + program_at, &cases, &n, NULL))
		for (size_t i = 0; i < n; i++)
			add_key(c, cases[i].key);
	free(cases);
	mew_program_done(&program);
}

static void add_words(struct completion *c, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		mew_buffer_add(&c->out, words, n);
		mew_buffer_putc(&c->out, '\n');
		words += n;
		words += *words == ' ';
	}
}

static void add_value(struct completion *c, const struct mew_option *o, int program_at)
{
	if (!o->complete)
		return;
	if (!strcmp(o->complete, MEW_COMPLETE_FILE))
		add(c, MEW_COMPLETE_FILE);
	else if (!strcmp(o->complete, MEW_COMPLETE_CASE))
		add_cases(c, program_at);
	else if (!strcmp(o->complete, MEW_COMPLETE_EVENT))
		mew_event_list(NULL, add_event, c, NULL);
	else if (!strcmp(o->complete, MEW_COMPLETE_FORMAT))
		for (const struct mew_output_format *const *f = mew_output_formats; *f; f++)
			add(c, (*f)->name);
	else
		add_words(c, o->complete);
}

static void add_options(struct completion *c)
{
	for (const struct mew_option *const *row = c->command->options; *row; row++)
		mew_buffer_printf(&c->out, "--%s\n", (*row)->name);
}

static void complete_command_line(struct completion *c)
{
	const struct mew_option *o;
	int program_at;
	enum place place = place_of(c, &o, &program_at);
	const char *word = c->words[c->at], *equals = strchr(word, '=');

	if (place == PLACE_OPTION && equals && !strncmp(word, "--", 2)) {
		o = option_of(c, word);
		place = PLACE_VALUE;
	}
	if (place == PLACE_OPTION)
		add_options(c);
	else if (place == PLACE_VALUE && o)
		add_value(c, o, program_at);
	else if (place == PLACE_PROGRAM && c->command->takes_program)
		add(c, ":program");
	else if (place == PLACE_ARGUMENT)
		add(c, MEW_COMPLETE_FILE);
}

static void add_commands(struct completion *c)
{
	for (const struct mew_command *const *command = mew_commands; *command; command++)
		add(c, (*command)->name);
	add(c, "--help");
	add(c, "--version");
}

int mew_complete(int argc, char **argv)
{
	struct completion c = {.words = argv + 2, .n = argc - 2};
	uint64_t at;
	int status;

	if (argc < 2 || mew_parse_u64(argv[0], &at) || at >= (uint64_t)argc - 1)
		return MEW_EXIT_USAGE;
	mew_buffer_init(&c.out);
	c.at = (int)at - 1;
	c.command = mew_command_by_name(argv[1]);
	if (!at)
		add_commands(&c);
	else if (c.command)
		complete_command_line(&c);
	status = mew_results_print(&c.out);
	mew_buffer_done(&c.out);
	return status;
}
