/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "channel/forkmark.h"
#include "channel/gate.h"
#include "heap/charge.h"
#include "heap/child.h"
#include "heap/client.h"
#include "heap/exec.h"
#include "heap/lock.h"
#include "heap/mapped.h"
#include "heap/mmap.h"
#include "heap/real.h"
#include "heap/tree.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* One process, one recorder. */
static struct {
	struct mew_lock gate;      /* for who changes what follows, and mew_recorder_mode */
	enum mew_gate_phase phase; /* stays as it is between mew_counters_enter() and _leave() */
	uint32_t serial;           /* of the first iteration's or the window's opening, from 1 */
	uint32_t open; /* the window's while it is open and not paused as a whole, or 0 */
	uint32_t whole_paused;
	int status;
	struct mew_client client;
	struct mew_pages pages;
	struct mew_tree tree;
	struct mew_counters counters;
	struct mew_stacks stacks;
	struct mew_lock maps_lock; /* of what is mapped; held across the real calls */
	struct mew_pages maps_pages;
	struct mew_mapped mapped;
} recorder = {.status = -ENOTCONN};

struct mew_forkmark mew_recorder_mark;
uint32_t mew_recorder_mode;
__thread struct mew_recorder_thread mew_recorder_thread;

/* ---- state ---- */

static int is_on(void)
{
	return !recorder.status && mew_forkmark_ours(&mew_recorder_mark);
}

static int is_set(enum mew_heap_flags flag)
{
	return (recorder.client.flags & flag) != 0;
}

static inline int is_of_interest(const struct mew_recorder_thread *t)
{
	return t->stacks.is_loops || !is_set(MEW_HEAP_SELF);
}

static inline int is_in_window(const struct mew_recorder_thread *t)
{
	uint32_t open = __atomic_load_n(&recorder.open, __ATOMIC_RELAXED);

	return open && t->paused != open && is_of_interest(t);
}

static inline int is_in_first(const struct mew_recorder_thread *t)
{
	return __atomic_load_n(&recorder.phase, __ATOMIC_RELAXED) == MEW_GATE_FIRST &&
	       !__atomic_load_n(&recorder.whole_paused, __ATOMIC_RELAXED) &&
	       t->paused != __atomic_load_n(&recorder.serial, __ATOMIC_RELAXED) &&
	       is_of_interest(t);
}

/* From here on a signal handler must not come in. */
static uint32_t begin(struct mew_recorder_thread *t)
{
	uint32_t inside = t->inside;

	t->inside = MEW_INSIDE_RECORDER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return inside;
}

static void end(struct mew_recorder_thread *t, uint32_t inside)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->inside = inside;
}

/* What is to be recorded from now on. The caller holds the gate. */
static void set_mode(void)
{
	int is_open = recorder.phase != MEW_GATE_OUTSIDE && !recorder.whole_paused;
	uint32_t mode = 0;

	if (is_open)
		mode |= MEW_RECORDER_CALLS;
	if (recorder.phase == MEW_GATE_WINDOW || mew_live_any(&recorder.counters.live))
		mode |= MEW_RECORDER_FREES;
	__atomic_store_n(&mew_recorder_mode, mode, __ATOMIC_RELAXED);
}

/* After phase, serial or whole_paused has changed. */
static void set_open(void)
{
	int is_open = recorder.phase == MEW_GATE_WINDOW && !recorder.whole_paused;

	__atomic_store_n(&recorder.open, is_open ? recorder.serial : 0, __ATOMIC_RELAXED);
}

static void lock_gate(void)
{
	mew_lock_acquire(&recorder.gate);
}

static void unlock_gate(void)
{
	set_mode();
	mew_lock_release(&recorder.gate);
}

static ALWAYS_INLINE uint32_t lock_block(struct mew_recorder_thread *t, const void *p)
{
	uint32_t inside = begin(t);

	mew_counters_enter(&recorder.counters, (uint64_t)(uintptr_t)p, t->n_calls);
	t->n_calls = 0;
	return inside;
}

/* The last block may have gone, or a realloc have brought it back. */
static __attribute__((noinline)) void set_mode_late(void)
{
	lock_gate();
	unlock_gate();
}

