/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree, live table, counters and peak as four threads drive them at once, beside what a plain sum
 * of the same events says. tools/dev/ci.sh builds it with the thread sanitizer.
 */
#include "config.h"

#include "heap/charge.h"
#include "heap/tree.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4
#define STEPS 30000
#define BLOCKS 64 /* of a thread */
#define STACKS 300
#define NODES 4096

/* What one thread has done, told by itself. */
struct worker {
	pthread_t thread;
	uint64_t random;
	struct mew_counters_thread t;
	uint64_t bytes[BLOCKS], stack[BLOCKS]; /* of its blocks; bytes 0: none */
	uint64_t allocations[STACKS], allocated[STACKS], frees[STACKS];
	int64_t live[STACKS];
	uint64_t foreign;
	uint32_t leaves[STACKS];
};

static struct mew_segment *segment;
static struct mew_pages pages;
static uint64_t own_bytes;
static struct mew_tree tree;
static struct mew_counters counters;
static struct worker workers[THREADS];
static pthread_mutex_t swap = PTHREAD_MUTEX_INITIALIZER;
/* Blocks that any thread may free: what is in them, 0 bytes: nothing. */
static uint64_t shared_bytes[BLOCKS], shared_stack[BLOCKS];
static int is_done;

static uint64_t next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

/* Three frames, of which the outer ones are shared by many stacks. */
static uint32_t leaf_of(struct worker *w, uint64_t stack)
{
	struct mew_tree_key key = {.pc = 1000 + stack % 7};

	key.parent = mew_tree_child(&tree, &key);
	key.pc = 2000 + stack % 31;
	key.parent = mew_tree_child(&tree, &key);
	key.pc = 3000 + stack;
	key.flags = stack % 5 ? MEW_NODE_ROOTED : MEW_NODE_BROKEN;
	w->leaves[stack] = mew_tree_child(&tree, &key);
	return w->leaves[stack];
}

static void allocate(struct worker *w, uint64_t addr, uint64_t stack, uint64_t bytes)
{
	struct mew_live_shard *at = mew_live_at(&counters.live, addr);
	uint32_t leaf = leaf_of(w, stack);

	mew_counters_enter(&counters, at, 1);
	mew_counters_resize(&counters, &w->t, at, NULL, leaf, addr, bytes);
	mew_counters_leave(at);
	w->allocations[stack]++;
	w->allocated[stack] += bytes;
	w->live[stack] += (int64_t)bytes;
}

static void release(struct worker *w, uint64_t addr, uint64_t stack, uint64_t bytes)
{
	struct mew_live_shard *at = mew_live_at(&counters.live, addr);

	mew_counters_enter(&counters, at, 1);
	if (!mew_counters_free(&counters, &w->t, at, addr))
		abort();
	mew_counters_leave(at);
	w->frees[stack]++;
	w->live[stack] -= (int64_t)bytes;
}

static void resize(struct worker *w, uint64_t addr, uint64_t *stack, uint64_t *bytes)
{
	struct mew_live_shard *at = mew_live_at(&counters.live, addr);
	uint64_t now = next_random(w) % STACKS, n = 1 + next_random(w) % 5000;
	uint32_t leaf = leaf_of(w, now);
	struct mew_live_block old;
	int is_tracked, fails = next_random(w) % 4 == 0;

	mew_counters_enter(&counters, at, 1);
	is_tracked = mew_counters_take(&counters, addr, &old);
	mew_counters_leave(at);
	mew_counters_enter(&counters, at, 0);
	if (fails)
		mew_counters_restore(&counters, &old);
	else
		mew_counters_resize(&counters, &w->t, at, &old, leaf, addr, n);
	mew_counters_leave(at);
	if (!is_tracked || old.bytes != *bytes)
		abort();
	if (fails)
		return;
	w->live[*stack] -= (int64_t)*bytes;
	w->allocations[now]++;
	w->allocated[now] += n;
	w->live[now] += (int64_t)n;
	*stack = now;
	*bytes = n;
}

