/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/peak.h"
#include "unit.h"

#include "channel/segment.h"

static uint64_t word_of(uint64_t epoch, uint64_t below)
{
	return epoch << MEW_SEGMENT_EPOCH_SHIFT | below;
}

static void a_fall_and_a_rise_up_to_the_peak_keep_it(void **state)
{
	uint64_t word = word_of(7, 0);
	struct mew_peak_change change;

	(void)state;
	change = mew_peak_change(&word, -100);
	assert_int_equal(change.growth, 0);
	assert_int_equal(change.epoch, 7);
	assert_int_equal(word, word_of(7, 100));
	change = mew_peak_change(&word, 60);
	assert_int_equal(change.growth, 0);
	assert_int_equal(word, word_of(7, 40));
	change = mew_peak_change(&word, 40);
	assert_int_equal(change.growth, 0);
	assert_int_equal(word, word_of(7, 0));
	change = mew_peak_change(&word, 0);
	assert_int_equal(change.growth, 0);
	assert_int_equal(word, word_of(7, 0));
}

static void a_rise_beyond_it_is_a_new_peak_by_the_difference(void **state)
{
	uint64_t word = word_of(7, 40);
	struct mew_peak_change change = mew_peak_change(&word, 100);

	(void)state;
	assert_int_equal(change.growth, 60);
	assert_int_equal(change.epoch, 7);
	assert_int_equal(word, word_of(8, 0));
}

static void the_epoch_wraps_and_the_segment_knows_the_rest(void **state)
{
	struct mew_segment s = {0};
	uint32_t last = (1u << (64 - MEW_SEGMENT_EPOCH_SHIFT)) - 1;
	uint64_t word = word_of(last, 0);

	(void)state;
	mew_peak_change(&word, 1);
	assert_int_equal(word, word_of(0, 0));
	s.epoch = last;
	assert_int_equal(mew_segment_epoch(&s, 0), (uint64_t)last + 1);
	assert_int_equal(mew_segment_epoch(&s, last), last);
	s.epoch = (uint64_t)5 * (last + 1);
	assert_int_equal(mew_segment_epoch(&s, 0), s.epoch);
	assert_int_equal(mew_segment_epoch(&s, 3), s.epoch + 3);
	assert_int_equal(mew_segment_epoch(&s, last - 1), s.epoch - 2);
}

static void the_largest_block_goes_in_and_out(void **state)
{
	uint64_t word = word_of(1, 0);

	(void)state;
	assert_int_equal(mew_peak_change(&word, MEW_PEAK_BYTES).growth, MEW_PEAK_BYTES);
	assert_int_equal(mew_peak_change(&word, -(int64_t)MEW_PEAK_BYTES).growth, 0);
	assert_int_equal(word, word_of(2, MEW_PEAK_BYTES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fall_and_a_rise_up_to_the_peak_keep_it),
		cmocka_unit_test(a_rise_beyond_it_is_a_new_peak_by_the_difference),
		cmocka_unit_test(the_epoch_wraps_and_the_segment_knows_the_rest),
		cmocka_unit_test(the_largest_block_goes_in_and_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
