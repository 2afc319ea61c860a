/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/iterations.h"
#include "unit.h"

#include <stdlib.h>

static struct mew_iterations *iterations_new(void)
{
	struct mew_iterations *it = calloc(1, sizeof(*it));

	assert_non_null(it);
	return it;
}

/* An iteration whose mark is `mark`, that leaves nothing. */
static void iterate(struct mew_iterations *it, int64_t mark)
{
	mew_iterations_note(it, mark);
	mew_iterations_next(it, 0);
}

static void an_iteration_begins_with_what_is_live_then(void **state)
{
	struct mew_iterations *it = iterations_new();
	int64_t live = 40;

	(void)state;
	mew_iterations_note(it, 1000); /* before the loop */
	mew_iterations_begin(it, live);
	live = 10; /* a free: no mark */
	mew_iterations_next(it, live);
	assert_int_equal(it->n, 1);
	assert_int_equal(it->least, 40);
	mew_iterations_note(it, 90);
	mew_iterations_note(it, 70);
	live = 20;
	mew_iterations_next(it, live);
	mew_iterations_next(it, live);
	assert_int_equal(it->n, 3);
	assert_int_equal(it->least, 20);
	assert_int_equal(it->most, 90);
	assert_int_equal(mew_iterations_median(it), 40);
	free(it);
}

static void the_median_of_none_is_0_and_of_an_even_number_the_lower(void **state)
{
	struct mew_iterations *it = iterations_new();

	(void)state;
	assert_int_equal(mew_iterations_median(it), 0);
	iterate(it, 70);
	assert_int_equal(mew_iterations_median(it), 70);
	iterate(it, 30);
	assert_int_equal(mew_iterations_median(it), 30);
	iterate(it, 127);
	iterate(it, 0);
	assert_int_equal(mew_iterations_median(it), 30);
	iterate(it, 128);
	assert_int_equal(mew_iterations_median(it), 70);
	assert_int_equal(it->least, 0);
	assert_int_equal(it->most, 128);
	free(it);
}

/* 1,000,003 thrice, between others: its bucket holds nothing else, so it comes out to the byte. */
static void a_median_of_equal_marks_is_exact(void **state)
{
	struct mew_iterations *it = iterations_new();

	(void)state;
	iterate(it, 5);
	iterate(it, 1000003);
	iterate(it, 1000003);
	iterate(it, 1000003);
	iterate(it, INT64_MAX);
	assert_int_equal(mew_iterations_median(it), 1000003);
	assert_int_equal(it->most, INT64_MAX);
	free(it);
}

static void a_median_of_different_marks_is_off_by_less_than_a_64th(void **state)
{
	(void)state;
	for (int64_t scale = 1; scale < INT64_MAX / 4096; scale *= 3) {
		struct mew_iterations *it = iterations_new();
		int64_t want = 1500 * scale, got;

		for (int64_t i = 1000; i <= 2000; i++)
			iterate(it, i * scale);
		got = mew_iterations_median(it);
		assert_true(got - want < want / 64 && want - got < want / 64);
		free(it);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iteration_begins_with_what_is_live_then),
		cmocka_unit_test(the_median_of_none_is_0_and_of_an_even_number_the_lower),
		cmocka_unit_test(a_median_of_equal_marks_is_exact),
		cmocka_unit_test(a_median_of_different_marks_is_off_by_less_than_a_64th),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
