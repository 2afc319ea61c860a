/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/charge.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "heap/tree.h"
#include "heap_pages.h"

/* Nodes 2, 3, 4 are stacks A, B, C; the last one is broken. */
enum { LOST = MEW_TREE_LOST, A, B, C, BROKEN, N_NODES };

struct fixture {
	struct mew_pages pages;
	struct mew_segment *s;
	struct mew_counters c;
	struct mew_counters_thread t, u; /* two threads */
};

static int start(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->pages = heap_pages(UINT32_MAX);
	f->s = calloc(1, sizeof(*f->s) + N_NODES * sizeof(f->s->nodes[0]));
	assert_non_null(f->s);
	f->s->cap_nodes = f->s->n_nodes = N_NODES;
	f->s->nodes[BROKEN].flags = MEW_NODE_BROKEN;
	mew_counters_init(&f->c, f->s, &f->pages);
	*state = f;
	return 0;
}

static int stop(void **state)
{
	struct fixture *f = *state;

	mew_counters_done(&f->c);
	free(f->s);
	free(f);
	return 0;
}

static struct mew_live_shard *at(struct fixture *f, uint64_t addr)
{
	return mew_live_at(&f->c.live, addr);
}

static void allocate(struct fixture *f, uint32_t node, uint64_t addr, uint64_t bytes)
{
	mew_counters_resize(&f->c, &f->t, at(f, addr), NULL, node, addr, bytes);
}

static void release(struct fixture *f, uint64_t addr)
{
	if (!mew_counters_free(&f->c, &f->t, at(f, addr), addr))
		mew_counters_foreign(&f->c, at(f, addr));
}

static struct mew_segment_sum sum(const struct fixture *f)
{
	return mew_segment_sum(f->s);
}

/* Now, also when the window is closed. */
static int64_t live_bytes(const struct fixture *f)
{
	return sum(f).live_bytes - (int64_t)f->s->late_bytes;
}

static int64_t live_blocks(const struct fixture *f)
{
	return sum(f).live_blocks - (int64_t)f->s->late_blocks;
}

static int64_t at_peak(const struct fixture *f, uint32_t node)
{
	return mew_segment_at_peak(f->s, &f->s->nodes[node]);
}

static int64_t total(const struct fixture *f)
{
	int64_t bytes = 0;

	for (uint32_t i = 0; i < N_NODES; i++)
		bytes += at_peak(f, i);
	return bytes;
}

static void calls_and_bytes_add_up_by_stack_and_in_all(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	allocate(f, A, 0x20, 10);
	allocate(f, B, 0x30, 0);
	release(f, 0x20);
	assert_int_equal(sum(f).allocations, 3);
	assert_int_equal(sum(f).bytes, 110);
	assert_int_equal(sum(f).frees, 1);
	assert_int_equal(live_bytes(f), 100);
	assert_int_equal(live_blocks(f), 2);
	assert_int_equal(f->s->nodes[A].allocations, 2);
	assert_int_equal(f->s->nodes[A].bytes, 110);
	assert_int_equal(f->s->nodes[A].frees, 1);
	assert_int_equal(f->s->nodes[A].live_bytes, 100);
	assert_int_equal(f->s->nodes[B].allocations, 1);
	assert_int_equal(f->s->nodes[B].live_bytes, 0);
	assert_int_equal(f->s->lost, 0);
}

/* Up to 150 (A 100, B 50), down, up to 170 (B 50, C 120), down, up to 130. */
static void the_peak_has_the_composition_it_had_then(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	allocate(f, B, 0x20, 50);
	assert_int_equal(f->s->peak_bytes, 150);
	assert_int_equal(at_peak(f, A), 100);
	assert_int_equal(at_peak(f, B), 50);
	release(f, 0x10);
	assert_int_equal(f->s->peak_bytes, 150);
	assert_int_equal(at_peak(f, A), 100);
	allocate(f, C, 0x30, 120);
	assert_int_equal(f->s->peak_bytes, 170);
	assert_int_equal(at_peak(f, A), 0);
	assert_int_equal(at_peak(f, B), 50);
	assert_int_equal(at_peak(f, C), 120);
	release(f, 0x20);
	release(f, 0x30);
	allocate(f, A, 0x40, 130);
	assert_int_equal(f->s->peak_bytes, 170);
	assert_int_equal(at_peak(f, A), 0);
	assert_int_equal(at_peak(f, B), 50);
	assert_int_equal(at_peak(f, C), 120);
	assert_int_equal(total(f), 170);
	assert_int_equal(live_bytes(f), 130);
}

