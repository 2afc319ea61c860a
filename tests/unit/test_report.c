/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "failing_alloc.h"
#include "profile/report.h"
#include "unit.h"

/* root <- names, outermost first. */
static uint32_t stack_of(struct mew_session *s, const char *names)
{
	char text[200], *name, *rest = text;
	uint32_t at = 0;

	snprintf(text, sizeof(text), "%s", names);
	while ((name = strsep(&rest, " ")) && *name)
		at = mew_session_stack(s, at, mew_session_function(s, name, "a.c", 1, "m"), 0, 0);
	return at;
}

static void add_cpu(struct mew_session *s, struct mew_pcase *c, const char *names, int whole,
		    double weight_s)
{
	struct mew_pvalue *v = mew_case_value(s, c, stack_of(s, names), whole);

	v->weight_s += weight_s;
	v->samples++;
}

static void add_heap(struct mew_session *s, struct mew_pcase *c, const char *names, int whole,
		     uint64_t allocations, uint64_t bytes, int64_t peak)
{
	struct mew_pvalue *v = mew_case_value(s, c, stack_of(s, names), whole);

	v->allocations += allocations;
	v->bytes += bytes;
	v->peak_bytes += peak;
}

static const struct mew_report_row *row_of(const struct mew_report_case *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_rows; i++)
		if (!strcmp(c->rows[i].name, name))
			return &c->rows[i];
	return NULL;
}

static void check_row(const struct mew_report_case *c, const char *name, double self, double tax,
		      double total)
{
	const struct mew_report_row *row = row_of(c, name);

	assert_non_null(row);
	assert_near(row->self_s, self, 1e-12);
	assert_near(row->tax_s, tax, 1e-12);
	assert_near(row->total_s, total, 1e-12);
}

static struct mew_session *split_cpu(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "split", "");

	add_cpu(s, c, "loop", 1, 1);
	add_cpu(s, c, "loop push", 1, 2);
	add_cpu(s, c, "loop push realloc _int_realloc nameless", 1, 4);
	add_cpu(s, c, "loop push strdup", 1, 8);
	add_cpu(s, c, "loop push strdup malloc", 1, 16);
	add_cpu(s, c, "loop free", 1, 32);
	add_cpu(s, c, "loop walk walk walk", 1, 64);
	return s;
}

static void the_allocators_time_is_the_tax_of_who_called(void **state)
{
	struct mew_session *s = split_cpu();
	struct mew_report *r = mew_report_new(s, NULL);
	const struct mew_report_case *c = &r->cases[0];

	(void)state;
	assert_int_equal(r->n_cases, 1);
	check_row(c, "loop", 1, 32, 127);
	check_row(c, "push", 2, 20, 30);
	check_row(c, "strdup", 8, 0, 24);
	check_row(c, "walk", 64, 0, 64);
	assert_int_equal(c->n_rows, 4);
	assert_null(row_of(c, "malloc"));
	assert_null(row_of(c, "nameless"));
	assert_near(c->all.self_s, 75, 1e-12);
	assert_near(c->all.tax_s, 52, 1e-12);
	assert_near(c->all.self_share + c->all.tax_share, 1, 1e-12);
	assert_near(row_of(c, "loop")->total_share, 1, 1e-12);
	assert_true(isnan(c->all.bytes) && isnan(row_of(c, "loop")->peak_share));
	mew_report_free(r);
	mew_session_free(s);
}

static void heap_figures_go_to_the_same_caller(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c = mew_session_case(s, "split", "");
	struct mew_report *r;

	(void)state;
	c->heap.iterations = 100;
	add_heap(s, c, "loop push strdup malloc", 1, 1000, 20000, 150);
	add_heap(s, c, "loop push realloc", 1, 300, 9300, 47);
	add_heap(s, c, "loop split malloc", 1, 100, 6900, 69);
	r = mew_report_new(NULL, s);
	assert_near(row_of(&r->cases[0], "push")->allocations, 13, 0);
	assert_near(row_of(&r->cases[0], "push")->bytes, 293, 0);
	assert_near(row_of(&r->cases[0], "push")->peak_bytes, 197, 0);
	assert_near(row_of(&r->cases[0], "push")->peak_share, 197. / 266, 1e-12);
	assert_int_equal(r->cases[0].n_rows, 2);
	assert_near(r->cases[0].all.allocations, 14, 0);
	assert_near(r->cases[0].all.bytes, 362, 0);
	assert_near(r->cases[0].all.peak_bytes, 266, 0);
	assert_true(isnan(r->cases[0].all.self_share) && isnan(r->cases[0].rows[0].tax_s));
	mew_report_free(r);
	mew_session_free(s);
}

