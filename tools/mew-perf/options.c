/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "command.h"
#include "say.h"

enum {
	OPTIONS_MAX = 64, /* rows of a command */
	LONG_BASE = 256,  /* getopt_long's value of row i is LONG_BASE + i */
	REPETITIONS_MAX = 100000,
	STACK_BYTES_MAX = 65528, /* perf_event_open(2): below 64 KiB, a multiple of 8 */
};

static const double interval_max_s = 3600;

int mew_option_number(const char *value, uint64_t max, uint64_t *ret, struct mew_error *error)
{
	uint64_t n = 0;
	int err = mew_parse_u64(value, &n);

	if (err == -ERANGE || (!err && n > max))
		return mew_error_set(error, -EINVAL, "'%s' is too large", value);
	if (err || !n)
		return mew_error_set(error, -EINVAL, "'%s' is no whole number from 1", value);
	*ret = n;
	return 0;
}

int mew_option_set_iterations(struct mew_options *o, const char *value, struct mew_error *error)
{
	return mew_option_number(value, UINT64_MAX / 4, &o->iterations, error);
}

static int set_filter(struct mew_options *o, const char *value, struct mew_error *error)
{
	regex_t regex;
	char why[128];
	int err = regcomp(&regex, *value == '-' ? value + 1 : value, REG_EXTENDED | REG_NOSUB);

	if (err) {
		regerror(err, &regex, why, sizeof(why));
		return mew_error_set(error, -EINVAL, "'%s' is no regular expression: %s", value,
				     why);
	}
	regfree(&regex);
	o->filters[o->n_filters++] = value;
	return 0;
}

static int set_repetitions(struct mew_options *o, const char *value, struct mew_error *error)
{
	uint64_t n = 0;
	int err = mew_option_number(value, REPETITIONS_MAX, &n, error);

	if (!err)
		o->repetitions = (unsigned)n;
	return err;
}

static int parse_time(const char *value, double max_s, double *ret, struct mew_error *error)
{
	double seconds = 0;

	if (mew_parse_time(value, &seconds) || !(seconds > 0))
		return mew_error_set(error, -EINVAL, "'%s' is no time such as 100us, 2ms or 1.5s",
				     value);
	if (seconds > max_s)
		return mew_error_set(error, -EINVAL, "'%s' is too long", value);
	*ret = seconds;
	return 0;
}

static int set_timeout(struct mew_options *o, const char *value, struct mew_error *error)
{
	return parse_time(value, 1e9, &o->timeout_s, error);
}

static int set_interval(struct mew_options *o, const char *value, struct mew_error *error)
{
	double seconds = 0;
	int err = parse_time(value, interval_max_s, &seconds, error);

	if (err)
		return err;
	if (seconds < 1e-6)
		return mew_error_set(error, -EINVAL, "'%s' is below 1us", value);
	o->interval_s = seconds;
	return 0;
}

static int set_frequency(struct mew_options *o, const char *value, struct mew_error *error)
{
	uint64_t hz = 0;
	int err = mew_option_number(value, 1000000, &hz, error);

	if (!err)
		o->interval_s = 1.0 / (double)hz;
	return err;
}

static int set_count(struct mew_options *o, const char *value, struct mew_error *error)
{
	return mew_option_number(value, UINT64_MAX / 4, &o->count, error);
}

static int set_event(struct mew_options *o, const char *value, struct mew_error *error)
{
	if (!*value)
		return mew_error_set(error, -EINVAL, "an event has a name");
	o->event = value;
	return 0;
}

static int set_stack_size(struct mew_options *o, const char *value, struct mew_error *error)
{
	uint64_t bytes = 0;

	if (mew_parse_bytes(value, &bytes) || !bytes || bytes > STACK_BYTES_MAX || bytes % 8)
		return mew_error_set(error, -EINVAL, "'%s' is no multiple of 8 up to %d", value,
				     STACK_BYTES_MAX);
	o->stack_bytes = (uint32_t)bytes;
	return 0;
}

/* The place of value among words parted by blanks, or -EINVAL with the choice named. */
static int choose(const char *value, const char *words, struct mew_error *error)
{
	size_t len = strlen(value);
	int at = 0;

	for (const char *word = words; *word; at++) {
		size_t n = strcspn(word, " ");

		if (n == len && !memcmp(word, value, n))
			return at;
		word += n;
		word += *word == ' ';
	}
	return mew_error_set(error, -EINVAL, "'%s' is none of: %s", value, words);
}

static const char pause_words[] = "ioctl clock auto";
static const char table_words[] = "cases functions stacks curve sizes";
static const char color_words[] = "auto always never";

