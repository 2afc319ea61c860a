/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/array.h"
#include "failing_alloc.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

static void pushing_keeps_what_was_there(void **state)
{
	int *numbers = NULL;
	size_t n = 0, cap = 0, i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(MEW_ARRAY_PUSH(numbers, n, cap), 0);
		numbers[n++] = (int)i;
	}
	for (i = 0; i < n; i++)
		assert_int_equal(numbers[i], i);
	assert_true(cap >= n && cap < 2 * n);
	free(numbers);
}

static void too_many_bytes_are_out_of_memory(void **state)
{
	int *numbers = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(mew_array_grow(&numbers, &cap, SIZE_MAX / 2, sizeof(*numbers)), -ENOMEM);
	assert_null(numbers);
	assert_int_equal(cap, 0);
}

static void a_failure_changes_nothing(void **state)
{
	int *numbers = NULL;
	size_t cap = 0, before;

	(void)state;
	assert_int_equal(mew_array_grow(&numbers, &cap, 1, sizeof(*numbers)), 0);
	numbers[0] = 7;
	before = cap;
	failing_alloc_after(0);
	assert_int_equal(mew_array_grow(&numbers, &cap, 100, sizeof(*numbers)), -ENOMEM);
	failing_alloc_off();
	assert_int_equal(cap, before);
	assert_int_equal(numbers[0], 7);
	free(numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushing_keeps_what_was_there),
		cmocka_unit_test(too_many_bytes_are_out_of_memory),
		cmocka_unit_test(a_failure_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