static ALWAYS_INLINE void unlock_block(struct mew_recorder_thread *t, const void *p,
				       uint32_t inside)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	int is_late = recorder.phase != MEW_GATE_WINDOW &&
		      mew_live_at(&recorder.counters.live, addr)->n <= 1;

	mew_counters_leave(&recorder.counters, addr);
	if (is_late)
		set_mode_late();
	end(t, inside);
}

/* What the tracker itself takes, as far as it has been touched. */
static inline void tell_own_bytes(void)
{
	struct mew_segment *s = recorder.client.segment;
	uint64_t bytes = __atomic_load_n(&recorder.pages.n_bytes, __ATOMIC_RELAXED) +
			 __atomic_load_n(&recorder.maps_pages.n_bytes, __ATOMIC_RELAXED) +
			 __atomic_load_n(&s->n_nodes, __ATOMIC_RELAXED) * sizeof(s->nodes[0]) +
			 __atomic_load_n(&recorder.stacks.bytes, __ATOMIC_RELAXED);

	if (bytes != __atomic_load_n(&s->own_bytes, __ATOMIC_RELAXED))
		__atomic_store_n(&s->own_bytes, bytes, __ATOMIC_RELAXED);
}

/* In a forked child, which records nothing. One that was made by a bare system call, so that the
 * parent has not counted it, does so itself. */
static void be_child(const struct mew_recorder_thread *t)
{
	uint32_t mode = __atomic_exchange_n(&mew_recorder_mode, 0, __ATOMIC_RELAXED);

	if (mode && is_in_window(t))
		__atomic_fetch_add(&recorder.client.segment->forked, 1, __ATOMIC_RELAXED);
}

int mew_recorder_enter_again(const struct mew_recorder_caller *caller, int is_allocation)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (t->inside == MEW_INSIDE_RECORDER) {
		if (is_allocation && mew_forkmark_ours(&mew_recorder_mark))
			mew_counters_lose(recorder.client.segment);
		return 0;
	}
	/* A call that was left by longjmp or an exception is over: this one is outside of it. */
	if (t->inside == MEW_INSIDE_REAL && caller->sp < t->outer_sp)
		return 0;
	if (!mew_forkmark_ours(&mew_recorder_mark)) {
		be_child(t);
		return 0;
	}
	t->outer_sp = caller->sp;
	t->inside = MEW_INSIDE_REAL;
	return 1;
}

static void leave(struct mew_recorder_thread *t)
{
	t->inside = 0;
}

/* Where the thread's errno is: to ask for it each time is a call of the C library. */
static inline int *error_of(struct mew_recorder_thread *t)
{
	if (!t->error)
		t->error = &errno;
	return t->error;
}

/* ---- events ---- */

/* A call in the window gave bytes at p; it may have taken old. */
static ALWAYS_INLINE void record(struct mew_recorder_thread *t,
				 const struct mew_recorder_caller *caller, uint32_t entry,
				 const struct mew_live_block *old, const void *p, size_t bytes)
{
	struct mew_walk_start start = {
		.pc = caller->pc, .sp = caller->sp, .fp = caller->fp, .pc_is_return = 1};
	uint32_t node, inside;

	mew_live_expect(&recorder.counters.live, (uint64_t)(uintptr_t)p);
	node = mew_stacks_leaf(&recorder.stacks, &t->stacks, &start, entry);
	inside = lock_block(t, p);

	if (is_in_window(t))
		mew_counters_resize(&recorder.counters, &t->counters, old, node,
				    (uint64_t)(uintptr_t)p, bytes);
	else
		mew_counters_untrack(&recorder.counters, old);
	unlock_block(t, p, inside);
	tell_own_bytes();
}

static void record_outside(struct mew_recorder_thread *t, const struct mew_live_block *old,
			   const void *p)
{
	uint32_t inside = lock_block(t, p);

	mew_counters_untrack(&recorder.counters, old);
	if (is_in_first(t))
		mew_lock_add(&recorder.client.segment->first_iteration_allocations, 1);
	unlock_block(t, p, inside);
}

/* p is the caller's, so that the real function only looks at it. */
static size_t usable_size(const void *p)
{
	return mew_pool_owns(p) ? mew_pool_size(p)
				: mew_real.malloc_usable_size((void *)(uintptr_t)p);
}