static int set_pause(struct mew_options *o, const char *value, struct mew_error *error)
{
	/* What ioctl means depends on the event: the session settles it. */
	static const enum mew_pause_mode modes[] = {MEW_PAUSE_OUTPUT, MEW_PAUSE_CLOCK,
						    MEW_PAUSE_AUTO};
	int at = choose(value, pause_words, error);

	if (at < 0)
		return at;
	o->pause = modes[at];
	return 0;
}

static int set_warm_up(struct mew_options *o, const char *value, struct mew_error *error)
{
	uint64_t n = 0;

	if (mew_parse_u64(value, &n) || n > UINT64_MAX / 4)
		return mew_error_set(error, -EINVAL, "'%s' is no whole number", value);
	o->warm_up = n;
	return 0;
}

static int set_output(struct mew_options *o, const char *value, struct mew_error *error)
{
	if (!*value)
		return mew_error_set(error, -EINVAL, "a file has a name");
	if (!strcmp(value, "-"))
		o->to_stdout = 1;
	else
		o->files[o->n_files++].path = value;
	return 0;
}

static int set_format(struct mew_options *o, const char *value, struct mew_error *error)
{
	const struct mew_output_format *format = mew_output_format_by_name(value);

	if (!format)
		return mew_error_set(error, -EINVAL, "there is no format '%s'", value);
	o->format = format;
	return 0;
}

static int set_csv(struct mew_options *o, const char *value, struct mew_error *error)
{
	int err;

	if (!value || !strcmp(value, "-")) {
		o->csv = 1;
		return 0;
	}
	err = set_output(o, value, error);
	if (!err)
		o->files[o->n_files - 1].format = mew_output_format_by_name("csv");
	return err;
}

static int set_table(struct mew_options *o, const char *value, struct mew_error *error)
{
	static const enum mew_output_table tables[] = {MEW_TABLE_CASES, MEW_TABLE_FUNCTIONS,
						       MEW_TABLE_STACKS, MEW_TABLE_CURVE,
						       MEW_TABLE_SIZES};
	int at = choose(value, table_words, error);

	if (at < 0)
		return at;
	o->table = tables[at];
	o->table_given = 1;
	return 0;
}

static int set_db(struct mew_options *o, const char *value, struct mew_error *error)
{
	if (!*value)
		return mew_error_set(error, -EINVAL, "a recording has a name");
	o->db = value;
	o->no_db = 0;
	return 0;
}

static int set_tag(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)error;
	o->tag = value;
	return 0;
}

const char *mew_debuginfod_urls;

static int set_debuginfod(struct mew_options *o, const char *value, struct mew_error *error)
{
	o->debuginfod = value && *value ? value : mew_debuginfod_urls;
	if (!o->debuginfod)
		return mew_error_set(error, -EINVAL,
				     "no server: give its URL, or set DEBUGINFOD_URLS");
	return 0;
}

static int set_split_clones(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)value;
	(void)error;
	o->split_clones = 1;
	return 0;
}

static int set_color(struct mew_options *o, const char *value, struct mew_error *error)
{
	static const int colours[] = {-1, 1, 0};
	int at = choose(value, color_words, error);

	if (at < 0)
		return at;
	o->colour = colours[at];
	return 0;
}

#define FLAG(field)                                                                                \
	static int set_##field(struct mew_options *o, const char *value, struct mew_error *error)  \
	{                                                                                          \
		(void)value;                                                                       \
		(void)error;                                                                       \
		o->field = 1;                                                                      \
		return 0;                                                                          \
	}
FLAG(no_db)
FLAG(wide)
FLAG(quiet)
FLAG(verbose)
FLAG(help)
FLAG(version)

const struct mew_option mew_option_filter = {
	.letter = 'k',
	.name = "filter",
	.value = "REGEX",
	.complete = MEW_COMPLETE_CASE,
	.help = "only cases whose key or label matches; '-REGEX' leaves them out; repeatable",
	.set = set_filter};
const struct mew_option mew_option_repetitions = {.letter = 'r',
						  .name = "repetitions",
						  .value = "N",
						  .help = "run all cases N times",
						  .set = set_repetitions};
const struct mew_option mew_option_timeout = {.name = "timeout",
					      .value = "TIME",
					      .help = "a case that takes longer fails",
					      .set = set_timeout};
const struct mew_option mew_option_interval = {
	.name = "interval",
	.value = "TIME",
	.help = "time between samples, exactly; default: 100us, longer where a sample is dear",
	.set = set_interval};
