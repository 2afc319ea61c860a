/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "golden.h"
#include "output/output.h"
#include "unit.h"

static void add(struct mew_session *s, const char *const *names, int whole, double weight_s,
		int64_t peak, int64_t held)
{
	struct mew_pvalue *v;
	uint32_t at = 0, i;

	for (i = 0; names[i]; i++) {
		uint32_t f = mew_session_function(s, names[i], i ? "" : "/src/bench.c", i ? 0 : 12,
						  "/bin/bench");

		at = mew_session_stack(s, at, f, 0, i == 2);
	}
	v = mew_case_value(s, &s->cases[0], at, whole);
	v->weight_s = weight_s;
	v->samples = 1;
	v->peak_bytes = peak;
	v->held_bytes = held;
}

#define STACK(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct mew_session *session(enum mew_session_kind kind)
{
	struct mew_session *s = mew_session_new(kind);

	mew_session_case(s, "split_line", "n=2");
	add(s, STACK("loop", "push", "grow", "malloc"), 1, 0.3, 300, 0);
	add(s, STACK("loop", "push"), 1, 0.5, 100, 64);
	add(s, STACK("loop"), 1, 0.1, 0, 0);
	add(s, STACK("loop", "walk\tabout_in_a_function_with_a_name_that_is_rather_long_for_this"),
	    1, 0.05, 0, 0);
	add(s, STACK("malloc"), 0, 0.05, 0, 0);
	mew_session_case(s, "skipped", "")->result = MEW_RESULT_SKIPPED;
	mew_session_case(s, "empty", "");
	return s;
}

static void the_hottest_stacks_come_first(void **state)
{
	struct mew_session *s = session(MEW_SESSION_CPU);
	struct mew_report *r = mew_report_new(s, NULL);
	struct mew_output_options o = {.width = 60};
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	assert_int_equal(mew_output_stacks(r, MEW_STACKS_CPU, &o, &out), 0);
	assert_golden(out.data, "stacks_cpu_60.txt");
	mew_buffer_done(&out);
	mew_report_free(r);
	mew_session_free(s);
}

static void peak_and_held_are_views_of_the_heap(void **state)
{
	struct mew_session *s = session(MEW_SESSION_HEAP);
	struct mew_report *r = mew_report_new(NULL, s);
	struct mew_output_options o = {.top = 1};
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	assert_int_equal(mew_output_stacks(r, MEW_STACKS_PEAK, &o, &out), 0);
	assert_int_equal(mew_output_stacks(r, MEW_STACKS_HELD, &o, &out), 0);
	assert_golden(out.data, "stacks_mem_pipe.txt");
	mew_buffer_reset(&out);
	assert_int_equal(mew_output_stacks(r, MEW_STACKS_CPU, &o, &out), 0);
	assert_string_equal(out.data, "");
	mew_buffer_done(&out);
	mew_report_free(r);
	mew_session_free(s);
}

static void no_memory_is_told(void **state)
{
	struct mew_session *s = session(MEW_SESSION_CPU);
	struct mew_report *r = mew_report_new(s, NULL);
	struct mew_output_options o = {.width = 60};
	struct mew_buffer out = MEW_BUFFER_INIT;
	long n;
	int err;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		err = mew_output_stacks(r, MEW_STACKS_CPU, &o, &out);
		failing_alloc_off();
		assert_int_equal(err, failing_alloc_hit() ? -ENOMEM : 0);
		mew_buffer_done(&out);
		mew_buffer_init(&out);
	}
	mew_report_free(r);
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hottest_stacks_come_first),
		cmocka_unit_test(peak_and_held_are_views_of_the_heap),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
