/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/live.h"
#include "unit.h"

#include <errno.h>

#include "heap_pages.h"

static struct mew_live_block block(uint64_t addr)
{
	return (struct mew_live_block){.addr = addr, .bytes = addr * 3, .node = 5, .serial = 9};
}

static int insert_block(struct mew_live *live, const struct mew_live_block *b,
			struct mew_live_block *ret_old)
{
	return mew_live_insert(live, mew_live_at(live, b->addr), b, ret_old);
}

static int insert(struct mew_live *live, uint64_t addr)
{
	struct mew_live_block b = block(addr), old;

	return insert_block(live, &b, &old);
}

static int remove_at(struct mew_live *live, uint64_t addr, struct mew_live_block *ret)
{
	return mew_live_remove(mew_live_at(live, addr), addr, ret);
}

static void a_block_comes_back_as_it_was_put_in_and_only_once(void **state)
{
	struct mew_pages pages = heap_pages(UINT32_MAX);
	struct mew_live_block b;
	struct mew_live live;

	(void)state;
	mew_live_init(&live, &pages);
	assert_int_equal(remove_at(&live, 0x1000, &b), 0);
	assert_int_equal(insert(&live, 0x1000), 0);
	assert_true(mew_live_any(&live));
	assert_int_equal(remove_at(&live, 0x1010, &b), 0);
	assert_int_equal(remove_at(&live, 0x1000, &b), 1);
	assert_int_equal(b.addr, 0x1000);
	assert_int_equal(b.bytes, 0x3000);
	assert_int_equal(b.node, 5);
	assert_int_equal(b.serial, 9);
	assert_false(mew_live_any(&live));
	assert_int_equal(remove_at(&live, 0x1000, &b), 0);
	mew_live_done(&live);
	assert_int_equal(heap_pages_bytes, 0);
}

static void a_block_takes_the_place_of_one_at_the_same_address(void **state)
{
	struct mew_pages pages = heap_pages(UINT32_MAX);
	struct mew_live_block b = block(0x1000), old;
	struct mew_live live;

	(void)state;
	mew_live_init(&live, &pages);
	assert_int_equal(insert_block(&live, &b, &old), 0);
	b.bytes = 7;
	assert_int_equal(insert_block(&live, &b, &old), 1);
	assert_int_equal(old.bytes, 0x3000);
	assert_int_equal(remove_at(&live, 0x1000, &old), 1);
	assert_int_equal(old.bytes, 7);
	assert_false(mew_live_any(&live));
	mew_live_done(&live);
}

static void an_entry_holds_the_largest_of_everything_and_refuses_more(void **state)
{
	struct mew_pages pages = heap_pages(UINT32_MAX);
	struct mew_live_block b = {.addr = MEW_LIVE_ADDR_MAX,
				   .bytes = MEW_LIVE_BYTES_MAX,
				   .node = MEW_SEGMENT_NODES - 1,
				   .serial = MEW_LIVE_SERIALS - 1};
	struct mew_live_block old;
	struct mew_live live;

	(void)state;
	mew_live_init(&live, &pages);
	assert_int_equal(insert_block(&live, &b, &old), 0);
	assert_int_equal(remove_at(&live, b.addr, &old), 1);
	assert_memory_equal(&old, &b, sizeof(b));
	b.bytes++;
	assert_int_equal(insert_block(&live, &b, &old), -ERANGE);
	b.bytes--;
	b.addr += 8;
	assert_int_equal(insert_block(&live, &b, &old), -ERANGE);
	b.addr = 0x1004;
	assert_int_equal(insert_block(&live, &b, &old), -ERANGE);
	/* Nor is it taken for the one beside it. */
	b.addr = 0x1000;
	assert_int_equal(insert_block(&live, &b, &old), 0);
	assert_int_equal(remove_at(&live, 0x1004, &old), 0);
	assert_int_equal(remove_at(&live, 0x1000 | (uint64_t)1 << 56, &old), 0);
	assert_int_equal(remove_at(&live, 0x1000, &old), 1);
	assert_false(mew_live_any(&live));
	mew_live_done(&live);
}

/* More than a bucket holds: some pass it, and come back out of it. */
static void blocks_of_one_bucket_go_to_the_next_ones(void **state)
{
	enum { N = 40 };
	struct mew_pages pages = heap_pages(UINT32_MAX);
	uint64_t addrs[N], addr = 0x1000;
	struct mew_live_block b;
	struct mew_live live;

	(void)state;
	mew_live_init(&live, &pages);
	for (size_t i = 0; i < N; addr += 16)
		if (mew_live_home(addr, 128) == 124)
			addrs[i++] = addr;
	assert_ptr_equal(mew_live_at(&live, addrs[0]), mew_live_at(&live, addrs[N - 1]));
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < N; i++)
			assert_int_equal(insert(&live, addrs[i]), 0);
		for (size_t i = 0; i < N; i++)
			assert_int_equal(insert(&live, addrs[i]), 1);
		/* From the first on, so that the bucket has room while others are still outside. */
		for (size_t i = 0; i < N; i++) {
			size_t at = round % 2 ? i : N - 1 - i;

			assert_int_equal(remove_at(&live, addrs[at], &b), 1);
			assert_int_equal(b.addr, addrs[at]);
			assert_int_equal(remove_at(&live, addrs[at], &b), 0);
		}
	}
	/* Nobody is outside, so nobody is looked for there. */
	for (size_t i = 0; i < 128; i += MEW_LIVE_BUCKET)
		assert_int_equal(*mew_live_passed(mew_live_at(&live, addrs[0]), i), 0);
	mew_live_done(&live);
}