const struct mew_option mew_option_frequency = {.letter = 'F',
						.name = "freq",
						.value = "HZ",
						.help = "the same as samples a second",
						.set = set_frequency};
const struct mew_option mew_option_count = {.letter = 'c',
					    .name = "count",
					    .value = "N",
					    .help = "a sample every N occurrences of the event",
					    .set = set_count};
const struct mew_option mew_option_event = {
	.letter = 'e',
	.name = "event",
	.value = "EVENT",
	.complete = MEW_COMPLETE_EVENT,
	.help = "what to sample by; default: cycles:u where it counts, else cpu-clock:u",
	.set = set_event};
const struct mew_option mew_option_stack_size = {.name = "stack-size",
						 .value = "BYTES",
						 .help = "of the user stack to copy with a sample",
						 .set = set_stack_size};
const struct mew_option mew_option_pause = {
	.name = "pause",
	.value = "HOW",
	.complete = pause_words,
	.help = "how a pause keeps samples out: ioctl, clock, auto (the default)",
	.set = set_pause};
const struct mew_option mew_option_warm_up = {
	.name = "warmup",
	.value = "N",
	.help = "iterations before the measured ones; default: a tenth of them, 1 at least",
	.set = set_warm_up};
const struct mew_option mew_option_output = {
	.letter = 'o',
	.name = "output",
	.value = "FILE",
	.complete = MEW_COMPLETE_FILE,
	.help = "write the result there, in the format of its extension; - is standard output; "
		"repeatable",
	.set = set_output};
const struct mew_option mew_option_format = {
	.name = "format",
	.value = "NAME",
	.complete = MEW_COMPLETE_FORMAT,
	.help = "format of standard output, and of files whose extension tells none",
	.set = set_format};
const struct mew_option mew_option_csv = {.name = "csv",
					  .value = "FILE",
					  .optional = 1,
					  .complete = MEW_COMPLETE_FILE,
					  .help = "CSV, to standard output or to FILE",
					  .set = set_csv};
const struct mew_option mew_option_table = {.name = "table",
					    .value = "ROWS",
					    .complete = table_words,
					    .help = "the rows of CSV: cases (the default), "
						    "functions (report's default), stacks; of the "
						    "heap: curve, sizes",
					    .set = set_table};
const struct mew_option mew_option_db = {.letter = 'd',
					 .name = "db",
					 .value = "FILE",
					 .complete = MEW_COMPLETE_FILE,
					 .help = "the recording; default: mew-perf.db",
					 .set = set_db};
const struct mew_option mew_option_no_db = {
	.name = "no-db", .help = "record nothing", .set = set_no_db};
const struct mew_option mew_option_tag = {.name = "tag",
					  .value = "NAME",
					  .help = "a name for the session in the recording",
					  .set = set_tag};
const struct mew_option mew_option_debuginfod = {
	.name = "debuginfod",
	.value = "URLS",
	.optional = 1,
	.help = "ask these servers for debug files; default $DEBUGINFOD_URLS",
	.set = set_debuginfod};
const struct mew_option mew_option_split_clones = {
	.name = "split-clones",
	.help = "show .cold, .part, .constprop and .isra pieces apart from their functions",
	.set = set_split_clones};
const struct mew_option mew_option_wide = {.letter = 'w',
					   .name = "wide",
					   .help = "every column, nothing shortened, as in a pipe",
					   .set = set_wide};
const struct mew_option mew_option_color = {
	.name = "color",
	.value = "WHEN",
	.complete = color_words,
	.help = "auto (the default: on a terminal, unless NO_COLOR is set), always, never",
	.set = set_color};
const struct mew_option mew_option_quiet = {.letter = 'q',
					    .name = "quiet",
					    .help = "say nothing but results and errors",
					    .set = set_quiet};
const struct mew_option mew_option_verbose = {
	.letter = 'v', .name = "verbose", .help = "say more", .set = set_verbose};
const struct mew_option mew_option_help = {
	.letter = 'h', .name = "help", .help = "show this", .set = set_help};
const struct mew_option mew_option_version = {
	.name = "version", .help = "show the version", .set = set_version};

const struct mew_option *mew_option_by_letter(const struct mew_option *const *rows, int letter)
{
	for (; *rows; rows++)
		if ((*rows)->letter && (*rows)->letter == letter)
			return *rows;
	return NULL;
}

static int is_name(const char *have, const char *name, size_t len)
{
	return have && strlen(have) == len && !memcmp(have, name, len);
}

const struct mew_option *mew_option_by_name(const struct mew_option *const *rows, const char *name,
					    size_t len)
{
	for (; *rows; rows++)
		if (is_name((*rows)->name, name, len) || is_name((*rows)->alias, name, len))
			return *rows;
	return NULL;
}

