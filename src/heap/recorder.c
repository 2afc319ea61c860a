/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "channel/forkmark.h"
#include "channel/gate.h"
#include "heap/client.h"
#include "heap/lock.h"
#include "heap/mapped.h"
#include "heap/mmap.h"
#include "heap/real.h"
#include "heap/tree.h"
#include "unwind/walk.h"

#define SCRATCHES 64u /* threads that walk at the same time */
#define MEMOS 512u

enum inside {
	IN_REAL = 1,     /* in the real function: a call from there is a part of it */
	IN_RECORDER = 2, /* in here: only a signal handler can call from there */
};

/* What a walk needs, too large for the stack of a program's thread. */
struct scratch {
	uint32_t is_taken;
	uint32_t is_touched;
	struct mew_walk_cache cache;
	struct mew_walk_result walk;
	struct {
		uint64_t hash;
		uint32_t node;
	} memos[MEMOS]; /* leaves of stacks seen, by their hash */
	char text[1024];
};

/* One process, one recorder. */
static struct {
	struct mew_lock lock; /* of tree, counters, phase, whole_paused and mew_recorder_mode */
	enum mew_gate_phase phase;
	uint32_t serial; /* of the first iteration's or the window's opening, from 1 */
	uint32_t whole_paused;
	int status;
	struct mew_forkmark mark;
	struct mew_client client;
	struct mew_walk_root root;
	struct mew_pages pages;
	struct mew_tree tree;
	struct mew_counters counters;
	struct scratch *scratches;
	struct mew_lock maps_lock; /* of what is mapped; held across the real calls */
	struct mew_pages maps_pages;
	struct mew_mapped mapped;
	uint32_t n_closed; /* dlclose() since the tables were last asked for */
	uint32_t n_slots;  /* given out to threads */
	uint32_t n_touched;
} recorder = {.status = -ENOTCONN};

uint32_t mew_recorder_mode;
__thread struct mew_recorder_thread mew_recorder_thread;

/* ---- state ---- */

static int is_on(void)
{
	return !recorder.status && mew_forkmark_ours(&recorder.mark);
}

static int is_paused(const struct mew_recorder_thread *t)
{
	return __atomic_load_n(&recorder.whole_paused, __ATOMIC_RELAXED) ||
	       t->paused == __atomic_load_n(&recorder.serial, __ATOMIC_RELAXED);
}

static int is_set(enum mew_heap_flags flag)
{
	return (recorder.client.flags & flag) != 0;
}

static int is_in(const struct mew_recorder_thread *t, enum mew_gate_phase phase)
{
	return __atomic_load_n(&recorder.phase, __ATOMIC_RELAXED) == phase && !is_paused(t) &&
	       (t->is_loops || !is_set(MEW_HEAP_SELF));
}

static uint32_t lock_recorder(struct mew_recorder_thread *t)
{
	uint32_t inside = t->inside;

	t->inside = IN_RECORDER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mew_lock_acquire(&recorder.lock);
	return inside;
}

/* Brings up to date what depends on all that the lock covers. */
static void unlock_recorder(struct mew_recorder_thread *t, uint32_t inside)
{
	struct mew_segment *segment = recorder.client.segment;
	int is_open = recorder.phase != MEW_GATE_OUTSIDE && !recorder.whole_paused;
	uint32_t mode = 0;

	if (is_open)
		mode |= MEW_RECORDER_CALLS;
	if (recorder.counters.live.n || (is_open && recorder.phase == MEW_GATE_WINDOW))
		mode |= MEW_RECORDER_FREES;
	if (mode != mew_recorder_mode)
		__atomic_store_n(&mew_recorder_mode, mode, __ATOMIC_RELAXED);
	segment->n_hooked += t->n_calls;
	t->n_calls = 0;
	segment->own_bytes = recorder.pages.n_bytes + recorder.maps_pages.n_bytes +
			     segment->n_nodes * (sizeof(segment->nodes[0]) +
						 sizeof(recorder.counters.nodes[0])) +
			     recorder.n_touched * sizeof(struct scratch);
	mew_lock_release(&recorder.lock);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->inside = inside;
}

int mew_recorder_enter(const struct mew_recorder_caller *caller, int is_allocation)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (t->inside == IN_RECORDER) {
		if (is_allocation && mew_forkmark_ours(&recorder.mark))
			mew_counters_lose(recorder.client.segment);
		return 0;
	}
	/* A call that was left by longjmp or an exception is over: this one is outside of it. */
	if (t->inside == IN_REAL && caller->sp < t->outer_sp)
		return 0;
	if (!mew_forkmark_ours(&recorder.mark)) {
		__atomic_store_n(&mew_recorder_mode, 0, __ATOMIC_RELAXED);
		return 0;
	}
	t->outer_sp = caller->sp;
	t->inside = IN_REAL;
	return 1;
}