static void functions_of_both_sessions_are_one_row(void **state)
{
	struct mew_session *cpu = split_cpu(), *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c = mew_session_case(heap, "split", "");
	struct mew_report *r;

	(void)state;
	c->heap.iterations = 1;
	add_heap(heap, c, "other loop push malloc", 1, 3, 30, 10);
	r = mew_report_new(cpu, heap);
	assert_int_equal(r->n_cases, 1);
	assert_int_equal(r->cases[0].n_rows, 4);
	check_row(&r->cases[0], "push", 2, 20, 30);
	assert_near(row_of(&r->cases[0], "push")->bytes, 30, 0);
	assert_near(row_of(&r->cases[0], "walk")->bytes, 0, 0);
	assert_ptr_equal(r->cases[0].heap, &heap->cases[0]);
	mew_report_free(r);
	mew_session_free(cpu);
	mew_session_free(heap);
}

static void broken_stacks_have_a_row_so_that_sums_hold(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_CPU);
	struct mew_pcase *c = mew_session_case(s, "k", "");
	struct mew_report *r;

	(void)state;
	add_cpu(s, c, "loop", 1, 1);
	add_cpu(s, c, "malloc", 0, 2);
	add_cpu(s, c, "", 0, 4);
	add_cpu(s, c, "push malloc", 0, 8); /* cut, but it names who called */
	add_cpu(s, c, "std::run malloc", 1, 16);
	r = mew_report_new(s, NULL);
	check_row(&r->cases[0], "[broken stack]", 4, 2, 6);
	check_row(&r->cases[0], "push", 0, 8, 8);
	check_row(&r->cases[0], "[no caller]", 0, 16, 16);
	assert_near(r->cases[0].all.total_s, 31, 1e-12);
	mew_report_free(r);
	mew_session_free(s);
}

static void rows_are_in_a_defined_order(void **state)
{
	struct mew_session *s = split_cpu();
	struct mew_pcase *c = &s->cases[0];
	struct mew_report *r;

	(void)state;
	add_cpu(s, c, "loop zz", 1, 8);
	r = mew_report_new(s, NULL);
	assert_string_equal(r->cases[0].rows[0].name, "walk");
	assert_string_equal(r->cases[0].rows[1].name, "loop");
	assert_string_equal(r->cases[0].rows[2].name, "push");
	assert_string_equal(r->cases[0].rows[3].name,
			    "strdup"); /* as much as zz, but more in all */
	assert_string_equal(r->cases[0].rows[4].name, "zz");
	mew_report_sort(r, MEW_SORT_TAX);
	assert_string_equal(r->cases[0].rows[0].name, "loop");
	mew_report_sort(r, MEW_SORT_NAME);
	assert_string_equal(r->cases[0].rows[4].name, "zz");
	assert_string_equal(r->cases[0].rows[0].name, "loop");
	mew_report_free(r);
	mew_session_free(s);
}

static void every_sort_word_is_read_back(void **state)
{
	enum mew_report_sort by;
	int i;

	(void)state;
	for (i = MEW_SORT_BLAME; i <= MEW_SORT_NAME; i++) {
		assert_int_equal(mew_report_sort_parse(mew_report_sort_word(i), &by), 0);
		assert_int_equal(by, i);
	}
	assert_int_not_equal(mew_report_sort_parse("size", &by), 0);
	assert_null(mew_report_sort_word(MEW_SORT_NAME + 1));
}