/* getopt's tables of the rows; each alias is one more long option of the same value. */
struct getopt_tables {
	char letters[2 * OPTIONS_MAX + 3];
	struct option longs[2 * OPTIONS_MAX + 1];
};

static void add_long(struct option *to, const struct mew_option *row, const char *name, int val)
{
	*to = (struct option){name,
			      !row->value     ? no_argument
			      : row->optional ? optional_argument
					      : required_argument,
			      NULL, val};
}

static void fill_tables(struct getopt_tables *t, const struct mew_option *const *rows)
{
	char *letter = t->letters;
	struct option *option = t->longs;

	*letter++ = '+'; /* what stands behind PROGRAM is the program's */
	*letter++ = ':';
	for (int i = 0; rows[i] && i < OPTIONS_MAX; i++) {
		if (rows[i]->letter) {
			*letter++ = (char)rows[i]->letter;
			if (rows[i]->value)
				*letter++ = ':';
		}
		add_long(option++, rows[i], rows[i]->name, LONG_BASE + i);
		if (rows[i]->alias)
			add_long(option++, rows[i], rows[i]->alias, LONG_BASE + i);
	}
	*letter = '\0';
	*option = (struct option){0};
}

/* "--output", or "-o" as it was typed. */
static void spell(char *buf, size_t n, int val, const struct mew_option *const *rows)
{
	if (val >= LONG_BASE)
		snprintf(buf, n, "--%s", rows[val - LONG_BASE]->name);
	else
		snprintf(buf, n, "-%c", val);
}

static void say_unknown(const struct mew_command *command, const char *word)
{
	size_t len = strcspn(word, "=");
	int n_like = 0;

	for (const struct mew_option *const *row = command->options; *row; row++)
		n_like += len > 2 && !strncmp((*row)->name, word + 2, len - 2);
	if (n_like > 1)
		mew_say_error("option '%.*s' is ambiguous", (int)len, word);
	else
		mew_say_error("unknown option '%.*s'", (int)len, word);
	mew_say_error_hint("'mew-perf %s -h' lists the options", command->name);
}

/* Say what getopt found wrong. */
static void say_wrong(const struct mew_command *command, char **argv, int what)
{
	char name[64];

	if (what == '?' && !optopt) {
		say_unknown(command, argv[optind - 1]);
		return;
	}
	if (what == '?' && optopt < LONG_BASE) {
		char word[3] = {'-', (char)optopt, '\0'};

		say_unknown(command, word);
		return;
	}
	spell(name, sizeof(name), optopt, command->options);
	mew_say_error(what == ':' ? "option '%s' needs a value" : "option '%s' takes no value",
		      name);
}

static int exclude(const char *a, const char *b)
{
	mew_say_error("options '%s' and '%s' exclude each other", a, b);
	return -1;
}

int mew_options_parse(struct mew_options *o, const struct mew_command *command, int argc,
		      char **argv)
{
	struct getopt_tables tables;
	struct mew_error error;
	char name[64];
	int val;

	*o = (struct mew_options){.repetitions = 1,
				  .warm_up = UINT64_MAX,
				  .pause = MEW_PAUSE_AUTO,
				  .db = "mew-perf.db",
				  .colour = -1};
	o->filters = calloc((size_t)argc + 1, sizeof(*o->filters));
	o->files = calloc((size_t)argc + 1, sizeof(*o->files));
	if (!o->filters || !o->files) {
		mew_say_error("%s", strerror(ENOMEM));
		return -1;
	}
	fill_tables(&tables, command->options);
	opterr = 0;
	optind = 0; /* start anew: glibc */
	while ((val = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		const struct mew_option *row;

		if (val == '?' || val == ':') {
			say_wrong(command, argv, val);
			return -1;
		}
		row = val >= LONG_BASE ? command->options[val - LONG_BASE]
				       : mew_option_by_letter(command->options, val);
		error = (struct mew_error){0};
		if (row->set(o, optarg, &error)) {
			spell(name, sizeof(name), val, command->options);
			mew_say_error("%s: %s", name, error.text);
			if (row == &mew_option_format)
				mew_say_error_hint("'mew-perf list --formats' lists them");
			return -1;
		}
		if (o->help || o->version)
			return optind;
	}
	if (o->count && o->interval_s > 0)
		return exclude("--count", "--interval");
	return optind;
}

void mew_options_done(struct mew_options *o)
{
	free(o->filters);
	free(o->files);
	o->filters = NULL;
	o->files = NULL;
}
