/* SPDX-License-Identifier: Apache-2.0 */
/* heap_stacks.h: for the tests of heap/stacks.h: a program of few functions, with a stack of its
 * own, and a mew-perf that answers as the test wants. One test program includes it once. */
#ifndef MEW_TESTS_HEAP_STACKS_H
#define MEW_TESTS_HEAP_STACKS_H

#include <stdlib.h>
#include <string.h>

#include "heap/stacks.h"
#include "heap_pages.h"
#include "unit.h"
#include "unwind_space.h"

#define CODE 0x100000 /* function k is at CODE + k * SPAN */
#define SPAN 0x100
#define PLUGIN 0x800000 /* code that mew-perf knows nothing of, at first */
#define WORDS 4096
#define CAP_NODES 1000

/* Functions: each frame has a word of its own above sp and the return address above that. */
enum function { START, A, B, NO_RULE, N_FUNCTIONS };

struct fixture {
	struct space space;
	struct mew_client client;
	struct mew_segment *segment;
	struct mew_pages pages;
	struct mew_tree tree;
	struct mew_stacks stacks;
	struct mew_stacks_thread thread;
	uint64_t words[WORDS]; /* the stack of all threads */
};

/* ---- mew-perf ---- */

static struct {
	uint32_t n_asked, n_refreshed;
	uint64_t asked; /* the last place */
	const struct mew_stacks *stacks;
	int was_stale;           /* when it was asked to refresh the tables */
	int (*answer)(void *of); /* what mew_client_ask() gives; NULL: nothing is new */
	void *of;
} perf;

int mew_client_ask(struct mew_client *client, uint64_t pc)
{
	(void)client;
	perf.n_asked++;
	perf.asked = pc;
	return perf.answer ? perf.answer(perf.of) : 0;
}

int mew_client_refresh(struct mew_client *client, uint64_t pc)
{
	(void)client;
	perf.n_refreshed++;
	perf.asked = pc;
	perf.was_stale = mew_stacks_is_stale(perf.stacks);
	return 0;
}

/* ---- the program ---- */

static inline struct mew_rule plain_rule(uint32_t start)
{
	return (struct mew_rule){.start = start, .cfa = MEW_CFA_SP, .cfa_off = 16, .ra_off = -1};
}

static inline struct fixture *fixture_new(uint32_t cap_nodes)
{
	const struct mew_rule rules[] = {
		{.start = START * SPAN, .cfa = MEW_CFA_END},
		plain_rule(A * SPAN),
		plain_rule(B * SPAN),
		{.start = NO_RULE * SPAN, .cfa = MEW_CFA_NONE},
	};
	struct fixture *f = calloc(1, sizeof(*f));
	uint64_t bytes = sizeof(*f->segment) + cap_nodes * sizeof(f->segment->nodes[0]);

	memset(&perf, 0, sizeof(perf));
	assert_non_null(f);
	f->space = space_new();
	space_add(&f->space, CODE, CODE + N_FUNCTIONS * SPAN, rules, N_FUNCTIONS);
	f->client.table = f->space.table;
	f->client.table_bytes = f->space.bytes;
	f->segment = calloc(1, bytes);
	assert_non_null(f->segment);
	f->pages = heap_pages(UINT32_MAX);
	assert_int_equal(mew_tree_init(&f->tree, f->segment, bytes, &f->pages), 0);
	assert_int_equal(mew_stacks_init(&f->stacks, &f->client, &f->tree, &f->pages), 0);
	perf.stacks = &f->stacks;
	f->thread.stack.own = (struct mew_stack_range){(uint64_t)(uintptr_t)f->words,
						       (uint64_t)(uintptr_t)(f->words + WORDS)};
	return f;
}

static inline void fixture_free(struct fixture *f)
{
	free(f->stacks.scratches);
	mew_tree_done(&f->tree);
	free(f->segment);
	space_free(&f->space);
	free(f);
}

/* The return address of call number n in a function. */
static inline uint64_t call_in(enum function function, uint32_t n)
{
	return CODE + function * SPAN + 0x10 + n;
}

/* The innermost frame's caller, of the return addresses in pcs, innermost first. */
static struct mew_stacks_caller caller_of(struct fixture *f, const uint64_t *pcs, uint32_t n)
{
	uint64_t *sp = f->words + WORDS - 8 - 2 * n;

	for (uint32_t i = 1; i < n; i++)
		sp[2 * i - 1] = pcs[i];
	return (struct mew_stacks_caller){
		.pc = pcs[0], .sp = (uint64_t)(uintptr_t)sp, .fp = 0x1234};
}

static inline uint32_t leaf_in(struct fixture *f, struct mew_stacks_thread *t, const uint64_t *pcs,
			       uint32_t n, uint32_t entry)
{
	struct mew_stacks_caller caller = caller_of(f, pcs, n);

	return mew_stacks_leaf(&f->stacks, t, &caller, entry);
}

static inline uint32_t leaf(struct fixture *f, const uint64_t *pcs, uint32_t n)
{
	return leaf_in(f, &f->thread, pcs, n, 0);
}

#define LEAF(f, ...)                                                                               \
	leaf(f, (const uint64_t[]){__VA_ARGS__},                                                   \
	     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline const struct mew_segment_node *node(const struct fixture *f, uint32_t id)
{
	assert_in_range(id, 2, f->segment->n_nodes - 1);
	return &f->segment->nodes[id];
}

static inline uint32_t why(const struct fixture *f, uint32_t id)
{
	assert_int_equal(node(f, id)->flags & (MEW_NODE_BROKEN | MEW_NODE_ROOTED), MEW_NODE_BROKEN);
	return node(f, id)->flags >> MEW_NODE_WHY;
}

/* The path of a leaf is pcs, innermost first, then `base`. */
static inline void assert_path(const struct fixture *f, uint32_t id, const uint64_t *pcs,
			       uint32_t n, uint32_t base)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(node(f, id)->pc, pcs[i]);
		if (i > 0)
			assert_int_equal(node(f, id)->flags | node(f, id)->entry, 0);
		id = node(f, id)->parent;
	}
	assert_int_equal(id, base);
}

#endif
