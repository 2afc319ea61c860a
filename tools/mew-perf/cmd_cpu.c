/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "profiling.h"

static const struct mew_option iterations = {
	.letter = 'n',
	.name = "iterations",
	.alias = "inner-iterations",
	.value = "N",
	.help = "of a case, exactly; default: rounds of 1000 until there are 1000 samples, "
		"5 s at most",
	.set = mew_option_set_iterations};

static const struct mew_option *const options[] = {
	&mew_option_filter,     &iterations,
	&mew_option_interval,   &mew_option_frequency,
	&mew_option_count,      &mew_option_event,
	&mew_option_pause,      &mew_option_stack_size,
	&mew_option_timeout,    &mew_option_repetitions,
	&mew_option_output,     &mew_option_format,
	&mew_option_csv,        &mew_option_table,
	&mew_option_db,         &mew_option_no_db,
	&mew_option_debuginfod, &mew_option_split_clones,
	&mew_option_tag,        &mew_option_wide,
	&mew_option_color,      &mew_option_quiet,
	&mew_option_verbose,    &mew_option_help,
	&mew_option_version,    NULL,
};

static int run(const struct mew_options *o, int argc, char **argv)
{
	return mew_profiling_command(MEW_SESSION_CPU, o, argc, argv);
}

const struct mew_command mew_command_cpu = {
	.name = "cpu",
	.operands = "[--] PROGRAM [ARG...]",
	.summary = "sample the timing loop of each case",
	.description = "Sample the timing loop of each case of PROGRAM: its time, the hottest "
		       "function, time in the kernel and off the CPU. A program without libmew "
		       "is one case.",
	.takes_program = 1,
	.options = options,
	.run = run,
};
