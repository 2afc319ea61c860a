/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/stacks.h"

#include <errno.h>

struct mew_stacks_scratch *mew_stacks_take(struct mew_stacks *stacks, struct mew_stacks_thread *t)
{
	uint32_t i;

	if (!t->scratch)
		t->scratch = &stacks->scratches[__atomic_fetch_add(&stacks->n_given, 1,
								   __ATOMIC_RELAXED) %
						MEW_STACKS_SCRATCHES];
	for (i = (uint32_t)(t->scratch - stacks->scratches);; i = (i + 1) % MEW_STACKS_SCRATCHES) {
		struct mew_stacks_scratch *s = &stacks->scratches[i];

		if (!mew_lock_try(&s->lock))
			continue;
		if (!s->is_touched) {
			s->is_touched = 1;
			s->stripe = (uint16_t)(i % MEW_NODE_STRIPES << MEW_NODE_STRIPE);
			mew_lock_add(&stacks->tree->segment->own_bytes,
				     sizeof(s->cache) + sizeof(s->memos) + sizeof(s->recall) +
					     sizeof(s->trail.quick) + sizeof(s->text));
		}
		return s;
	}
}

/* So much of the scratch memory is touched for a stack of n frames. */
static void touch(struct mew_stacks *stacks, struct mew_stacks_scratch *s, uint32_t n)
{
	const uint64_t frame_bytes = sizeof(s->trail.frames[0]) + sizeof(s->trail.steps[0]) +
				     2 * sizeof(s->trail.words[0]) + sizeof(s->walk.pcs[0]);

	if (n <= s->n_deepest)
		return;
	mew_lock_add(&stacks->tree->segment->own_bytes, (n - s->n_deepest) * frame_bytes);
	s->n_deepest = n;
}

static uint32_t epoch_of(const struct mew_stacks *stacks)
{
	return __atomic_load_n(&stacks->client->table->epoch, __ATOMIC_ACQUIRE);
}

/*
 * What outermost frames hang from. It may be asked after the walk: what is on a stack now has not
 * been replaced, so it is the same code in the older epoch and in the newer one.
 */
static uint32_t base_of(struct mew_stacks *stacks, uint32_t epoch)
{
	struct mew_tree_key key = {.pc = epoch, .parent = MEW_TREE_ROOT, .flags = MEW_NODE_EPOCH};

	return key.pc ? mew_tree_child(stacks->tree, &key) : MEW_TREE_ROOT;
}

static inline uint16_t stripe_of(const struct mew_stacks *stacks,
				 const struct mew_stacks_scratch *s)
{
	const struct mew_segment *segment = stacks->tree->segment;

	/* When there are many stacks, room for them comes first. */
	return __atomic_load_n(&segment->n_nodes, __ATOMIC_RELAXED) > segment->cap_nodes / 4
		       ? 0
		       : s->stripe;
}

/* Whether the walk has come to where the thread's stacks end: a loop's come from the benchmark or
 * were made by somebody (makecontext); a return address of 0 may be a wrong turn. */
static int is_whole(const struct mew_stacks *stacks, const struct mew_stacks_thread *t,
		    const struct mew_walk_result *w)
{
	return w->end < MEW_WALK_ZERO ||
	       (w->end == MEW_WALK_ZERO && !(t->is_loops && stacks->root.hi));
}

/* Of the leaf of a whole stack. A loop's that nobody has called was made by somebody. */
static uint16_t flags_of_whole(const struct mew_stacks *stacks, const struct mew_stacks_thread *t,
			       int is_outermost)
{
	int is_made = is_outermost && t->is_loops && stacks->root.hi;

	return MEW_NODE_ROOTED | (is_made ? MEW_NODE_COROUTINE : 0);
}

/* The leaf of the stack that the walk has found. */
static uint32_t leaf_of_walk(struct mew_stacks *stacks, const struct mew_stacks_thread *t,
			     struct mew_stacks_scratch *s, uint32_t entry)
{
	const struct mew_walk_result *w = &s->walk;
	struct mew_tree_key key = {.parent = base_of(stacks, epoch_of(stacks))};

	touch(stacks, s, w->n_frames);
	for (uint32_t i = w->n_frames; i-- > 0;) {
		/* Addresses in the tree are looked up at pc - 1. */
		key.pc = w->pcs[i] + ((w->exact[i / 64] >> (i % 64)) & 1);
		if (i == 0) {
			key.flags =
				is_whole(stacks, t, w)
					? flags_of_whole(stacks, t, w->end == MEW_WALK_OUTERMOST)
					: (uint16_t)(MEW_NODE_BROKEN | w->end << MEW_NODE_WHY);
			key.flags |= w->n_by_fp ? MEW_NODE_BY_FP : 0;
			key.flags |= stripe_of(stacks, s);
			key.entry = (uint16_t)entry;
		}
		key.parent = mew_tree_child(stacks->tree, &key);
	}
	return key.parent;
}

/* Whose stack is walked. */
struct walked {
	struct mew_stacks_thread *thread;
	struct mew_stacks_scratch *scratch;
};

static uint64_t end_of(void *arg, uint64_t sp)
{
	struct walked *w = arg;

	return mew_stack_end(&w->thread->stack, sp, (uint64_t)(uintptr_t)__builtin_thread_pointer(),
			     w->scratch->text, sizeof(w->scratch->text));
}