static ALWAYS_INLINE void came_back(struct mew_recorder_thread *t,
				    const struct mew_recorder_caller *caller, uint32_t entry,
				    const struct mew_live_block *old, const void *p, size_t bytes)
{
	t->inside = MEW_INSIDE_RECORDER;
	if (is_set(MEW_HEAP_USABLE))
		bytes = usable_size(p);
	if (is_in_window(t))
		record(t, caller, entry, old, p, bytes);
	else if (old || is_in_first(t))
		record_outside(t, old, p);
}

void mew_recorder_allocated(const struct mew_recorder_caller *caller, uint32_t entry, const void *p,
			    size_t bytes)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error;

	if (p)
		came_back(t, caller, entry, NULL, p, bytes);
	*error = saved;
	leave(t);
}

void mew_recorder_freeing(const void *p)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error;
	uint32_t inside;

	if (!p)
		return;
	inside = lock_block(t, p);
	mew_counters_free(&recorder.counters, &t->counters, (uint64_t)(uintptr_t)p,
			  is_in_window(t));
	unlock_block(t, p, inside);
	*error = saved;
}

int mew_recorder_resizing(const void *p, struct mew_live_block *ret_old)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error, is_tracked;
	uint32_t inside = lock_block(t, p);

	is_tracked = mew_counters_take(&recorder.counters, (uint64_t)(uintptr_t)p, ret_old);
	unlock_block(t, p, inside);
	*error = saved;
	return is_tracked;
}

/* A realloc gave nothing: it failed, or it freed what was asked to hold nothing. */
static void record_nothing(struct mew_recorder_thread *t, const struct mew_live_block *old,
			   size_t bytes)
{
	const void *p = (const void *)(uintptr_t)(old ? old->addr : 0);
	uint32_t inside = lock_block(t, p);

	if (!bytes)
		mew_counters_released(&recorder.counters, &t->counters, old, (uint64_t)(uintptr_t)p,
				      is_in_window(t));
	else if (old)
		mew_counters_restore(&recorder.counters, old);
	unlock_block(t, p, inside);
}

void mew_recorder_resized(const struct mew_recorder_caller *caller, uint32_t entry,
			  const struct mew_live_block *old, const void *q, size_t bytes)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error;

	if (q)
		came_back(t, caller, entry, old, q, bytes);
	else
		record_nothing(t, old, bytes);
	*error = saved;
	leave(t);
}

int mew_recorder_maps_begin(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	/* An allocator that maps is at work for a block; the recorder's own mappings are no one's.
	 */
	if (!is_set(MEW_HEAP_MMAP) || t->inside || !is_on())
		return 0;
	t->inside = MEW_INSIDE_RECORDER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mew_lock_acquire(&recorder.maps_lock);
	return 1;
}

