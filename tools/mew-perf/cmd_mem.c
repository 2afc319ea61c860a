/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "profiling.h"

static const struct mew_option iterations = {.letter = 'n',
					     .name = "iterations",
					     .value = "N",
					     .help = "measured iterations of a case; default: 100",
					     .set = mew_option_set_iterations};

static const struct mew_option *const options[] = {
	&mew_option_filter,
	&iterations,
	&mew_option_warm_up,
	&mew_option_usable,
	&mew_option_thread,
	&mew_option_include_paused,
	&mew_option_mmap,
	&mew_option_timeout,
	&mew_option_repetitions,
	&mew_option_output,
	&mew_option_format,
	&mew_option_csv,
	&mew_option_table,
	&mew_option_db,
	&mew_option_no_db,
	&mew_option_debuginfod,
	&mew_option_split_clones,
	&mew_option_tag,
	&mew_option_wide,
	&mew_option_color,
	&mew_option_quiet,
	&mew_option_verbose,
	&mew_option_help,
	&mew_option_version,
	NULL,
};

static int run(const struct mew_options *o, int argc, char **argv)
{
	return mew_profiling_command(MEW_SESSION_HEAP, o, argc, argv);
}

const struct mew_command mew_command_mem = {
	.name = "mem",
	.alias = "heap",
	.operands = "[--] PROGRAM [ARG...]",
	.summary = "track the heap of the timing loop of each case (also: heap)",
	.description = "Track what the timing loop of each case of PROGRAM takes from the heap: "
		       "exact counts, bytes, the peak, and the functions that allocate. A program "
		       "without libmew is one case.",
	.takes_program = 1,
	.options = options,
	.run = run,
};