/* A place in a row of blocks: empty it, fill it, or change it. */
static void step(struct worker *w, uint64_t addr, uint64_t *stack, uint64_t *bytes)
{
	if (!*bytes) {
		*stack = next_random(w) % STACKS;
		*bytes = 1 + next_random(w) % 5000;
		allocate(w, addr, *stack, *bytes);
	} else if (next_random(w) % 3) {
		release(w, addr, *stack, *bytes);
		*bytes = 0;
	} else {
		resize(w, addr, stack, bytes);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t base = ((uint64_t)(w - workers) + 2) << 20;

	for (int i = 0; i < STEPS; i++) {
		uint64_t at = next_random(w) % BLOCKS;

		step(w, base + at * 16, &w->stack[at], &w->bytes[at]);
		if (i % 8 == 0) {
			/* One that every thread may have made. */
			pthread_mutex_lock(&swap);
			step(w, ((uint64_t)1 << 20) + at * 16, &shared_stack[at],
			     &shared_bytes[at]);
			pthread_mutex_unlock(&swap);
		}
		if (i % 16 == 0) {
			struct mew_live_shard *s = mew_live_at(&counters.live, at << 30);

			mew_counters_enter(&counters, s, 1);
			if (mew_counters_free(&counters, &w->t, s, at << 30))
				abort();
			mew_counters_foreign(&counters, s);
			mew_counters_leave(s);
			w->foreign++;
		}
	}
	return NULL;
}

/* Shuts the window and opens it again, which the sums must not show. */
static void *shut_and_open(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) {
		struct mew_segment_sum sum;

		mew_live_lock(&counters.live);
		mew_counters_close(&counters);
		/* Nothing is in between: the stacks add up, and to the peak. */
		sum = mew_segment_sum(segment);
		if (sum.live_bytes !=
		    segment->peak_bytes - (int64_t)(segment->below & MEW_SEGMENT_BELOW))
			abort();
		mew_counters_open(&counters);
		mew_live_unlock(&counters.live);
		/* The locks are not fair: the others are to get on. */
		usleep(20);
	}
	return NULL;
}

static void start(void)
{
	uint64_t bytes = sizeof(*segment) + NODES * sizeof(segment->nodes[0]);

	segment = calloc(1, bytes);
	assert_non_null(segment);
	mew_pages_init(&pages, &own_bytes);
	assert_int_equal(mew_tree_init(&tree, segment, bytes, &pages), 0);
	mew_counters_init(&counters, segment, &pages);
	mew_counters_open(&counters);
}

/* The highest slice is the peak, and each allocation has a size. */
static void check_shapes(uint64_t allocations)
{
	int64_t points[MEW_CURVE_SLICES], highest = 0;
	uint64_t width, n_sizes = 0;
	unsigned n = mew_curve_read(&segment->curve, points, &width);

	for (unsigned i = 0; i < n; i++)
		highest = points[i] > highest ? points[i] : highest;
	for (unsigned k = 0; k < MEW_SIZES_CLASSES; k++)
		n_sizes += mew_sizes_of(&segment->sizes, k);
	assert_int_equal(highest, segment->peak_bytes);
	assert_int_equal(n_sizes, allocations);
	assert_int_equal(segment->n_allocations, allocations);
}

static void check_sums(void)
{
	struct mew_segment_sum sum = mew_segment_sum(segment);
	uint64_t foreign = 0, allocations = 0;
	int64_t at_peak = 0, live = 0;

	for (uint64_t stack = 0; stack < STACKS; stack++) {
		struct mew_segment_node want = {0}, *n = NULL;

		for (int i = 0; i < THREADS; i++) {
			struct worker *w = &workers[i];

			want.allocations += w->allocations[stack];
			want.bytes += w->allocated[stack];
			want.frees += w->frees[stack];
			want.live_bytes += w->live[stack];
			if (n && w->leaves[stack])
				assert_ptr_equal(n, &segment->nodes[w->leaves[stack]]);
			if (w->leaves[stack])
				n = &segment->nodes[w->leaves[stack]];
		}
		assert_non_null(n);
		assert_int_equal(n->pc, 3000 + stack);
		assert_int_equal(n->allocations, want.allocations);
		assert_int_equal(n->bytes, want.bytes);
		assert_int_equal(n->frees, want.frees);
		assert_int_equal(n->live_bytes, want.live_bytes);
		allocations += want.allocations;
		live += want.live_bytes;
	}
	for (int i = 0; i < THREADS; i++)
		foreign += workers[i].foreign;
	for (uint32_t i = 0; i < segment->n_nodes; i++)
		at_peak += mew_segment_at_peak(segment, &segment->nodes[i]);
	assert_int_equal(segment->n_nodes, 2 + 7 + 7 * 31 + STACKS);
	assert_int_equal(sum.allocations, allocations);
	assert_int_equal(sum.foreign_frees, foreign);
	assert_int_equal(sum.live_bytes, live);
	assert_int_equal(segment->peak_bytes - (int64_t)(segment->below & MEW_SEGMENT_BELOW), live);
	/* Whatever the threads did at the time, the peak is made of what its stacks held. */
	assert_int_equal(at_peak, segment->peak_bytes);
	check_shapes(allocations);
	assert_int_equal(segment->n_threads, THREADS);
	assert_int_equal(segment->lost, 0);
}

static void threads_at_once_count_as_one_after_the_other(void **state)
{
	pthread_t gate;

	(void)state;
	start();
	for (int i = 0; i < THREADS; i++) {
		workers[i].random = 88172645463325252u + (uint64_t)i;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	assert_int_equal(pthread_create(&gate, NULL, shut_and_open, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
	pthread_join(gate, NULL);
	check_sums();
	mew_counters_done(&counters);
	mew_tree_done(&tree);
	assert_int_equal(own_bytes, 0);
	free(segment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_at_once_count_as_one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
