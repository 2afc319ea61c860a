/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h: stacks of pcs as they are gathered, one tree a case, so that nothing is symbolised
 * before the run is over; then the same as stacks of functions with their values in a session's
 * case.
 */
#ifndef MEW_SESSION_COLLECT_H
#define MEW_SESSION_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "profile/profile.h"
#include "symbol/symbol.h"
#include "unwind/walk.h"

/* What is said of a stack's outermost frame. */
enum mew_collect_mark {
	MEW_COLLECT_BROKEN,    /* the stack did not reach its root */
	MEW_COLLECT_WHOLE,     /* it did */
	MEW_COLLECT_COROUTINE, /* it is whole, but not one of the loop: it has a root of its own */
};

#define MEW_COLLECT_MARKS (MEW_COLLECT_COROUTINE + 1)

/* The group of the kernel's pcs: they are the same whoever called. */
#define MEW_COLLECT_KERNEL UINT32_MAX

/* A frame below its parent; node 0 is the root. */
struct mew_collect_node {
	uint64_t pc;
	uint32_t parent;
	uint32_t group; /* whose symbols: the epoch, and of whole programs the process image;
			   MEW_COLLECT_KERNEL */
	uint8_t exact;  /* 1: look up at pc, 0: a return address */
	uint8_t mark;   /* enum mew_collect_mark */
};

/* What was sampled on the stack that ends at node: whole ticks of one thread, until a round turns
 * them into time. */
struct mew_collect_hit {
	uint32_t node;
	uint32_t thread;
	double weight_s; /* settled */
	uint64_t samples;
	uint32_t ticks; /* of the round that is open */
	uint8_t whole;
};

struct mew_collect {
	struct mew_collect_node *nodes;
	size_t n_nodes, cap_nodes;
	struct mew_bytes_map index;
	struct mew_collect_hit *hits;
	size_t n_hits, cap_hits;
	struct mew_map hit_index;
};

int mew_collect_init(struct mew_collect *c);
void mew_collect_done(struct mew_collect *c);

/* The child of parent; UINT32_MAX without memory. */
uint32_t mew_collect_child(struct mew_collect *c, uint32_t parent, uint32_t group, uint64_t pc,
			   int exact, enum mew_collect_mark mark);
/* The node of a walked stack; its outermost frame is marked. UINT32_MAX without memory. */
uint32_t mew_collect_stack(struct mew_collect *c, uint32_t group, const struct mew_walk_result *w,
			   enum mew_collect_mark mark);
/* One tick of thread on node in the open round. 0 or -ENOMEM. */
int mew_collect_tick(struct mew_collect *c, uint32_t thread, uint32_t node, int whole);
/* Close the round for one thread: each of its ticks becomes weight_s. */
void mew_collect_settle(struct mew_collect *c, uint32_t thread, double weight_s);
/* Forget all ticks and weights so far. */
void mew_collect_forget(struct mew_collect *c);

/* Symbols of a group, and the time at which its pcs were there (0 as set before: now); NULL: none.
 */
typedef struct mew_symbols *(*mew_collect_symbols_fn)(void *arg, uint32_t group,
						      uint64_t *ret_time_ns);

/* Where the converted stack of node ends in the session: symbolises each node once. map: node ->
 * stack + 1 (0: not yet), n_nodes entries, zeroed by the caller at first. UINT32_MAX without
 * memory. */
uint32_t mew_collect_convert(const struct mew_collect *c, struct mew_session *s, uint32_t node,
			     uint32_t *map, mew_collect_symbols_fn symbols, void *arg);

/* All hits become values of the case; *ret_unknown counts samples whose innermost function is not
 * known. 0 or -ENOMEM. */
int mew_collect_values(const struct mew_collect *c, struct mew_session *s, struct mew_pcase *k,
		       mew_collect_symbols_fn symbols, void *arg, uint64_t *ret_unknown);

#endif
