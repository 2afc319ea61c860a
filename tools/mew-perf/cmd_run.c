/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>

#include "profile/report.h"
#include "profiling.h"
#include "say.h"

static const struct mew_option iterations = {
	.letter = 'n',
	.name = "iterations",
	.alias = "inner-iterations",
	.value = "N",
	.help = "of a case, exactly, in both runs; default: cpu until there are 1000 samples, "
		"mem 100",
	.set = mew_option_set_iterations};

static const struct mew_option *const options[] = {
	&mew_option_filter,
	&iterations,
	&mew_option_interval,
	&mew_option_frequency,
	&mew_option_count,
	&mew_option_event,
	&mew_option_pause,
	&mew_option_stack_size,
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

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int blank_line(const struct mew_options *o)
{
	struct mew_buffer line = MEW_BUFFER_INIT;
	int status = 0;

	if (mew_results_text(o)) {
		mew_buffer_putc(&line, '\n');
		status = mew_results_print(&line);
	}
	mew_buffer_done(&line);
	return status;
}

/* One engine, and its table when there is a person to read three of them. */
static int engine(struct mew_profiling *p, enum mew_session_kind kind, struct mew_session **ret,
		  int *ret_error)
{
	int status = mew_profiling_run(p, kind, ret, ret_error);

	if (*ret && (*ret)->n_cases)
		status = worse(
			status,
			mew_profiling_show(p, *ret,
					   mew_results_text(p->options) ? MEW_RESULTS_STDOUT : 0));
	return status;
}

static int report(const struct mew_options *o, const struct mew_session *cpu,
		  const struct mew_session *heap)
{
	struct mew_report *r = mew_report_new(cpu, heap);
	struct mew_output_input in = {.report = r};
	struct mew_output_options how;
	int status;

	if (!r) {
		mew_say_error("out of memory");
		return MEW_EXIT_OWN;
	}
	mew_report_sort(r, MEW_SORT_BLAME);
	mew_results_options(o, &how);
	how.hint_command = "mew-perf report";
	how.verbose = 0; /* the heap's shapes stand below its own table */
	status = mew_results_write(o, &in, &how, MEW_RESULTS_ALL);
	if (mew_results_text(o))
		mew_output_report_notes(r, &how, mew_results_note, NULL);
	mew_report_free(r);
	return status;
}

static int run(const struct mew_options *o, int argc, char **argv)
{
	struct mew_profiling p;
	struct mew_session *cpu = NULL, *heap = NULL;
	int status = mew_profiling_open(&p, o, argc, argv), err;

	if (status)
		goto out;
	status = engine(&p, MEW_SESSION_CPU, &cpu, &err);
	if (err == -EPERM || err == -EACCES || err == -ENOSYS) {
		/* The heap hook needs no permission. */
		mew_say_warning("no CPU profile: the kernel does not permit it; the heap follows");
		status = MEW_EXIT_FAILED;
	} else if (err) {
		goto out;
	}
	if (cpu && cpu->n_cases)
		status = worse(status, blank_line(o));
	status = worse(status, engine(&p, MEW_SESSION_HEAP, &heap, &err));
	if (!cpu && !heap)
		goto out;
	status = worse(status, blank_line(o));
	status = worse(status, report(o, cpu, heap));
out:
	mew_session_free(cpu);
	mew_session_free(heap);
	mew_profiling_close(&p);
	return status;
}

const struct mew_command mew_command_run = {
	.name = "run",
	.operands = "[--] PROGRAM [ARG...]",
	.summary = "cpu, then mem, then report",
	.description = "Sample the timing loop of each case of PROGRAM, then track its heap, then "
		       "join both by function. Files of -o and --csv hold the join.",
	.takes_program = 1,
	.options = options,
	.run = run,
};