static size_t n_blocks(const struct mew_live *live)
{
	size_t n = 0;

	for (size_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		n += live->shards[i].n;
	return n;
}

static void regions_of_memory_share_a_shard_and_spread_over_all(void **state)
{
	static unsigned n_regions[MEW_SEGMENT_SHARDS];
	struct mew_live live = {0};

	(void)state;
	for (uint64_t region = 1; region <= 64 * MEW_SEGMENT_SHARDS; region++) {
		uint64_t addr = region << 18;

		assert_ptr_equal(mew_live_at(&live, addr),
				 mew_live_at(&live, addr + (1 << 18) - 16));
		n_regions[mew_live_at(&live, addr) - live.shards]++;
	}
	for (size_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		assert_in_range(n_regions[i], 32, 128);
}

/* Chains that wrap and overlap: after each removal all others are still found. */
static void removal_keeps_every_other_block(void **state)
{
	enum { N = 2000 };
	struct mew_pages pages = heap_pages(UINT32_MAX);
	static unsigned char in[N];
	struct mew_live_block b;
	struct mew_live live;
	uint64_t random = 88172645463325252u;
	size_t n = 0;

	(void)state;
	mew_live_init(&live, &pages);
	for (int step = 0; step < 100000; step++) {
		size_t i;
		uint64_t addr;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		i = random % N;
		addr = 16 + i * 16;
		if (in[i]) {
			assert_int_equal(remove_at(&live, addr, &b), 1);
			assert_int_equal(b.addr, addr);
			n--;
		} else {
			assert_int_equal(remove_at(&live, addr, &b), 0);
			assert_int_equal(insert(&live, addr), 0);
			n++;
		}
		in[i] = !in[i];
		assert_int_equal(n_blocks(&live), n);
	}
	for (size_t i = 0; i < N; i++)
		assert_int_equal(remove_at(&live, 16 + i * 16, &b), in[i]);
	mew_live_done(&live);
}

static void the_table_grows_and_keeps_all_blocks(void **state)
{
	struct mew_pages pages = heap_pages(UINT32_MAX);
	struct mew_live_block b;
	struct mew_live live;

	(void)state;
	mew_live_init(&live, &pages);
	for (uint64_t i = 1; i <= 100000; i++)
		assert_int_equal(insert(&live, i * 32), 0);
	assert_int_equal(n_blocks(&live), 100000);
	assert_in_range(heap_pages_bytes, 100000 * sizeof(struct mew_live_entry),
			8 * 100000 * sizeof(struct mew_live_entry));
	for (uint64_t i = 1; i <= 100000; i++)
		assert_int_equal(remove_at(&live, i * 32, &b), 1);
	assert_false(mew_live_any(&live));
	mew_live_done(&live);
	assert_int_equal(heap_pages_bytes, 0);
}

static void without_memory_it_fills_up_and_then_refuses(void **state)
{
	struct mew_pages pages = heap_pages(1);
	struct mew_live_block b;
	struct mew_live live;
	uint64_t n;

	(void)state;
	mew_live_init(&live, &pages);
	for (n = 0; !insert(&live, (n + 1) * 16); n++)
		assert_true(n < 10000);
	assert_int_equal(n, mew_live_at(&live, 16)->cap / 16 * 15);
	for (uint64_t i = 1; i <= n; i++)
		assert_int_equal(remove_at(&live, i * 16, &b), 1);
	assert_int_equal(remove_at(&live, (n + 1) * 16, &b), 0);
	assert_int_equal(insert(&live, 16), 0);
	mew_live_done(&live);
}

static void a_shard_needs_memory(void **state)
{
	struct mew_pages pages = heap_pages(0);
	struct mew_live_block b;
	struct mew_live live;

	(void)state;
	mew_live_init(&live, &pages);
	assert_int_equal(insert(&live, 16), -ENOMEM);
	assert_int_equal(remove_at(&live, 16, &b), 0);
	mew_live_done(&live);
	mew_live_done(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_comes_back_as_it_was_put_in_and_only_once),
		cmocka_unit_test(a_block_takes_the_place_of_one_at_the_same_address),
		cmocka_unit_test(an_entry_holds_the_largest_of_everything_and_refuses_more),
		cmocka_unit_test(blocks_of_one_bucket_go_to_the_next_ones),
		cmocka_unit_test(removal_keeps_every_other_block),
		cmocka_unit_test(the_table_grows_and_keeps_all_blocks),
		cmocka_unit_test(without_memory_it_fills_up_and_then_refuses),
		cmocka_unit_test(regions_of_memory_share_a_shard_and_spread_over_all),
		cmocka_unit_test(a_shard_needs_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