static void leave(struct mew_recorder_thread *t)
{
	t->inside = 0;
}

/* ---- stacks ---- */

static struct scratch *take_scratch(struct mew_recorder_thread *t)
{
	uint32_t slot;

	if (!t->slot)
		t->slot =
			1 + __atomic_fetch_add(&recorder.n_slots, 1, __ATOMIC_RELAXED) % SCRATCHES;
	for (slot = t->slot - 1;; slot = (slot + 1) % SCRATCHES) {
		struct scratch *s = &recorder.scratches[slot];

		if (__atomic_exchange_n(&s->is_taken, 1, __ATOMIC_ACQUIRE))
			continue;
		if (!s->is_touched) {
			s->is_touched = 1;
			__atomic_fetch_add(&recorder.n_touched, 1, __ATOMIC_RELAXED);
		}
		return s;
	}
}

static void give_scratch(struct scratch *s)
{
	__atomic_store_n(&s->is_taken, 0, __ATOMIC_RELEASE);
}

static struct mew_tree_stack walk(struct mew_recorder_thread *t, struct scratch *s,
				  const struct mew_recorder_caller *caller, uint32_t entry)
{
	struct mew_walk_start start = {
		.pc = caller->pc, .sp = caller->sp, .fp = caller->fp, .pc_is_return = 1};
	struct mew_walk_stack stack = {.lo = caller->sp};
	struct mew_walk_result *w = &s->walk;
	int is_whole;

	stack.hi = mew_stack_end(&t->stack, caller->sp,
				 (uint64_t)(uintptr_t)__builtin_thread_pointer(), s->text,
				 sizeof(s->text));
	/* What was unloaded may have been replaced at the same place: its rules would lead astray,
	 * and to something that looks like a stack. */
	if (__atomic_load_n(&recorder.n_closed, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&recorder.n_closed, 0, __ATOMIC_RELAXED))
		mew_client_refresh(&recorder.client, caller->pc);
	do {
		mew_walk(recorder.client.table, mew_client_table_bytes(&recorder.client), &start,
			 &stack, &recorder.root, &s->cache, w);
		is_whole = w->end == MEW_WALK_ROOT || w->end == MEW_WALK_OUTERMOST;
	} while (!is_whole && w->end != MEW_WALK_DEEP &&
		 mew_client_ask(&recorder.client, w->broke_at));
	return (struct mew_tree_stack){
		.pcs = w->pcs,
		.exact = w->exact,
		.n = w->n_frames,
		.entry = entry,
		.flags = is_whole ? MEW_NODE_ROOTED : MEW_NODE_BROKEN,
	};
}

static uint64_t stack_hash(const struct mew_tree_stack *stack)
{
	uint64_t h = stack->entry + stack->n;

	for (uint32_t i = 0; i < stack->n; i++)
		h = (((h << 5) | (h >> 59)) ^ stack->pcs[i]) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}

/* What is known of the stack without the lock: its leaf, or 0. */
static uint32_t recall(const struct scratch *s, uint64_t hash, const struct mew_tree_stack *stack)
{
	uint32_t i = (uint32_t)hash & (MEMOS - 1);

	return s->memos[i].hash == hash && mew_tree_matches(&recorder.tree, s->memos[i].node, stack)
		       ? s->memos[i].node
		       : 0;
}

static uint32_t intern(struct scratch *s, uint64_t hash, const struct mew_tree_stack *stack)
{
	uint32_t i = (uint32_t)hash & (MEMOS - 1);

	s->memos[i].hash = hash;
	s->memos[i].node = mew_tree_intern(&recorder.tree, stack);
	return s->memos[i].node;
}

/* ---- events ---- */

/* A call in the window gave bytes at p; it may have taken old. */
static void record(struct mew_recorder_thread *t, const struct mew_recorder_caller *caller,
		   uint32_t entry, const struct mew_live_block *old, const void *p, size_t bytes)
{
	struct scratch *s = take_scratch(t);
	struct mew_tree_stack stack = walk(t, s, caller, entry);
	uint64_t hash = stack_hash(&stack);
	uint32_t node = recall(s, hash, &stack), inside;

	inside = lock_recorder(t);
	if (is_in(t, MEW_GATE_WINDOW)) {
		if (!node)
			node = intern(s, hash, &stack);
		mew_counters_resize(&recorder.counters, &t->counters, old, node,
				    (uint64_t)(uintptr_t)p, bytes);
	} else {
		mew_counters_untrack(&recorder.counters, old);
	}
	unlock_recorder(t, inside);
	give_scratch(s);
}

