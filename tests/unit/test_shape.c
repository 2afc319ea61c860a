/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>

#include "failing_alloc.h"
#include "profile/shape.h"
#include "unit.h"

static void fill(struct mew_shape *shape, const int64_t *points, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(mew_shape_point(shape, points[i]), 0);
}

static void fewer_points_are_the_highest_of_those_they_stand_for(void **state)
{
	static const int64_t points[] = {1, 9, 2, 3, 4, 8, 5};
	struct mew_shape shape = {0};
	int64_t got[7];

	(void)state;
	fill(&shape, points, 7);
	/* 1 9 | 2 3 | 4 8 5 */
	assert_int_equal(mew_shape_reduce(&shape, 3, got), 3);
	assert_int_equal(got[0], 9);
	assert_int_equal(got[1], 3);
	assert_int_equal(got[2], 8);
	assert_int_equal(mew_shape_reduce(&shape, 1, got), 1);
	assert_int_equal(got[0], 9);
	mew_shape_done(&shape);
}

static void there_are_never_more_points_than_the_curve_has(void **state)
{
	static const int64_t points[] = {5, 0, 7};
	struct mew_shape shape = {0};
	int64_t got[10];

	(void)state;
	assert_int_equal(mew_shape_reduce(&shape, 10, got), 0);
	fill(&shape, points, 3);
	assert_int_equal(mew_shape_reduce(&shape, 10, got), 3);
	assert_memory_equal(got, points, sizeof(points));
	mew_shape_done(&shape);
}

static void no_memory_is_told_and_leaves_it_as_it_was(void **state)
{
	struct mew_shape shape = {0};

	(void)state;
	failing_alloc_after(0);
	assert_int_equal(mew_shape_point(&shape, 1), -ENOMEM);
	assert_int_equal(mew_shape_size(&shape, 8, 1), -ENOMEM);
	failing_alloc_off();
	assert_int_equal(shape.n_points, 0);
	assert_int_equal(shape.n_sizes, 0);
	mew_shape_done(&shape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_points_are_the_highest_of_those_they_stand_for),
		cmocka_unit_test(there_are_never_more_points_than_the_curve_has),
		cmocka_unit_test(no_memory_is_told_and_leaves_it_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