static void the_stacks_sum_up_to_the_peak_whatever_happens(void **state)
{
	struct fixture *f = *state;
	uint64_t random = 88172645463325252u;
	static uint64_t bytes[64];
	int64_t live = 0, peak = 0;

	mew_counters_open(&f->c);
	for (int step = 0; step < 20000; step++) {
		struct mew_live_block old;
		uint64_t i, size;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		i = random % 64;
		size = 1 + (random >> 32) % 1000;
		if (bytes[i] && random >> 60 < 8) {
			release(f, (i + 1) * 16);
			size = 0;
		} else if (bytes[i]) {
			assert_int_equal(mew_counters_take(&f->c, (i + 1) * 16, &old), 1);
			mew_counters_resize(&f->c, &f->t, at(f, (i + 1) * 16), &old,
					    A + random / 64 % 3, (i + 1) * 16, size);
		} else {
			allocate(f, A + random / 64 % 3, (i + 1) * 16, size);
		}
		live += (int64_t)size - (int64_t)bytes[i];
		bytes[i] = size;
		if (live > peak)
			peak = live;
		assert_int_equal(live_bytes(f), live);
		assert_int_equal(f->s->peak_bytes, peak);
		assert_int_equal(total(f), peak);
	}
}

static void a_block_freed_before_the_next_allocation_is_temporary(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 1);
	release(f, 0x10); /* temporary */
	allocate(f, A, 0x10, 1);
	allocate(f, B, 0x20, 1);
	release(f, 0x10); /* not: another one came between */
	release(f, 0x20); /* temporary: it was the last one */
	assert_int_equal(sum(f).frees, 3);
	assert_int_equal(sum(f).temporary, 2);
	assert_int_equal(f->s->nodes[A].temporary, 1);
	assert_int_equal(f->s->nodes[B].temporary, 1);
}

static void a_block_freed_by_another_thread_is_not_temporary(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	mew_counters_resize(&f->c, &f->t, at(f, 0x10), NULL, A, 0x10, 1);
	assert_int_equal(mew_counters_free(&f->c, &f->u, at(f, 0x10), 0x10), 1);
	/* The address again, by the other thread: not the block that t allocated last. */
	mew_counters_resize(&f->c, &f->u, at(f, 0x10), NULL, A, 0x10, 1);
	assert_int_equal(mew_counters_free(&f->c, &f->t, at(f, 0x10), 0x10), 1);
	assert_int_equal(sum(f).frees, 2);
	assert_int_equal(sum(f).temporary, 0);
	assert_int_equal(f->s->n_threads, 1 + 1);
}

static void unknown_blocks_are_foreign_inside_and_nothing_outside(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	assert_int_equal(mew_counters_free(&f->c, &f->t, at(f, 0x10), 0x10), 0);
	mew_counters_foreign(&f->c, at(f, 0x10));
	assert_int_equal(mew_counters_free(&f->c, &f->t, at(f, 0x20), 0x20), 0);
	assert_int_equal(sum(f).foreign_frees, 1);
	assert_int_equal(sum(f).frees, 0);
	assert_int_equal(live_bytes(f), 0);
	assert_int_equal(live_blocks(f), 0);
}

static void a_pause_lowers_live_but_starts_nothing(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	assert_int_equal(mew_counters_free(&f->c, &f->t, at(f, 0x10), 0x10), 1);
	assert_int_equal(live_bytes(f), 0);
	assert_int_equal(sum(f).frees, 1);
	assert_int_equal(f->s->peak_bytes, 100);
}

