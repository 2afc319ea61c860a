/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "unit.h"

static struct mew_buffer said;

static void note(void *arg, const char *line)
{
	(void)arg;
	mew_buffer_puts(&said, line);
	mew_buffer_putc(&said, '\n');
}

static void check(const struct mew_session *s, const struct mew_output_options *o, const char *want)
{
	mew_buffer_init(&said);
	mew_output_notes(s, o, note, NULL);
	assert_string_equal(said.data, want);
	mew_buffer_done(&said);
}

static const struct mew_output_options plain = {.hint_command = "mew-perf cpu",
						.hint_program = "./bench_text"};

static struct mew_pcase *doubtful(struct mew_session *s, const char *key)
{
	struct mew_pcase *c = mew_session_case(s, key, "");

	c->doubtful = 1;
	c->verdict = "noisy: +-6.3% over 30 iterations";
	c->hint = "-n 300";
	return c;
}

static void a_doubtful_row_has_its_reason_and_a_command_to_paste(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);

	(void)state;
	mew_session_case(s, "fine", "");
	doubtful(s, "sort_ints/case:2");
	check(s, &plain,
	      "warning: sort_ints/case:2: noisy: +-6.3% over 30 iterations\n"
	      "hint: mew-perf cpu -k sort_ints/case:2 -n 300 ./bench_text\n");
	s->whole_program = 1;
	check(s, &plain,
	      "warning: sort_ints/case:2: noisy: +-6.3% over 30 iterations\n"
	      "hint: mew-perf cpu -n 300 ./bench_text\n");
	s->cases[1].hint = "";
	check(s, &plain, "warning: sort_ints/case:2: noisy: +-6.3% over 30 iterations\n");
	mew_session_free(s);
}

static void a_hint_selects_its_case_alone(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);

	(void)state;
	doubtful(s, "f/case:1");
	mew_session_case(s, "f/case:10", "");
	check(s, &plain,
	      "warning: f/case:1: noisy: +-6.3% over 30 iterations\n"
	      "hint: mew-perf cpu -k '^f/case:1$' -n 300 ./bench_text\n");
	mew_session_free(s);
	s = mew_session_new(MEW_SESSION_CPU);
	doubtful(s, "it's a(b) $x");
	check(s, &plain,
	      "warning: it's a(b) $x: noisy: +-6.3% over 30 iterations\n"
	      "hint: mew-perf cpu -k 'it'\\''s a\\(b\\) \\$x' -n 300 ./bench_text\n");
	mew_session_free(s);
	s = mew_session_new(MEW_SESSION_CPU);
	doubtful(s, "new\nline");
	check(s, &plain,
	      "warning: new\nline: noisy: +-6.3% over 30 iterations\n"
	      "hint: mew-perf cpu -k 'new.line' -n 300 ./bench_text\n");
	mew_session_free(s);
}

static void a_failed_case_is_a_warning_and_a_skipped_one_a_plain_line(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = doubtful(s, "f");

	(void)state;
	c->result = MEW_RESULT_FAILED;
	c->reason = "killed by SIGSEGV";
	c = doubtful(s, "g");
	c->result = MEW_RESULT_SKIPPED;
	c->reason = "no GPU";
	check(s, &plain,
	      "warning: f: failed: killed by SIGSEGV\n"
	      "g: skipped: no GPU\n");
	mew_session_free(s);
}

static void add(struct mew_session *s, const char *name, const char *file, const char *module,
		double weight_s)
{
	uint32_t f = mew_session_function(s, name, file, 1, module);

	mew_case_value(s, &s->cases[0], mew_session_stack(s, 0, f, 0, 0), 1)->weight_s = weight_s;
}

static void a_program_without_debug_info_is_told_how_to_build_it(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_output_options o = plain;

	(void)state;
	s->program = "/home/me/bench";
	mew_session_case(s, "k", "");
	add(s, "f", "", "/home/me/bench", 3);
	add(s, "strlen", "", "/lib/libc.so.6", 1);
	check(s, &plain,
	      "warning: 'bench' has no debug info: 75% of the time\n"
	      "hint: build it with -g\n");
	/* Whoever runs a whole program may not be who builds it. */
	s->whole_program = 1;
	check(s, &plain, "");
	s->whole_program = 0;
	/* Crt code of a program that has it is none of the user's business. */
	mew_session_function(s, "caller", "caller.c", 1, "/home/me/bench");
	check(s, &plain, "");
	add(s, "g", "g.c", "/home/me/bench", 3);
	check(s, &plain, "");
	o.verbose = 1;
	check(s, &o,
	      "'/lib/libc.so.6' has no debug info: 14% of the time\n"
	      "hint: build it with -g\n");
	mew_session_free(s);
}

static int tell(const char *path, struct mew_buffer *ret_build_id, struct mew_buffer *ret_package)
{
	if (!strcmp(path, "/lib/replaced.so"))
		return 0;
	mew_buffer_puts(ret_build_id, strcmp(path, "/opt/no_id") ? "12ab" : "");
	mew_buffer_puts(ret_package, strcmp(path, "/lib/libsqlite3.so.0") ? "" : "libsqlite3-0");
	return 1;
}

static void code_without_names_is_told_with_what_would_help(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_output_options o = plain;

	(void)state;
	o.module = tell;
	o.hint_debuginfod = "--debuginfod=URL";
	s->whole_program = 1;
	mew_session_case(s, "k", "");
	add(s, "[libsqlite3.so.0]", "", "/lib/libsqlite3.so.0", 3);
	add(s, "sqlite3VdbeExec", "", "/lib/libsqlite3.so.0", 1);
	add(s, "strlen", "", "/lib/libc.so.6", 2);
	add(s, "[replaced.so]", "", "/lib/replaced.so", 1);
	add(s, "[no_id]", "", "/opt/no_id", 1);
	check(s, &o,
	      "'libsqlite3.so.0' has no debug info: 50% of the time\n"
	      "hint: the -dbgsym or -dbg package of libsqlite3-0, or --debuginfod=URL\n"
	      "'no_id' has no debug info: 12% of the time\n"
	      "hint: build it with -g\n");
	o.verbose = 1;
	o.hint_debuginfod = NULL;
	check(s, &o,
	      "'/lib/libsqlite3.so.0' has no debug info: 50% of the time, build-id 12ab\n"
	      "hint: the -dbgsym or -dbg package of libsqlite3-0\n"
	      "'/lib/libc.so.6' has no debug info: 25% of the time, build-id 12ab\n"
	      "hint: build it with -g\n"
	      "'/opt/no_id' has no debug info: 12% of the time\n"
	      "hint: build it with -g\n");
	mew_session_free(s);
}

static void shortened_names_are_told_once(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_output_options o = plain;

	(void)state;
	mew_session_case(s, "k", "")->cpu.top_function =
		"a_function_whose_name_does_not_fit_into_eighty_columns_beside_its_figures";
	o.width = 80;
	check(s, &o, "hint: 1 name is shortened; -w shows it whole\n");
	o.width = 0;
	check(s, &o, "");
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_doubtful_row_has_its_reason_and_a_command_to_paste),
		cmocka_unit_test(a_hint_selects_its_case_alone),
		cmocka_unit_test(a_failed_case_is_a_warning_and_a_skipped_one_a_plain_line),
		cmocka_unit_test(a_program_without_debug_info_is_told_how_to_build_it),
		cmocka_unit_test(code_without_names_is_told_with_what_would_help),
		cmocka_unit_test(shortened_names_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
