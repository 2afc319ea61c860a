/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "failing_alloc.h"
#include "profile/profile.h"
#include "unit.h"

static uint32_t function(struct mew_session *s, const char *name, uint32_t line)
{
	return mew_session_function(s, name, line ? "/src/a.c" : "", line, "/bin/bench");
}

static void texts_are_kept_once(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);

	(void)state;
	assert_ptr_equal(mew_session_text(s, "n=100"), mew_session_printf(s, "n=%d", 100));
	assert_ptr_not_equal(mew_session_text(s, "n=100"), mew_session_text(s, "n=101"));
	mew_session_free(s);
	mew_session_free(NULL);
}

static void functions_and_stacks_have_one_index_each(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	uint32_t f = function(s, "f", 12), g = function(s, "f", 13), a, b;

	(void)state;
	assert_int_not_equal(f, g);
	assert_int_equal(function(s, "f", 12), f);
	a = mew_session_stack(s, 0, f, 3, 0);
	b = mew_session_stack(s, a, f, 3, 0);
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_int_equal(mew_session_stack(s, 0, f, 3, 0), a);
	assert_int_not_equal(mew_session_stack(s, 0, f, 3, 1), a);
	assert_int_not_equal(mew_session_stack(s, 0, f, 4, 0), a);
	assert_int_equal(s->n_functions, 2);
	assert_int_equal(s->n_stacks, 5);
	assert_int_equal(mew_session_function(s, "malloc", "", 0, "x"), 2);
	assert_int_equal(s->functions[2].role, MEW_ROLE_ALLOCATOR);
	mew_session_free(s);
}

static void values_are_apart_by_case_stack_and_wholeness(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	uint32_t i;

	(void)state;
	for (i = 0; i < 20; i++)
		assert_non_null(mew_session_case(s, "same", ""));
	for (i = 0; i < 1000; i++)
		mew_case_value(s, &s->cases[i % 20], i / 20, (int)(i % 2))->samples += i;
	for (i = 0; i < 1000; i++)
		assert_int_equal(
			mew_case_value(s, &s->cases[i % 20], i / 20, (int)(i % 2))->samples, i);
	assert_int_equal(s->cases[7].n_values, 50);
	mew_session_free(s);
}

static void a_new_case_has_measured_nothing(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "k", NULL);

	(void)state;
	assert_string_equal(c->label, "");
	assert_true(isnan(c->cpu.wall_time_s) && isnan(c->cpu.slowdown) &&
		    isnan(c->cpu.time_per_iteration_s) && isnan(c->cpu.pause_cost_s));
	assert_true(isnan(c->heap.allocations_per_iteration));
	mew_session_free(s);
}

static void self_time_is_summed_over_call_sites_by_weight(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	uint32_t hot = function(s, "hot", 12), main_ = function(s, "main", 3);
	uint32_t root = mew_session_stack(s, 0, main_, 3, 0);
	struct mew_pcase *c = mew_session_case(s, "k", "");
	struct mew_pvalue *v;

	(void)state;
	/* Three samples of 0.1 s in main against two of 0.2 s in hot, from two places. */
	v = mew_case_value(s, c, root, 1);
	v->samples = 3;
	v->weight_s = 0.3;
	v = mew_case_value(s, c, mew_session_stack(s, root, hot, 5, 0), 1);
	v->samples = 1;
	v->weight_s = 0.2;
	v = mew_case_value(s, c, mew_session_stack(s, root, hot, 6, 0), 0);
	v->samples = 1;
	v->weight_s = 0.2;
	assert_int_equal(mew_case_summarise(s, c), 0);
	assert_string_equal(c->cpu.top_function, "hot (a.c:12)");
	assert_near(c->cpu.top_self_s, 0.4, 1e-12);
	assert_near(c->cpu.user_time_s, 0.7, 1e-12);
	assert_near(c->cpu.top_share, 4. / 7, 1e-12);
	assert_near(c->cpu.top_share_half_width, mew_share_half_width(4. / 7, 5), 1e-12);
	mew_session_free(s);
}

static void equal_functions_are_told_apart_by_name(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "k", "");
	const char *names[] = {"zeta", "beta", "alpha", "gamma"};
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		mew_case_value(s, c, mew_session_stack(s, 0, function(s, names[i], 0), 0, 0), 1)
			->weight_s = 0.25;
	assert_int_equal(mew_case_summarise(s, c), 0);
	assert_string_equal(c->cpu.top_function, "alpha (bench)");
	mew_session_free(s);
}

static void a_case_without_samples_says_so(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "k", "");

	(void)state;
	assert_int_equal(mew_case_summarise(s, c), 0);
	assert_string_equal(c->cpu.top_function, "<no samples>");
	assert_near(c->cpu.top_self_s, 0, 0);
	assert_true(isnan(c->cpu.top_share));
	mew_session_free(s);
}