static void a_realloc_moves_live_by_the_difference_and_never_holds_both(void **state)
{
	struct fixture *f = *state;
	struct mew_live_block old;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	assert_int_equal(mew_counters_take(&f->c, 0x10, &old), 1);
	/* Between the steps the figures stand still. */
	assert_int_equal(live_bytes(f), 100);
	mew_counters_resize(&f->c, &f->t, at(f, 0x20), &old, B, 0x20, 150);
	assert_int_equal(sum(f).allocations, 2);
	assert_int_equal(sum(f).bytes, 250);
	assert_int_equal(sum(f).frees, 0);
	assert_int_equal(live_bytes(f), 150);
	assert_int_equal(live_blocks(f), 1);
	assert_int_equal(f->s->peak_bytes, 150);
	assert_int_equal(at_peak(f, A), 0);
	assert_int_equal(at_peak(f, B), 150);
	assert_int_equal(f->s->nodes[A].live_blocks, 0);
	assert_int_equal(f->s->nodes[B].live_blocks, 1);

	assert_int_equal(mew_counters_take(&f->c, 0x20, &old), 1);
	mew_counters_resize(&f->c, &f->t, at(f, 0x20), &old, B, 0x20, 30);
	assert_int_equal(live_bytes(f), 30);
	assert_int_equal(f->s->peak_bytes, 150);
	assert_int_equal(at_peak(f, B), 150);
	release(f, 0x20);
	assert_int_equal(sum(f).temporary, 1);
}

static void a_failed_realloc_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct mew_live_block old;
	struct mew_segment before;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	before = *f->s;
	assert_int_equal(mew_counters_take(&f->c, 0x10, &old), 1);
	mew_counters_restore(&f->c, &old);
	assert_memory_equal(&before, f->s, sizeof(before));
	release(f, 0x10);
	assert_int_equal(live_bytes(f), 0);
	assert_int_equal(sum(f).temporary, 1);
}

static void a_realloc_to_nothing_is_a_free(void **state)
{
	struct fixture *f = *state;
	struct mew_live_block old;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	assert_int_equal(mew_counters_take(&f->c, 0x10, &old), 1);
	mew_counters_released(&f->c, &f->t, &old);
	assert_int_equal(sum(f).frees, 1);
	assert_int_equal(sum(f).allocations, 1);
	assert_int_equal(live_bytes(f), 0);
}

static void a_realloc_in_a_pause_untracks(void **state)
{
	struct fixture *f = *state;
	struct mew_live_block old;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	assert_int_equal(mew_counters_take(&f->c, 0x10, &old), 1);
	mew_counters_untrack(&f->c, &old);
	assert_int_equal(sum(f).allocations, 1);
	assert_int_equal(sum(f).frees, 0);
	assert_int_equal(live_bytes(f), 0);
	assert_int_equal(live_blocks(f), 0);
	release(f, 0x10);
	assert_int_equal(sum(f).foreign_frees, 1);
}

static void what_is_held_is_told_at_the_close_and_frees_after_it_lower_live_alone(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	allocate(f, B, 0x20, 7);
	mew_counters_close(&f->c);
	assert_int_equal(f->s->closed, 1);
	assert_int_equal(mew_counters_free(&f->c, &f->t, at(f, 0x10), 0x10), 1);
	assert_int_equal(live_bytes(f), 7);
	assert_int_equal(sum(f).live_bytes, 107);
	assert_int_equal(sum(f).live_blocks, 2);
	assert_int_equal(f->s->nodes[A].live_bytes, 100);
	assert_int_equal(f->s->nodes[A].live_blocks, 1);
	assert_int_equal(sum(f).frees, 0);
	assert_int_equal(f->s->nodes[A].frees, 0);
	assert_int_equal(at_peak(f, A), 100);
	assert_int_equal(total(f), 107);
}

static void a_window_that_opens_again_takes_in_the_frees_between(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	mew_counters_close(&f->c);
	assert_int_equal(mew_counters_free(&f->c, &f->t, at(f, 0x10), 0x10), 1);
	mew_counters_open(&f->c);
	assert_int_equal(f->s->closed, 0);
	assert_int_equal(sum(f).frees, 1);
	assert_int_equal(f->s->nodes[A].frees, 1);
	assert_int_equal(sum(f).live_bytes, 0);
	assert_int_equal(f->s->nodes[A].live_bytes, 0);
	assert_int_equal(f->s->nodes[A].live_blocks, 0);
	allocate(f, B, 0x10, 60);
	mew_counters_close(&f->c);
	assert_int_equal(sum(f).allocations, 2);
	assert_int_equal(f->s->peak_bytes, 100);
	assert_int_equal(at_peak(f, A), 100);
	assert_int_equal(at_peak(f, B), 0);
	assert_int_equal(sum(f).live_bytes, 60);
}

static void an_open_window_has_held_up_to_date(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	allocate(f, A, 0x20, 5);
	release(f, 0x10);
	assert_int_equal(f->s->closed, 0);
	assert_int_equal(sum(f).live_bytes, 5);
	assert_int_equal(sum(f).live_blocks, 1);
	assert_int_equal(f->s->nodes[A].live_blocks, 1);
}