/* The leaf of the stack that the trail has found, whose frames are all return addresses. */
static uint32_t leaf_of_trail(struct mew_stacks *stacks, const struct mew_stacks_thread *t,
			      struct mew_stacks_scratch *s, uint32_t entry)
{
	struct mew_trail *trail = &s->trail;
	struct mew_tree_key key = {.pc = 0};
	uint32_t n = trail->n_frames, epoch = epoch_of(stacks), i;

	touch(stacks, s, n);
	/* New code is there, in a new epoch, some time before the generation tells of it. */
	if (s->epoch != epoch)
		trail->n_tagged = 0;
	s->epoch = epoch;
	i = trail->n_tagged;
	/* What was an inner frame's caller may be the innermost one now: a leaf, which has no tag.
	 */
	if (i == n)
		i = n - 1;
	if (!i)
		trail->frames[0].tag = base_of(stacks, epoch);
	key.parent = trail->frames[i].tag;
	while (++i < n) {
		key.pc = trail->frames[i].pc;
		key.parent = mew_tree_child_again(stacks->tree, s->memos, key);
		trail->frames[i].tag = key.parent;
	}
	trail->n_tagged = n - 1;
	key.pc = trail->frames[n].pc;
	key.flags = flags_of_whole(stacks, t, trail->is_outermost) | stripe_of(stacks, s);
	key.entry = (uint16_t)entry;
	return mew_tree_child_again(stacks->tree, s->memos, key);
}

/* What was unloaded may have been replaced at the same place: its rules would lead astray, and to
 * something that looks like a stack. No thread goes by them until the others have come. */
static void refresh(struct mew_stacks *stacks, uint64_t pc)
{
	uint64_t n = __atomic_load_n(&stacks->n_unloaded, __ATOMIC_ACQUIRE), seen;

	mew_client_refresh(stacks->client, pc);
	seen = __atomic_load_n(&stacks->n_refreshed, __ATOMIC_RELAXED);
	while (seen < n && !__atomic_compare_exchange_n(&stacks->n_refreshed, &seen, n, 0,
							__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static int has_changed(const struct mew_client *client, uint64_t generation)
{
	return __atomic_load_n(&client->table->generation, __ATOMIC_ACQUIRE) != generation;
}

/* The leaf of the stack that the trail has found by tables of that generation. 0: they are others
 * now. */
static int take_trail(struct mew_stacks *stacks, const struct mew_stacks_thread *t,
		      struct mew_stacks_scratch *s, const struct mew_walk_start *start,
		      const struct mew_walk_stack *stack, uint32_t entry, uint64_t generation,
		      uint32_t *ret_leaf)
{
	uint32_t leaf = leaf_of_trail(stacks, t, s, entry);

	if (has_changed(stacks->client, generation))
		return 0;
	if (leaf != MEW_TREE_LOST)
		mew_recall_keep(&s->recall, &s->trail, start, stack, mew_stacks_key(t, entry),
				leaf);
	*ret_leaf = leaf;
	return 1;
}

uint32_t mew_stacks_walk(struct mew_stacks *stacks, struct mew_stacks_thread *t,
			 struct mew_stacks_scratch *s, const struct mew_stacks_caller *caller,
			 uint32_t entry)
{
	struct mew_client *client = stacks->client;
	struct mew_walk_result *w = &s->walk;
	struct walked on = {t, s};
	struct mew_walk_start start = mew_stacks_start(caller);
	struct mew_walk_stack stack = {.lo = caller->sp, .end_of = end_of, .arg = &on};
	uint64_t generation;
	uint32_t leaf;

	stack.hi = end_of(&on, caller->sp);
	if (mew_stacks_is_stale(stacks))
		refresh(stacks, caller->pc);
	/* Another thread may bring other tables at any time: then once more. */
	for (;;) {
		generation = __atomic_load_n(&client->table->generation, __ATOMIC_ACQUIRE);
		/* It may be known of a stack that is not the thread's own. */
		if (mew_recall_find(&s->recall, client->table, &start, &stack, &stacks->root,
				    mew_stacks_key(t, entry), &leaf))
			return leaf;
		if (mew_trail_walk(&s->trail, client->table, mew_client_table_bytes(client), &start,
				   &stack, &stacks->root, &s->cache)) {
			if (take_trail(stacks, t, s, &start, &stack, entry, generation, &leaf))
				return leaf;
			continue;
		}
		mew_walk(client->table, mew_client_table_bytes(client), &start, &stack,
			 &stacks->root, &s->cache, w);
		if (w->end <= MEW_WALK_ZERO || w->end == MEW_WALK_DEEP ||
		    (!mew_client_ask(client, w->broke_at) && !has_changed(client, generation)))
			return leaf_of_walk(stacks, t, s, entry);
	}
}

int mew_stacks_init(struct mew_stacks *stacks, struct mew_client *client, struct mew_tree *tree,
		    const struct mew_pages *pages)
{
	stacks->client = client;
	stacks->tree = tree;
	stacks->scratches = pages->map(MEW_STACKS_SCRATCHES * sizeof(*stacks->scratches));
	return stacks->scratches ? 0 : -ENOMEM;
}

void mew_stacks_unloaded(struct mew_stacks *stacks)
{
	__atomic_fetch_add(&stacks->n_unloaded, 1, __ATOMIC_RELEASE);
}
