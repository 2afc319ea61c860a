/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/map.h"
#include "failing_alloc.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static void an_empty_map_holds_nothing(void **state)
{
	struct mew_map m;
	uint64_t value = 7, key;
	size_t at = 0;

	(void)state;
	mew_map_init(&m);
	assert_false(mew_map_get(&m, 0, &value));
	assert_false(mew_map_next(&m, &at, &key, &value));
	assert_int_equal(value, 7);
	mew_map_done(&m);
	mew_map_done(NULL);
}

static void what_was_put_is_found(void **state)
{
	struct mew_map m;
	uint64_t i, value;

	(void)state;
	mew_map_init(&m);
	for (i = 0; i < 10000; i++)
		assert_int_equal(mew_map_put(&m, i << 32, i), 0);
	assert_int_equal(mew_map_put(&m, UINT64_MAX, 1), 0);
	assert_int_equal(mew_map_put(&m, 0, 99), 0);
	assert_int_equal(m.n, 10001);
	for (i = 1; i < 10000; i++) {
		assert_true(mew_map_get(&m, i << 32, &value));
		assert_int_equal(value, i);
	}
	assert_true(mew_map_get(&m, 0, &value));
	assert_int_equal(value, 99);
	assert_true(mew_map_get(&m, UINT64_MAX, NULL));
	assert_false(mew_map_get(&m, 5, NULL));
	mew_map_done(&m);
}

static void add_finds_or_makes(void **state)
{
	struct mew_map m;
	uint64_t *place;
	bool is_new;

	(void)state;
	mew_map_init(&m);
	place = mew_map_add(&m, 5, 10, &is_new);
	assert_true(is_new);
	assert_int_equal(*place, 10);
	++*place;
	assert_int_equal(*mew_map_add(&m, 5, 10, &is_new), 11);
	assert_false(is_new);
	mew_map_done(&m);
}

static void a_walk_meets_each_entry_once(void **state)
{
	struct mew_map m;
	uint64_t i, key, value, sum = 0, n = 0;
	size_t at = 0;

	(void)state;
	mew_map_init(&m);
	for (i = 1; i <= 100; i++)
		mew_map_put(&m, i, 2 * i);
	for (; mew_map_next(&m, &at, &key, &value); n++) {
		assert_int_equal(value, 2 * key);
		sum += key;
	}
	assert_int_equal(n, 100);
	assert_int_equal(sum, 5050);
	mew_map_done(&m);
}

static void keys_of_bytes_are_compared_whole(void **state)
{
	struct mew_bytes_map m;
	uint64_t i, value, sum = 0, pair[2];
	const void *key;
	size_t at = 0, len;

	(void)state;
	mew_bytes_map_init(&m);
	assert_false(mew_bytes_map_get(&m, "", 0, NULL));
	for (i = 0; i < 5000; i++) {
		pair[0] = i % 50;
		pair[1] = i / 50;
		assert_int_equal(mew_bytes_map_put(&m, pair, sizeof(pair), i), 0);
	}
	assert_int_equal(mew_bytes_map_put(&m, "a", 1, 1), 0);
	assert_int_equal(mew_bytes_map_put(&m, "a\0", 2, 2), 0);
	assert_int_equal(mew_bytes_map_put(&m, "", 0, 3), 0);
	assert_int_equal(m.n, 5003);
	for (i = 0; i < 5000; i++) {
		pair[0] = i % 50;
		pair[1] = i / 50;
		assert_true(mew_bytes_map_get(&m, pair, sizeof(pair), &value));
		assert_int_equal(value, i);
	}
	assert_true(mew_bytes_map_get(&m, "a", 1, &value));
	assert_int_equal(value, 1);
	assert_true(mew_bytes_map_get(&m, NULL, 0, &value));
	assert_int_equal(value, 3);
	while (mew_bytes_map_next(&m, &at, &key, &len, &value))
		sum += len;
	assert_int_equal(sum, 5000 * 16 + 3);
	mew_bytes_map_done(&m);
	mew_bytes_map_done(NULL);
}

static void without_memory_a_put_changes_nothing(void **state)
{
	struct mew_map m;
	uint64_t i, value;

	(void)state;
	mew_map_init(&m);
	failing_alloc_after(0);
	assert_int_equal(mew_map_put(&m, 1, 1), -ENOMEM);
	failing_alloc_off();
	for (i = 0; i < 11; i++)
		assert_int_equal(mew_map_put(&m, i, i), 0);
	failing_alloc_after(0);
	while (!mew_map_put(&m, i, i))
		i++;
	assert_int_equal(mew_map_put(&m, 3, 33), 0);
	failing_alloc_off();
	assert_int_equal(m.n, i);
	assert_false(mew_map_get(&m, i, NULL));
	assert_true(mew_map_get(&m, 3, &value));
	assert_int_equal(value, 33);
	mew_map_done(&m);
}

static void without_memory_a_bytes_put_changes_nothing(void **state)
{
	long n;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		struct mew_bytes_map m;
		int rc;

		mew_bytes_map_init(&m);
		rc = mew_bytes_map_put(&m, "key", 3, 1);
		failing_alloc_off();
		assert_int_equal(rc, failing_alloc_hit() ? -ENOMEM : 0);
		assert_int_equal(m.n, rc ? 0 : 1);
		assert_int_equal(mew_bytes_map_put(&m, "key", 3, 1), 0);
		mew_bytes_map_done(&m);
	}
	assert_int_equal(n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_holds_nothing),
		cmocka_unit_test(what_was_put_is_found),
		cmocka_unit_test(add_finds_or_makes),
		cmocka_unit_test(a_walk_meets_each_entry_once),
		cmocka_unit_test(keys_of_bytes_are_compared_whole),
		cmocka_unit_test(without_memory_a_put_changes_nothing),
		cmocka_unit_test(without_memory_a_bytes_put_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
