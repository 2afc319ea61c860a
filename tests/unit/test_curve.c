/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/curve.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLICES MEW_CURVE_SLICES

static struct mew_curve *curve_new(void)
{
	struct mew_curve *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	return c;
}

static void a_curve_without_allocations_has_no_points(void **state)
{
	struct mew_curve *c = curve_new();
	int64_t points[SLICES];
	uint64_t width = 0;

	(void)state;
	assert_int_equal(mew_curve_read(c, points, &width), 0);
	free(c);
}

static void each_allocation_has_a_point_while_there_is_room(void **state)
{
	struct mew_curve *c = curve_new();
	int64_t points[SLICES];
	uint64_t width = 0;

	(void)state;
	mew_curve_note(c, 0, 100);
	mew_curve_note(c, 1, 100);
	mew_curve_note(c, 1, 40); /* lower: the slice keeps its mark */
	mew_curve_note(c, 2, 0);
	mew_curve_note(c, 3, 70);
	mew_curve_note(c, 3, 71);
	assert_int_equal(mew_curve_read(c, points, &width), 4);
	assert_int_equal(width, 1);
	assert_int_equal(points[0], 100);
	assert_int_equal(points[1], 100);
	assert_int_equal(points[2], 0);
	assert_int_equal(points[3], 71);
	free(c);
}

/* 1000 allocations are 250 slices of 4; allocation i leaves 10 * i bytes, but for 501: a million.
 */
static void slices_are_halved_when_they_are_used_and_keep_the_peak(void **state)
{
	struct mew_curve *c = curve_new();
	int64_t points[SLICES];
	uint64_t width = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		mew_curve_note(c, i, i == 501 ? 1000000 : (int64_t)(10 * i));
	assert_int_equal(mew_curve_read(c, points, &width), 250);
	assert_int_equal(width, 4);
	for (unsigned i = 0; i < 250; i++)
		assert_int_equal(points[i], i == 125 ? 1000000 : 10 * (4 * i + 3));
	free(c);
}

static void a_number_far_ahead_widens_as_often_as_it_takes(void **state)
{
	struct mew_curve *c = curve_new();
	int64_t points[SLICES];
	uint64_t width = 0;

	(void)state;
	mew_curve_note(c, 0, 7);
	mew_curve_note(c, 1u << 20, 9);
	assert_int_equal(mew_curve_read(c, points, &width), 129);
	assert_int_equal(width, 8192);
	assert_int_equal(points[0], 7);
	/* What never came is as before. */
	assert_int_equal(points[1], 7);
	assert_int_equal(points[128], 9);
	mew_curve_note(c, UINT64_MAX, 10); /* no curve is so long: left out */
	assert_true(mew_curve_read(c, points, &width) >= 1);
	free(c);
}

/* Killed while 256 slices become 128: frozen, and the first 50 are written. */
static void a_curve_is_whole_in_the_middle_of_a_change(void **state)
{
	struct mew_curve *c = curve_new(), *half = curve_new();
	int64_t points[SLICES], want[SLICES];
	uint64_t width = 0;

	(void)state;
	for (unsigned i = 0; i < SLICES; i++)
		mew_curve_note(c, i, i % 7 * 100);
	*half = *c;
	mew_curve_note(half, SLICES, 0);
	assert_int_equal(mew_curve_read(half, want, &width), SLICES / 2 + 1);
	for (unsigned i = 0; i < SLICES; i++)
		c->slices[i] |= MEW_CURVE_FROZEN;
	assert_int_equal(mew_curve_read(c, points, &width), SLICES);
	assert_int_equal(width, 1);
	memcpy(c->slices, half->slices, 50 * sizeof(c->slices[0]));
	assert_int_equal(mew_curve_read(c, points, &width), SLICES / 2);
	assert_int_equal(width, 2);
	assert_memory_equal(points, want, SLICES / 2 * sizeof(points[0]));
	free(half);
	free(c);
}

static void damaged_memory_gives_points_within_bounds(void **state)
{
	struct mew_curve *c = curve_new();
	int64_t points[SLICES];
	uint64_t random = 88172645463325252u, width = 0;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		for (unsigned i = 0; i < SLICES; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			c->slices[i] = random;
		}
		assert_true(mew_curve_read(c, points, &width) <= SLICES);
		assert_true(width <= 1ull << MEW_CURVE_LEVEL_MAX);
	}
	free(c);
}

enum { THREADS = 4, EACH = 50000 };

static struct mew_curve *shared;
static uint64_t next_serial;

static void *note_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < EACH; i++) {
		uint64_t serial = __atomic_fetch_add(&next_serial, 1, __ATOMIC_RELAXED);

		mew_curve_note(shared, serial, (int64_t)(3 * serial));
	}
	return NULL;
}

/* 200,000 are 196 slices of 1024; none of the marks is lost or in another slice. */
static void threads_note_and_halve_at_the_same_time(void **state)
{
	int64_t points[SLICES];
	pthread_t threads[THREADS];
	uint64_t width = 0;
	unsigned n;

	(void)state;
	shared = curve_new();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, note_many, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	n = mew_curve_read(shared, points, &width);
	assert_int_equal(width, 1024);
	assert_int_equal(n, 196);
	for (unsigned i = 0; i + 1 < n; i++)
		assert_int_equal(points[i], 3 * (1024 * (i + 1) - 1));
	assert_int_equal(points[n - 1], 3 * (THREADS * EACH - 1));
	free(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_curve_without_allocations_has_no_points),
		cmocka_unit_test(each_allocation_has_a_point_while_there_is_room),
		cmocka_unit_test(slices_are_halved_when_they_are_used_and_keep_the_peak),
		cmocka_unit_test(a_number_far_ahead_widens_as_often_as_it_takes),
		cmocka_unit_test(a_curve_is_whole_in_the_middle_of_a_change),
		cmocka_unit_test(damaged_memory_gives_points_within_bounds),
		cmocka_unit_test(threads_note_and_halve_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
