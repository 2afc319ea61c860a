/* SPDX-License-Identifier: Apache-2.0 */
/* What mem counts other than by default: the rows that mem and run share. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "options.h"

static const char thread_words[] = "all self";

static int set_flag(struct mew_options *o, enum mew_heap_flags flag, int on)
{
	o->heap_flags &= ~(uint32_t)flag;
	if (on)
		o->heap_flags |= flag;
	return 0;
}

static int set_usable(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)value;
	(void)error;
	return set_flag(o, MEW_HEAP_USABLE, 1);
}

static int set_include_paused(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)value;
	(void)error;
	return set_flag(o, MEW_HEAP_PAUSED, 1);
}

static int set_mmap(struct mew_options *o, const char *value, struct mew_error *error)
{
	(void)value;
	(void)error;
	return set_flag(o, MEW_HEAP_MMAP, 1);
}

static int set_thread(struct mew_options *o, const char *value, struct mew_error *error)
{
	int is_self = !strcmp(value, "self");

	if (!is_self && strcmp(value, "all"))
		return mew_error_set(error, -EINVAL, "'%s' is none of: %s", value, thread_words);
	return set_flag(o, MEW_HEAP_SELF, is_self);
}

const struct mew_option mew_option_usable = {
	.name = "usable",
	.help = "count blocks with what is usable of them, not with what was asked for",
	.set = set_usable};
const struct mew_option mew_option_thread = {
	.name = "thread",
	.value = "WHICH",
	.complete = thread_words,
	.help = "whose allocations count: all threads' (the default), or self: those of the loop "
		"alone; of a program without libmew, the main one",
	.set = set_thread};
const struct mew_option mew_option_include_paused = {
	.name = "include-paused", .help = "count in pauses too", .set = set_include_paused};
const struct mew_option mew_option_mmap = {
	.name = "mmap",
	.help = "count apart what the program maps by mmap itself",
	.set = set_mmap};
