/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/resize.h"
#include "unit.h"

#define MIB (1024u * 1024u)

static void sizes_are_four_times_as_large_up_to_the_most_there_can_be(void **state)
{
	(void)state;
	assert_int_equal(mew_resize_larger(8192, 4 * MIB, 512), 32768);
	assert_int_equal(mew_resize_larger(32768, 4 * MIB, 512), 65528);
	assert_int_equal(mew_resize_larger(65528, 4 * MIB, 512), 0);
	assert_int_equal(mew_resize_larger(1024, 4 * MIB, 512), 4096);
}

static void sixteen_records_fit_into_a_ring(void **state)
{
	(void)state;
	/* 524,288 / 16 - 512 */
	assert_int_equal(mew_resize_larger(8192, MIB / 2, 512), 32256);
	assert_int_equal(mew_resize_larger(32256, MIB / 2, 512), 0);
	assert_int_equal(mew_resize_larger(32768, MIB, 512), 65024);
	assert_int_equal(mew_resize_larger(8192, MIB / 8, 512), 0);
	assert_int_equal(mew_resize_larger(8192, 4096, 512), 0);
	assert_int_equal(mew_resize_larger(8192, MIB / 2, 1600), 31168);
	assert_int_equal(mew_resize_larger(8192, 0, 512), 0);
}

static void without_sizes_nothing_is_taken(void **state)
{
	struct mew_whole w = {.n_bad = 0};

	(void)state;
	assert_int_equal(mew_resize_open(&w, 0), 0);
	assert_int_equal(mew_resize_up(&w), 0);
	assert_int_equal(mew_resize_down(&w), 0);
	assert_int_equal(w.size, MEW_WHOLE_FIRST);
}

/* No event is there: all that is asked of them is refused. */
static void a_cpu_that_refuses_a_size_stays_with_the_one_it_has(void **state)
{
	struct mew_whole_ring rings[2] = {
		{.fd = 1000, .on_fd = 1000, .size_fds = {1001, 0, 1002, 1003}},
	};
	struct mew_whole w = {
		.rings = rings, .n_rings = 2, .sizes = {8, 16, 24, 32}, .size = MEW_WHOLE_FIRST};

	(void)state;
	assert_int_equal(mew_resize_up(&w), 0);
	assert_int_equal(mew_resize_down(&w), 0);
	assert_int_equal(rings[0].on_fd, 1000);
	assert_int_equal(w.size, MEW_WHOLE_FIRST);
	/* it never left the first one */
	w.size = 0;
	assert_int_equal(mew_resize_up(&w), 16);
	assert_int_equal(w.size, MEW_WHOLE_FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_four_times_as_large_up_to_the_most_there_can_be),
		cmocka_unit_test(sixteen_records_fit_into_a_ring),
		cmocka_unit_test(without_sizes_nothing_is_taken),
		cmocka_unit_test(a_cpu_that_refuses_a_size_stays_with_the_one_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