static void record_outside(struct mew_recorder_thread *t, const struct mew_live_block *old)
{
	uint32_t inside = lock_recorder(t);

	mew_counters_untrack(&recorder.counters, old);
	if (is_in(t, MEW_GATE_FIRST))
		recorder.client.segment->first_iteration_allocations++;
	unlock_recorder(t, inside);
}

/* p is the caller's, so that the real function only looks at it. */
static size_t usable_size(const void *p)
{
	return mew_pool_owns(p) ? mew_pool_size(p)
				: mew_real.malloc_usable_size((void *)(uintptr_t)p);
}

static void came_back(const struct mew_recorder_caller *caller, uint32_t entry,
		      const struct mew_live_block *old, const void *p, size_t bytes)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	t->inside = IN_RECORDER;
	if (is_set(MEW_HEAP_USABLE))
		bytes = usable_size(p);
	if (is_in(t, MEW_GATE_WINDOW))
		record(t, caller, entry, old, p, bytes);
	else if (old || is_in(t, MEW_GATE_FIRST))
		record_outside(t, old);
}

void mew_recorder_allocated(const struct mew_recorder_caller *caller, uint32_t entry, const void *p,
			    size_t bytes)
{
	int saved = errno;

	if (p)
		came_back(caller, entry, NULL, p, bytes);
	errno = saved;
	leave(&mew_recorder_thread);
}

void mew_recorder_freeing(const void *p)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int saved = errno;
	uint32_t inside;

	if (!p)
		return;
	inside = lock_recorder(t);
	mew_counters_free(&recorder.counters, &t->counters, (uint64_t)(uintptr_t)p,
			  is_in(t, MEW_GATE_WINDOW));
	unlock_recorder(t, inside);
	errno = saved;
}

void mew_recorder_freed(void)
{
	leave(&mew_recorder_thread);
}

int mew_recorder_resizing(const void *p, struct mew_live_block *ret_old)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int saved = errno, is_tracked;
	uint32_t inside = lock_recorder(t);

	is_tracked = mew_counters_take(&recorder.counters, (uint64_t)(uintptr_t)p, ret_old);
	unlock_recorder(t, inside);
	errno = saved;
	return is_tracked;
}

void mew_recorder_resized(const struct mew_recorder_caller *caller, uint32_t entry,
			  const struct mew_live_block *old, const void *q, size_t bytes)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int saved = errno;
	uint32_t inside;

	if (q) {
		came_back(caller, entry, old, q, bytes);
	} else {
		inside = lock_recorder(t);
		if (!bytes)
			mew_counters_released(&recorder.counters, &t->counters, old,
					      is_in(t, MEW_GATE_WINDOW));
		else if (old)
			mew_counters_restore(&recorder.counters, old);
		unlock_recorder(t, inside);
	}
	errno = saved;
	leave(t);
}

int mew_recorder_maps_begin(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	/* An allocator that maps is at work for a block; the recorder's own mappings are no one's.
	 */
	if (!is_set(MEW_HEAP_MMAP) || t->inside || !is_on())
		return 0;
	t->inside = IN_RECORDER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mew_lock_acquire(&recorder.maps_lock);
	return 1;
}

void mew_recorder_mapped(const void *p, size_t bytes)
{
	int saved = errno;

	mew_mapped_map(&recorder.mapped, (uint64_t)(uintptr_t)p, bytes,
		       is_in(&mew_recorder_thread, MEW_GATE_WINDOW));
	errno = saved;
}

void mew_recorder_unmapped(const void *p, size_t bytes)
{
	int saved = errno;

	mew_mapped_unmap(&recorder.mapped, (uint64_t)(uintptr_t)p, bytes);
	errno = saved;
}

void mew_recorder_maps_end(void)
{
	int saved = errno;

	mew_lock_release(&recorder.maps_lock);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	leave(&mew_recorder_thread);
	errno = saved;
}

void mew_recorder_closed(void)
{
	__atomic_fetch_add(&recorder.n_closed, 1, __ATOMIC_RELAXED);
}

/* ---- gate ---- */

static int32_t gate_status(void)
{
	return recorder.status;
}

/* The program is up, so its own operator new may be tried. */
static void try_new(struct mew_recorder_thread *t)
{
	struct mew_segment *segment = recorder.client.segment;
	uint64_t before = t->n_calls;

	if (segment->new_goes_by != MEW_NEW_UNKNOWN)
		return;
	mew_real_try_new();
	segment->new_goes_by = t->n_calls != before ? MEW_NEW_HOOKED : MEW_NEW_GOES_BY;
}