void mew_recorder_mapped(const void *p, size_t bytes)
{
	int saved = errno;

	mew_mapped_map(&recorder.mapped, (uint64_t)(uintptr_t)p, bytes,
		       is_in_window(&mew_recorder_thread));
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

void mew_recorder_closing(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int saved = errno;

	if (!is_on() || t->inside)
		return;
	t->inside = MEW_INSIDE_RECORDER;
	mew_client_show(&recorder.client);
	leave(t);
	errno = saved;
}

void mew_recorder_closed(void)
{
	mew_stacks_unloaded(&recorder.stacks);
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
	recorder.stacks.root = (struct mew_walk_root){.lo = root_lo, .hi = root_hi};
	t->inside = MEW_INSIDE_RECORDER;
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
	inside = begin(t);
	lock_gate();
	if (phase != recorder.phase) {
		/* Each event of another thread is wholly before or wholly after this. */
		mew_live_lock(&recorder.counters.live);
		recorder.client.segment->shards[0].n_hooked += t->n_calls;
		t->n_calls = 0;
		if (recorder.phase == MEW_GATE_WINDOW)
			mew_counters_close(&recorder.counters);
		if (phase == MEW_GATE_WINDOW)
			mew_counters_open(&recorder.counters);
		/* A pause belongs to the loop in which it began. */
		if (phase != MEW_GATE_OUTSIDE) {
			__atomic_store_n(&recorder.serial, recorder.serial + 1, __ATOMIC_RELAXED);
			__atomic_store_n(&recorder.whole_paused, 0, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&recorder.phase, phase, __ATOMIC_RELAXED);
		set_open();
		mew_live_unlock(&recorder.counters.live);
	}
	unlock_gate();
	tell_own_bytes();
	end(t, inside);
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
	/* An event that another thread has in hand is before it or after it: it looks once. */
	inside = begin(t);
	lock_gate();
	__atomic_store_n(&recorder.whole_paused, on != 0, __ATOMIC_RELAXED);
	set_open();
	unlock_gate();
	end(t, inside);
}

static void gate_join(void)
{
	mew_recorder_thread.stacks.is_loops = 1;
}

static void gate_iteration(void)
{
	if (is_on() && __atomic_load_n(&recorder.phase, __ATOMIC_RELAXED) == MEW_GATE_WINDOW)
		mew_counters_iterate(&recorder.counters);
}

static uint64_t gate_n_hooked(void)
{
	uint64_t n = mew_recorder_thread.n_calls;

	return is_on() ? n + mew_segment_n_hooked(recorder.client.segment) : n;
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

void mew_recorder_forked(void)
{
	if (is_on() && is_in_window(&mew_recorder_thread))
		__atomic_fetch_add(&recorder.client.segment->forked, 1, __ATOMIC_RELAXED);
}

void mew_recorder_leaving(int is_leaving)
{
	/* The child of vfork() shares our memory. */
	if (is_on() && getpid() == recorder.client.pid)
		__atomic_store_n(&recorder.client.segment->leaving, (uint32_t)is_leaving,
				 __ATOMIC_RELAXED);
}

void mew_recorder_is_child(void)
{
	__atomic_store_n(&mew_recorder_mode, 0, __ATOMIC_RELAXED);
}

static int start(const char *path)
{
	struct mew_segment *segment;
	int rc = mew_forkmark_open(&mew_recorder_mark);

	if (!rc)
		rc = mew_client_connect(&recorder.client, path);
	if (rc)
		return rc;
	segment = recorder.client.segment;
	mew_pages_init(&recorder.pages);
	rc = mew_tree_init(&recorder.tree, segment, recorder.client.segment_bytes, &recorder.pages);
	if (rc)
		return rc;
	mew_counters_init(&recorder.counters, segment, &recorder.pages);
	mew_pages_init(&recorder.maps_pages);
	if (is_set(MEW_HEAP_MMAP))
		rc = mew_mapped_init(&recorder.mapped, &segment->mapped, &recorder.maps_pages,
				     (uint64_t)getauxval(AT_PAGESZ));
	if (rc)
		return rc;
	rc = mew_stacks_init(&recorder.stacks, &recorder.client, &recorder.tree, &recorder.pages);
	if (rc)
		return rc;
	rc = -pthread_atfork(NULL, mew_recorder_forked, mew_recorder_is_child);
	if (rc)
		return rc;
	segment->new_goes_by = mew_real_new_is_own() ? MEW_NEW_UNKNOWN : MEW_NEW_HOOKED;
	__atomic_store_n(&segment->magic, MEW_SEGMENT_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

/*
 * The library is linked with -z initfirst: what the constructors of others allocate is the
 * program's. The C library's own comes later too, so that getenv() finds nothing yet; but glibc
 * hands constructors what main() gets.
 */
static const char *socket_path(char **environment)
{
	size_t n = strlen(MEW_SOCKET_ENV);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, MEW_SOCKET_ENV, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

static __attribute__((constructor)) void construct(int argc, char **argv, char **environment)
{
	const char *path = socket_path(environment);
	int saved = errno;

	(void)argc;
	(void)argv;
	mew_real_find();
	mew_mmap_find();
	mew_child_find();
	mew_exec_find();
	if (path && *path)
		recorder.status = start(path);
	if (is_on() && recorder.client.is_whole) {
		gate_join();
		gate_phase(MEW_GATE_WINDOW);
	}
	errno = saved;
}

/* Comes after those of all others. What was loaded and asked for nothing is seen now or never. */
static __attribute__((destructor)) void destruct(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (!is_on() || !recorder.client.is_whole || t->inside)
		return;
	t->inside = MEW_INSIDE_RECORDER;
	mew_client_refresh(&recorder.client, 0);
	leave(t);
}