static void an_address_given_out_twice_was_freed_unseen(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 100);
	allocate(f, B, 0x10, 7);
	assert_int_equal(f->s->lost, 1);
	assert_int_equal(live_bytes(f), 7);
	assert_int_equal(live_blocks(f), 1);
	assert_int_equal(f->s->nodes[A].live_bytes, 0);
	assert_int_equal(sum(f).allocations, 2);
}

static void a_stack_without_room_is_lost_but_its_bytes_are_not(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, LOST, 0x10, 100);
	assert_int_equal(f->s->lost, 1);
	assert_int_equal(sum(f).allocations, 1);
	assert_int_equal(f->s->peak_bytes, 100);
	assert_int_equal(at_peak(f, LOST), 100);
	release(f, 0x10);
	assert_int_equal(live_bytes(f), 0);
}

static void a_block_that_cannot_be_remembered_is_lost_and_never_live(void **state)
{
	struct fixture *f = *state;
	uint64_t n = 1;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 1);
	heap_pages_left = 0;
	while (!f->s->lost) {
		allocate(f, A, (n + 1) * 16, 1);
		n++;
		assert_true(n < 10000);
	}
	assert_int_equal(sum(f).allocations, n);
	assert_int_equal(live_blocks(f), n - 1);
	assert_int_equal(live_bytes(f), n - 1);
	release(f, n * 16);
	assert_int_equal(sum(f).foreign_frees, 1);
	assert_int_equal(live_blocks(f), n - 1);
}

static void broken_stacks_are_counted(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, 1);
	allocate(f, BROKEN, 0x20, 1);
	allocate(f, BROKEN, 0x30, 1);
	assert_int_equal(sum(f).broken, 2);
}

static void a_block_beyond_all_measure_is_lost_and_never_live(void **state)
{
	struct fixture *f = *state;

	mew_counters_open(&f->c);
	allocate(f, A, 0x10, (uint64_t)1 << 40);
	allocate(f, A, 0x20, ((uint64_t)1 << 40) + 1);
	assert_int_equal(f->s->lost, 1);
	assert_int_equal(sum(f).allocations, 2);
	assert_int_equal(f->s->peak_bytes, (int64_t)1 << 40);
	release(f, 0x20);
	release(f, 0x10);
	assert_int_equal(live_bytes(f), 0);
	assert_int_equal(sum(f).foreign_frees, 1);
}

static void calls_are_counted_where_an_event_enters(void **state)
{
	struct fixture *f = *state;

	mew_counters_enter(&f->c, at(f, 0x10), 3);
	mew_counters_leave(at(f, 0x10));
	mew_counters_enter(&f->c, at(f, (uint64_t)1 << 40), 4);
	mew_counters_leave(at(f, (uint64_t)1 << 40));
	assert_int_equal(mew_segment_n_hooked(f->s), 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_and_bytes_add_up_by_stack_and_in_all),
		TEST(the_peak_has_the_composition_it_had_then),
		TEST(the_stacks_sum_up_to_the_peak_whatever_happens),
		TEST(a_block_freed_before_the_next_allocation_is_temporary),
		TEST(a_block_freed_by_another_thread_is_not_temporary),
		TEST(unknown_blocks_are_foreign_inside_and_nothing_outside),
		TEST(a_pause_lowers_live_but_starts_nothing),
		TEST(a_realloc_moves_live_by_the_difference_and_never_holds_both),
		TEST(a_failed_realloc_changes_nothing),
		TEST(a_realloc_to_nothing_is_a_free),
		TEST(a_realloc_in_a_pause_untracks),
		TEST(what_is_held_is_told_at_the_close_and_frees_after_it_lower_live_alone),
		TEST(a_window_that_opens_again_takes_in_the_frees_between),
		TEST(an_open_window_has_held_up_to_date),
		TEST(an_address_given_out_twice_was_freed_unseen),
		TEST(a_stack_without_room_is_lost_but_its_bytes_are_not),
		TEST(a_block_that_cannot_be_remembered_is_lost_and_never_live),
		TEST(broken_stacks_are_counted),
		TEST(a_block_beyond_all_measure_is_lost_and_never_live),
		TEST(calls_are_counted_where_an_event_enters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
