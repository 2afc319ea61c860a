/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/segment.h"
#include "unit.h"

#include <stdlib.h>

static struct mew_segment *segment_new(uint32_t n_nodes)
{
	struct mew_segment *s = calloc(1, sizeof(*s) + n_nodes * sizeof(s->nodes[0]));

	assert_non_null(s);
	s->magic = MEW_SEGMENT_MAGIC;
	s->n_nodes = s->cap_nodes = n_nodes;
	return s;
}

static void assert_sum(const struct mew_segment *s, const struct mew_segment_sum *want)
{
	struct mew_segment_sum sum = mew_segment_sum(s);

	assert_memory_equal(&sum, want, sizeof(sum));
}

static void an_empty_segment_sums_up_to_nothing(void **state)
{
	struct mew_segment *s = segment_new(2);

	(void)state;
	assert_sum(s, &(struct mew_segment_sum){0});
	assert_int_equal(mew_segment_n_hooked(s), 0);
	free(s);
}

static void each_counter_is_summed_over_all_nodes_the_lost_one_too(void **state)
{
	struct mew_segment *s = segment_new(5);

	(void)state;
	/* 1 is that of the lost: their bytes are known all the same. */
	for (uint32_t i = 1; i < 5; i++)
		s->nodes[i] = (struct mew_segment_node){.allocations = i,
							.bytes = 10 * i,
							.frees = 100 * i,
							.temporary = 1000 * i,
							.live_bytes = 10000 * i,
							.live_blocks = 100000 * i};
	assert_sum(s, &(struct mew_segment_sum){.allocations = 10,
						.bytes = 100,
						.frees = 1000,
						.temporary = 10000,
						.live_bytes = 100000,
						.live_blocks = 1000000});
	free(s);
}

/* A block may move from one stack to another while the first one's counter is read. */
static void what_is_live_may_be_below_zero_in_a_node(void **state)
{
	struct mew_segment *s = segment_new(4);
	struct mew_segment_sum sum;

	(void)state;
	s->nodes[2].live_bytes = -30;
	s->nodes[2].live_blocks = -1;
	s->nodes[3].live_bytes = 50;
	s->nodes[3].live_blocks = 3;
	sum = mew_segment_sum(s);
	assert_int_equal(sum.live_bytes, 20);
	assert_int_equal(sum.live_blocks, 2);
	free(s);
}

static void stacks_that_broke_are_those_with_the_flag_whatever_the_reason(void **state)
{
	struct mew_segment *s = segment_new(6);

	(void)state;
	s->nodes[2] = (struct mew_segment_node){.allocations = 1, .flags = MEW_NODE_ROOTED};
	s->nodes[3] = (struct mew_segment_node){.allocations = 10, .flags = MEW_NODE_BROKEN};
	s->nodes[4] = (struct mew_segment_node){
		.allocations = 100, .flags = MEW_NODE_BROKEN | MEW_NODE_BY_FP | 5 << MEW_NODE_WHY};
	s->nodes[5] = (struct mew_segment_node){.allocations = 1000,
						.flags = MEW_NODE_ROOTED | MEW_NODE_BY_FP};
	assert_int_equal(mew_segment_sum(s).broken, 110);
	assert_int_equal(mew_segment_sum(s).allocations, 1111);
	free(s);
}

static void what_shards_have_is_summed_over_the_first_and_the_last(void **state)
{
	struct mew_segment *s = segment_new(2);

	(void)state;
	s->shards[0] = (struct mew_segment_shard){.n_hooked = 1, .foreign_frees = 20};
	s->shards[MEW_SEGMENT_SHARDS / 2] =
		(struct mew_segment_shard){.n_hooked = 100, .foreign_frees = 2000};
	s->shards[MEW_SEGMENT_SHARDS - 1] =
		(struct mew_segment_shard){.n_hooked = 10000, .foreign_frees = 200000};
	assert_int_equal(mew_segment_sum(s).foreign_frees, 202020);
	assert_int_equal(mew_segment_n_hooked(s), 10101);
	free(s);
}

static void nodes_beyond_those_in_use_do_not_count(void **state)
{
	struct mew_segment *s = segment_new(4);

	(void)state;
	s->nodes[2].allocations = 1;
	s->nodes[3].allocations = 2;
	s->n_nodes = 3;
	assert_int_equal(mew_segment_sum(s).allocations, 1);
	free(s);
}

/* The program can write there: a number that cannot be is not followed out of the memory. */
static void no_more_nodes_are_read_than_a_segment_can_have(void **state)
{
	struct mew_segment *s = segment_new(MEW_SEGMENT_NODES);

	(void)state;
	s->nodes[MEW_SEGMENT_NODES - 1].allocations = 7;
	s->n_nodes = UINT32_MAX;
	assert_int_equal(mew_segment_sum(s).allocations, 7);
	free(s);
}

static void what_is_live_is_the_peak_less_what_is_below_it(void **state)
{
	struct mew_segment *s = segment_new(2);

	(void)state;
	s->peak_bytes = 1000;
	s->epoch = 5;
	s->below = (uint64_t)5 << MEW_SEGMENT_EPOCH_SHIFT | 300;
	assert_int_equal(mew_segment_live(s), 700);
	/* Whatever the epoch is, its bits are no distance. */
	s->below = ~MEW_SEGMENT_BELOW | 1000;
	assert_int_equal(mew_segment_live(s), 0);
	/* The most that the distance can be. */
	s->peak_bytes = (int64_t)MEW_SEGMENT_BELOW;
	s->below = MEW_SEGMENT_BELOW;
	assert_int_equal(mew_segment_live(s), 0);
	free(s);
}

static void a_peaks_number_is_told_from_its_low_bits(void **state)
{
	const uint64_t round = (uint64_t)1 << (64 - MEW_SEGMENT_EPOCH_SHIFT);
	struct mew_segment *s = segment_new(2);

	(void)state;
	s->epoch = 5;
	assert_int_equal(mew_segment_epoch(s, 5), 5);
	assert_int_equal(mew_segment_epoch(s, 8), 8);
	assert_int_equal(mew_segment_epoch(s, 3), 3);
	/* The told one lags while the low bits have begun anew, or is ahead of what a thread had.
	 */
	s->epoch = 3 * round - 2;
	assert_int_equal(mew_segment_epoch(s, 1), 3 * round + 1);
	s->epoch = 3 * round + 1;
	assert_int_equal(mew_segment_epoch(s, (uint32_t)round - 2), 3 * round - 2);
	free(s);
}

static void nodes_are_memory_of_the_trackers_own(void **state)
{
	struct mew_segment *s = segment_new(5);

	(void)state;
	s->own_bytes = 4096;
	assert_int_equal(mew_segment_own_bytes(s), 4096 + 5 * sizeof(s->nodes[0]));
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_segment_sums_up_to_nothing),
		cmocka_unit_test(each_counter_is_summed_over_all_nodes_the_lost_one_too),
		cmocka_unit_test(what_is_live_may_be_below_zero_in_a_node),
		cmocka_unit_test(stacks_that_broke_are_those_with_the_flag_whatever_the_reason),
		cmocka_unit_test(what_shards_have_is_summed_over_the_first_and_the_last),
		cmocka_unit_test(nodes_beyond_those_in_use_do_not_count),
		cmocka_unit_test(no_more_nodes_are_read_than_a_segment_can_have),
		cmocka_unit_test(what_is_live_is_the_peak_less_what_is_below_it),
		cmocka_unit_test(a_peaks_number_is_told_from_its_low_bits),
		cmocka_unit_test(nodes_are_memory_of_the_trackers_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