/* Occurrences share the user time, which may be too short for the clock. */
static void samples_without_weight_tell_the_top_function(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "k", "");

	(void)state;
	mew_case_value(s, c, mew_session_stack(s, 0, function(s, "few", 1), 1, 0), 1)->samples = 2;
	mew_case_value(s, c, mew_session_stack(s, 0, function(s, "many", 2), 2, 0), 1)->samples = 3;
	assert_int_equal(mew_case_summarise(s, c), 0);
	assert_string_equal(c->cpu.top_function, "many (a.c:2)");
	assert_near(c->cpu.top_self_s, 0, 0);
	assert_true(isnan(c->cpu.top_share));
	mew_session_free(s);
}

static void the_top_allocator_is_who_answers_for_the_bytes(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c = mew_session_case(s, "k", "");
	uint32_t push = mew_session_stack(s, 0, function(s, "push", 44), 0, 0), at;
	struct mew_pvalue *v;

	(void)state;
	at = mew_session_stack(s, push, mew_session_function(s, "strdup", "", 0, "libc.so.6"), 0,
			       0);
	at = mew_session_stack(s, at, mew_session_function(s, "malloc", "", 0, "libc.so.6"), 0, 0);
	v = mew_case_value(s, c, at, 1);
	v->bytes = 300;
	v->peak_bytes = 200;
	v = mew_case_value(s, c, mew_session_stack(s, 0, function(s, "split", 53), 0, 0), 1);
	v->bytes = 100;
	v->peak_bytes = 66;
	assert_int_equal(mew_case_summarise(s, c), 0);
	assert_string_equal(c->heap.top_allocator, "push (a.c:44)");
	assert_near(c->heap.top_allocator_share, 0.75, 1e-12);
	assert_int_equal(c->heap.total_bytes, 266);
	mew_session_free(s);
}

static void a_function_is_described_by_what_is_known(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	struct mew_pfunction f = {.name = "f", .file = "/a/b.c", .line = 12, .module = "/lib/x.so"};

	(void)state;
	mew_pfunction_describe(&f, &b);
	assert_string_equal(b.data, "f (b.c:12)");
	mew_buffer_reset(&b);
	f.line = 0;
	mew_pfunction_describe(&f, &b);
	assert_string_equal(b.data, "f (b.c)");
	mew_buffer_reset(&b);
	f.file = "";
	mew_pfunction_describe(&f, &b);
	assert_string_equal(b.data, "f (x.so)");
	mew_buffer_reset(&b);
	f.name = "[x.so]";
	mew_pfunction_describe(&f, &b);
	assert_string_equal(b.data, "[x.so]");
	mew_buffer_done(&b);
}

static void the_interval_of_a_share_does_not_vanish_at_its_ends(void **state)
{
	(void)state;
	/* Wilson: 58 % of 1088 samples; 0 of 10 is 0 to 27.8 %, half of it. */
	assert_near(mew_share_half_width(0.58, 1088), 0.02928, 5e-5);
	assert_near(mew_share_half_width(0, 10), 0.1388, 5e-4);
	assert_near(mew_share_half_width(1, 10), 0.1388, 5e-4);
	assert_true(isnan(mew_share_half_width(0.5, 0)));
}

static int build(struct mew_session **ret)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c;
	struct mew_pvalue *v;
	uint32_t f, stack = 0;
	char name[16];
	int i;

	*ret = s;
	if (!s)
		return -ENOMEM;
	c = mew_session_case(s, "k", "l");
	if (!c)
		return -ENOMEM;
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		f = mew_session_function(s, name, "a.c", 1, "m");
		if (f == UINT32_MAX)
			return -ENOMEM;
		stack = mew_session_stack(s, stack, f, 0, 0);
		if (stack == UINT32_MAX)
			return -ENOMEM;
		v = mew_case_value(s, c, stack, 1);
		if (!v)
			return -ENOMEM;
		v->bytes = 1;
	}
	if (mew_case_counter(s, c, "items", 5, 0))
		return -ENOMEM;
	return mew_case_summarise(s, c);
}

static void no_memory_is_told_wherever_it_ends(void **state)
{
	struct mew_session *s;
	long n;
	int err;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		err = build(&s);
		failing_alloc_off();
		assert_int_equal(err, failing_alloc_hit() ? -ENOMEM : 0);
		if (!err) {
			assert_int_equal(s->cases[0].n_values, 40);
			assert_string_equal(s->cases[0].heap.top_allocator, "f0 (a.c:1)");
		}
		mew_session_free(s);
	}
	assert_true(n > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_kept_once),
		cmocka_unit_test(functions_and_stacks_have_one_index_each),
		cmocka_unit_test(values_are_apart_by_case_stack_and_wholeness),
		cmocka_unit_test(a_new_case_has_measured_nothing),
		cmocka_unit_test(self_time_is_summed_over_call_sites_by_weight),
		cmocka_unit_test(equal_functions_are_told_apart_by_name),
		cmocka_unit_test(a_case_without_samples_says_so),
		cmocka_unit_test(samples_without_weight_tell_the_top_function),
		cmocka_unit_test(the_top_allocator_is_who_answers_for_the_bytes),
		cmocka_unit_test(a_function_is_described_by_what_is_known),
		cmocka_unit_test(the_interval_of_a_share_does_not_vanish_at_its_ends),
		cmocka_unit_test(no_memory_is_told_wherever_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
