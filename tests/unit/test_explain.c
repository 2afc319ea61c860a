/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/explain.h"

static void expect(int err, const char *name, int64_t paranoid, int has_pmu, const char *text)
{
	struct mew_explain_facts facts = {paranoid, has_pmu, 1024};
	struct mew_error error;

	assert_int_equal(mew_explain(err, name, &facts, &error), -err);
	assert_int_equal(error.code, -err);
	assert_string_equal(error.text, text);
}

static void explain_denied_by_paranoid_names_value_and_command(void **state)
{
	(void)state;
	expect(EACCES, "cpu-clock:u", 3, 0,
	       "perf_event_open is not permitted (kernel.perf_event_paranoid is 3; allow it by: "
	       "sudo sysctl kernel.perf_event_paranoid=2)");
	expect(EPERM, NULL, 4, 0,
	       "perf_event_open is not permitted (kernel.perf_event_paranoid is 4; allow it by: "
	       "sudo sysctl kernel.perf_event_paranoid=2)");
}

static void explain_kernels_side_needs_a_lower_value(void **state)
{
	static const char *const names[] = {"cycles:k",         "cycles:uk",
					    "context-switches", "sched:sched_switch",
					    "cpu/event=1/k",    "cpu/event=1/uk"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mew_explain_facts facts = {2, 0, 1024};
		struct mew_error error;

		mew_explain(EACCES, names[i], &facts, &error);
		assert_non_null(strstr(error.text, "needs the kernel's side"));
		assert_non_null(strstr(error.text, names[i]));
		assert_non_null(strstr(error.text, "kernel.perf_event_paranoid is 2"));
		assert_non_null(strstr(error.text, "sudo sysctl kernel.perf_event_paranoid=1"));
	}
}

static void explain_denied_while_paranoid_allows_is_a_container(void **state)
{
	static const char *const names[] = {"cpu-clock:u", "cycles:upp", "cpu/event=1/u",
					    "cpu/event=1/up"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		expect(EPERM, names[i], 2, 0,
		       "perf_event_open is not permitted, though kernel.perf_event_paranoid is 2 "
		       "(in a container: start it with --cap-add PERFMON, or a seccomp profile "
		       "that allows it)");
	expect(EPERM, "cycles:k", 1, 0,
	       "perf_event_open is not permitted, though kernel.perf_event_paranoid is 1 "
	       "(in a container: start it with --cap-add PERFMON, or a seccomp profile "
	       "that allows it)");
	expect(EACCES, "cpu-clock:u", INT64_MIN, 0,
	       "perf_event_open is not permitted, and kernel.perf_event_paranoid cannot be read "
	       "(in a container: start it with --cap-add PERFMON, or a seccomp profile that "
	       "allows it)");
}

static void explain_missing_call_is_a_kernel_or_a_container(void **state)
{
	(void)state;
	expect(ENOSYS, NULL, 2, 0,
	       "perf_event_open is not there: the kernel was built without it, or it is filtered "
	       "out (in a container: start it with --cap-add PERFMON, or a seccomp profile that "
	       "allows it)");
}

static void explain_missing_event_says_whether_there_are_counters(void **state)
{
	(void)state;
	expect(ENOENT, "cycles:u", 2, 0,
	       "event 'cycles:u' cannot be sampled on this machine (no hardware counters)");
	expect(ENOENT, "stalled-cycles-backend:u", 2, 1,
	       "event 'stalled-cycles-backend:u' cannot be sampled on this machine (its counters "
	       "do not know it)");
	expect(EOPNOTSUPP, "cpu/event=1/u", 2, 1,
	       "event 'cpu/event=1/u' cannot be sampled on this machine (it can only be counted, "
	       "or not at all)");
}

static void explain_other_errors_name_the_event(void **state)
{
	(void)state;
	expect(EMFILE, "cycles:u", 2, 0,
	       "cannot open event 'cycles:u': too many open files (the limit is 1024; raise it "
	       "by: ulimit -n N)");
	expect(EBUSY, "cycles:u", 2, 1,
	       "event 'cycles:u' cannot be sampled: another program holds the counters");
	expect(EINVAL, "uncore/event=1/u", 2, 1,
	       "event 'uncore/event=1/u' cannot be sampled in a thread (the kernel refuses its "
	       "settings)");
	expect(ENOMEM, "cycles:u", 2, 1, "cannot open event 'cycles:u': Cannot allocate memory");
}

static void explain_takes_errno_of_either_sign_and_no_error(void **state)
{
	struct mew_explain_facts facts = {2, 0, 1024};
	struct mew_error error;

	(void)state;
	assert_int_equal(mew_explain(-ENOENT, "cycles:u", &facts, &error), -ENOENT);
	assert_int_equal(error.code, -ENOENT);
	assert_int_equal(mew_explain(ENOENT, "cycles:u", &facts, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explain_denied_by_paranoid_names_value_and_command),
		cmocka_unit_test(explain_kernels_side_needs_a_lower_value),
		cmocka_unit_test(explain_denied_while_paranoid_allows_is_a_container),
		cmocka_unit_test(explain_missing_call_is_a_kernel_or_a_container),
		cmocka_unit_test(explain_missing_event_says_whether_there_are_counters),
		cmocka_unit_test(explain_other_errors_name_the_event),
		cmocka_unit_test(explain_takes_errno_of_either_sign_and_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