static void gate_prepare(uintptr_t root_lo, uintptr_t root_hi)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (!is_on())
		return;
	recorder.root = (struct mew_walk_root){.lo = root_lo, .hi = root_hi};
	t->inside = IN_RECORDER;
	mew_client_refresh(&recorder.client, root_lo);
	leave(t);
	try_new(t);
}

static void gate_phase(enum mew_gate_phase phase)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	uint32_t inside;

	if (!is_on())
		return;
	if (recorder.phase == MEW_GATE_WINDOW && mew_recorder_maps_begin()) {
		mew_mapped_close(&recorder.mapped);
		mew_recorder_maps_end();
	}
	inside = lock_recorder(t);
	if (phase != recorder.phase) {
		if (recorder.phase == MEW_GATE_WINDOW)
			mew_counters_close(&recorder.counters);
		if (phase == MEW_GATE_WINDOW)
			mew_counters_open(&recorder.counters);
		/* A pause belongs to the loop in which it began. */
		if (phase != MEW_GATE_OUTSIDE) {
			recorder.serial++;
			recorder.whole_paused = 0;
		}
		recorder.phase = phase;
	}
	unlock_recorder(t, inside);
}

static void gate_pause(int on, int whole)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	uint32_t inside;

	if (!is_on() || is_set(MEW_HEAP_PAUSED))
		return;
	if (!whole) {
		t->paused = on ? recorder.serial : 0;
		return;
	}
	inside = lock_recorder(t);
	recorder.whole_paused = on != 0;
	unlock_recorder(t, inside);
}

static void gate_join(void)
{
	mew_recorder_thread.is_loops = 1;
}

static void gate_iteration(void)
{
	struct mew_segment *segment = recorder.client.segment;

	if (is_on() && __atomic_load_n(&recorder.phase, __ATOMIC_RELAXED) == MEW_GATE_WINDOW)
		mew_iterations_next(&segment->iterations, &segment->live_bytes);
}

static uint64_t gate_n_hooked(void)
{
	uint64_t n = mew_recorder_thread.n_calls;

	return is_on() ? n + __atomic_load_n(&recorder.client.segment->n_hooked, __ATOMIC_RELAXED)
		       : n;
}

__attribute__((visibility("default"))) extern const struct mew_gate mew_heap_gate;
const struct mew_gate mew_heap_gate = {
	.version = MEW_GATE_VERSION,
	.status = gate_status,
	.prepare = gate_prepare,
	.phase = gate_phase,
	.pause = gate_pause,
	.join = gate_join,
	.iteration = gate_iteration,
	.n_hooked = gate_n_hooked,
};

/* ---- start ---- */

static void count_fork(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	uint32_t inside;

	if (!is_on() || recorder.phase != MEW_GATE_WINDOW)
		return;
	inside = lock_recorder(t);
	recorder.client.segment->forked++;
	unlock_recorder(t, inside);
}

static int start(const char *path)
{
	struct mew_segment *segment;
	int rc = mew_forkmark_open(&recorder.mark);

	if (!rc)
		rc = mew_client_connect(&recorder.client, path);
	if (rc)
		return rc;
	segment = recorder.client.segment;
	mew_pages_init(&recorder.pages);
	rc = mew_tree_init(&recorder.tree, segment, recorder.client.segment_bytes, &recorder.pages);
	if (!rc)
		rc = mew_counters_init(&recorder.counters, segment, &recorder.pages);
	if (rc)
		return rc;
	mew_pages_init(&recorder.maps_pages);
	if (is_set(MEW_HEAP_MMAP))
		rc = mew_mapped_init(&recorder.mapped, &segment->mapped, &recorder.maps_pages,
				     (uint64_t)getauxval(AT_PAGESZ));
	if (rc)
		return rc;
	recorder.scratches = recorder.pages.map(SCRATCHES * sizeof(*recorder.scratches));
	if (!recorder.scratches)
		return -ENOMEM;
	rc = -pthread_atfork(NULL, count_fork, NULL);
	if (rc)
		return rc;
	segment->new_goes_by = mew_real_new_is_own() ? MEW_NEW_UNKNOWN : MEW_NEW_HOOKED;
	__atomic_store_n(&segment->magic, MEW_SEGMENT_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

static __attribute__((constructor)) void construct(void)
{
	const char *path = getenv(MEW_SOCKET_ENV);
	int saved = errno;

	mew_real_find();
	mew_mmap_find();
	if (path && *path)
		recorder.status = start(path);
	if (is_on() && recorder.client.is_whole) {
		gate_join();
		gate_phase(MEW_GATE_WINDOW);
	}
	errno = saved;
}