static void cases_are_paired_by_key_and_label(void **state)
{
	struct mew_session *cpu = mew_session_new(MEW_SESSION_CPU);
	struct mew_session *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_report *r;

	(void)state;
	mew_session_case(cpu, "f/case:0", "n=1");
	mew_session_case(cpu, "f/case:1", "n=2");
	mew_session_case(heap, "f/case:0", "n=1");
	mew_session_case(heap, "f/case:1", "n=9");
	r = mew_report_new(cpu, heap);
	assert_int_equal(r->n_cases, 3);
	assert_ptr_equal(r->cases[0].heap, &heap->cases[0]);
	assert_null(r->cases[1].heap);
	assert_null(r->cases[2].cpu);
	assert_string_equal(r->cases[2].label, "n=9");
	mew_report_free(r);
	mew_session_free(cpu);
	mew_session_free(heap);
}

static void repetitions_find_their_own_partner(void **state)
{
	struct mew_session *cpu = mew_session_new(MEW_SESSION_CPU);
	struct mew_session *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_report *r;
	int i;

	(void)state;
	for (i = 0; i < 3; i++)
		mew_session_case(cpu, "f", "");
	mew_session_case(heap, "f", "");
	mew_session_case(heap, "f", "");
	r = mew_report_new(cpu, heap);
	assert_int_equal(r->n_cases, 3);
	assert_ptr_equal(r->cases[0].heap, &heap->cases[0]);
	assert_ptr_equal(r->cases[1].heap, &heap->cases[1]);
	assert_ptr_equal(r->cases[2].heap, &heap->cases[0]);
	mew_report_free(r);
	mew_session_free(cpu);
	mew_session_free(heap);
}

static int is_named(void *arg, const struct mew_report_case *c)
{
	return !strcmp(c->key, arg);
}

static void cases_can_be_taken_out(void **state)
{
	struct mew_session *s = split_cpu();
	struct mew_report *r;

	(void)state;
	add_cpu(s, mew_session_case(s, "other", ""), "loop", 1, 1);
	r = mew_report_new(s, NULL);
	mew_report_keep(r, is_named, (void *)(uintptr_t) "other");
	assert_int_equal(r->n_cases, 1);
	assert_string_equal(r->cases[0].key, "other");
	assert_int_equal(r->cases[0].n_rows, 1);
	mew_report_keep(r, is_named, (void *)(uintptr_t) "none");
	assert_int_equal(r->n_cases, 0);
	mew_report_free(r);
	mew_session_free(s);
}

static void nothing_makes_an_empty_report(void **state)
{
	struct mew_report *r = mew_report_new(NULL, NULL);

	(void)state;
	assert_int_equal(r->n_cases, 0);
	mew_report_free(r);
	mew_report_free(NULL);
}

static void no_memory_gives_no_report(void **state)
{
	struct mew_session *cpu = split_cpu(), *heap = mew_session_new(MEW_SESSION_HEAP);
	struct mew_report *r;
	long n;

	(void)state;
	add_heap(heap, mew_session_case(heap, "split", ""), "loop x malloc", 1, 1, 1, 1);
	for (n = 0; failing_alloc_more(n); n++) {
		r = mew_report_new(cpu, heap);
		failing_alloc_off();
		assert_true(failing_alloc_hit() ? !r : !!r);
		mew_report_free(r);
	}
	assert_true(n > 5);
	mew_session_free(cpu);
	mew_session_free(heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_allocators_time_is_the_tax_of_who_called),
		cmocka_unit_test(heap_figures_go_to_the_same_caller),
		cmocka_unit_test(functions_of_both_sessions_are_one_row),
		cmocka_unit_test(broken_stacks_have_a_row_so_that_sums_hold),
		cmocka_unit_test(rows_are_in_a_defined_order),
		cmocka_unit_test(every_sort_word_is_read_back),
		cmocka_unit_test(cases_are_paired_by_key_and_label),
		cmocka_unit_test(repetitions_find_their_own_partner),
		cmocka_unit_test(cases_can_be_taken_out),
		cmocka_unit_test(nothing_makes_an_empty_report),
		cmocka_unit_test(no_memory_gives_no_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
