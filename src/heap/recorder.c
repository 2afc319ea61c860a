/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "heap/charge.h"
#include "heap/child.h"
#include "heap/exec.h"
#include "heap/mmap.h"
#include "heap/real.h"
#include "heap/tracker.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

struct mew_tracker mew_tracker = {.status = -ENOTCONN};
struct mew_forkmark mew_recorder_mark;
uint32_t mew_recorder_mode;
__thread struct mew_recorder_thread mew_recorder_thread;

static ALWAYS_INLINE struct mew_live_shard *shard_of(const void *p)
{
	return mew_live_at(&mew_tracker.counters.live, (uint64_t)(uintptr_t)p);
}

static ALWAYS_INLINE uint32_t lock_shard(struct mew_recorder_thread *t, struct mew_live_shard *at)
{
	uint32_t inside = mew_tracker_begin(t);

	mew_counters_enter(&mew_tracker.counters, at, t->n_calls);
	t->n_calls = 0;
	return inside;
}

/* The last block may have gone, or a realloc have brought it back. */
static __attribute__((noinline)) void set_mode_late(void)
{
	mew_tracker_lock_gate();
	mew_tracker_unlock_gate();
}

static ALWAYS_INLINE void unlock_shard(struct mew_recorder_thread *t, struct mew_live_shard *at,
				       uint32_t inside)
{
	int is_late = mew_tracker.phase != MEW_GATE_WINDOW && at->n <= 1;

	mew_counters_leave(at);
	if (is_late)
		set_mode_late();
	mew_tracker_end(t, inside);
}

/* In a forked child, which records nothing. One that was made by a bare system call, so that the
 * parent has not counted it, does so itself. */
static void be_child(const struct mew_recorder_thread *t)
{
	uint32_t mode = __atomic_exchange_n(&mew_recorder_mode, 0, __ATOMIC_RELAXED);

	if (mode && mew_tracker_in_window(t))
		__atomic_fetch_add(&mew_tracker.client.segment->forked, 1, __ATOMIC_RELAXED);
}

int mew_recorder_enter_again(uint64_t sp, int is_allocation)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (t->inside == MEW_INSIDE_RECORDER) {
		if (is_allocation && mew_forkmark_ours(&mew_recorder_mark))
			mew_counters_lose(mew_tracker.client.segment);
		return 0;
	}
	/* A call that was left by longjmp or an exception is over: this one is outside of it. */
	if (t->inside == MEW_INSIDE_REAL && sp < t->outer_sp)
		return 0;
	if (!mew_forkmark_ours(&mew_recorder_mark)) {
		be_child(t);
		return 0;
	}
	t->outer_sp = sp;
	t->inside = MEW_INSIDE_REAL;
	return 1;
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
				 const struct mew_stacks_caller *caller, uint32_t entry,
				 const struct mew_live_block *old, const void *p, size_t bytes)
{
	struct mew_live_shard *at = shard_of(p);
	uint32_t node, inside;

	mew_live_expect(at, (uint64_t)(uintptr_t)p);
	node = mew_stacks_leaf(&mew_tracker.stacks, &t->stacks, caller, entry);
	inside = lock_shard(t, at);

	if (mew_tracker_in_window(t))
		mew_counters_resize(&mew_tracker.counters, &t->counters, at, old, node,
				    (uint64_t)(uintptr_t)p, bytes);
	else
		mew_counters_untrack(&mew_tracker.counters, old);
	unlock_shard(t, at, inside);
}

static void record_outside(struct mew_recorder_thread *t, const struct mew_live_block *old,
			   const void *p)
{
	struct mew_live_shard *at = shard_of(p);
	uint32_t inside = lock_shard(t, at);

	mew_counters_untrack(&mew_tracker.counters, old);
	if (mew_tracker_in_first(t))
		mew_lock_add(&mew_tracker.client.segment->first_iteration_allocations, 1);
	unlock_shard(t, at, inside);
}

/* p is the caller's, so that the real function only looks at it. */
static size_t usable_size(const void *p)
{
	return mew_pool_owns(p) ? mew_pool_size(p)
				: mew_real.malloc_usable_size((void *)(uintptr_t)p);
}

static ALWAYS_INLINE void came_back(struct mew_recorder_thread *t,
				    const struct mew_stacks_caller *caller, uint32_t entry,
				    const struct mew_live_block *old, const void *p, size_t bytes)
{
	t->inside = MEW_INSIDE_RECORDER;
	if (mew_tracker_is_set(MEW_HEAP_USABLE))
		bytes = usable_size(p);
	if (mew_tracker_in_window(t))
		record(t, caller, entry, old, p, bytes);
	else if (old || mew_tracker_in_first(t))
		record_outside(t, old, p);
}

void mew_recorder_allocated(const struct mew_stacks_caller *caller, uint32_t entry, const void *p,
			    size_t bytes)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error;

	if (p)
		came_back(t, caller, entry, NULL, p, bytes);
	*error = saved;
	mew_tracker_leave(t);
}

void mew_recorder_freeing(const void *p)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error;
	struct mew_live_shard *at = shard_of(p);
	uint32_t inside;

	if (!p)
		return;
	inside = lock_shard(t, at);
	if (!mew_counters_free(&mew_tracker.counters, &t->counters, at, (uint64_t)(uintptr_t)p) &&
	    mew_tracker_in_window(t))
		mew_counters_foreign(&mew_tracker.counters, at);
	unlock_shard(t, at, inside);
	*error = saved;
}

int mew_recorder_resizing(const void *p, struct mew_live_block *ret_old)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error, is_tracked;
	struct mew_live_shard *at = shard_of(p);
	uint32_t inside = lock_shard(t, at);

	is_tracked = mew_counters_take(&mew_tracker.counters, (uint64_t)(uintptr_t)p, ret_old);
	unlock_shard(t, at, inside);
	*error = saved;
	return is_tracked;
}

/* A realloc gave nothing: it failed, or it freed what was asked to hold nothing. */
static void record_nothing(struct mew_recorder_thread *t, const struct mew_live_block *old,
			   size_t bytes)
{
	const void *p = (const void *)(uintptr_t)(old ? old->addr : 0);
	struct mew_live_shard *at = shard_of(p);
	uint32_t inside = lock_shard(t, at);

	if (old && bytes)
		mew_counters_restore(&mew_tracker.counters, old);
	else if (old)
		mew_counters_released(&mew_tracker.counters, &t->counters, old);
	else if (!bytes && mew_tracker_in_window(t))
		mew_counters_foreign(&mew_tracker.counters, at);
	unlock_shard(t, at, inside);
}

void mew_recorder_resized(const struct mew_stacks_caller *caller, uint32_t entry,
			  const struct mew_live_block *old, const void *q, size_t bytes)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int *error = error_of(t), saved = *error;

	if (q)
		came_back(t, caller, entry, old, q, bytes);
	else
		record_nothing(t, old, bytes);
	*error = saved;
	mew_tracker_leave(t);
}

int mew_recorder_maps_begin(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	/* An allocator that maps is at work for a block; the recorder's own mappings are no one's.
	 */
	if (!mew_tracker_is_set(MEW_HEAP_MMAP) || t->inside || !mew_tracker_is_on())
		return 0;
	t->inside = MEW_INSIDE_RECORDER;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mew_lock_acquire(&mew_tracker.maps_lock);
	return 1;
}

void mew_recorder_mapped(const void *p, size_t bytes)
{
	int saved = errno;

	mew_mapped_map(&mew_tracker.mapped, (uint64_t)(uintptr_t)p, bytes,
		       mew_tracker_in_window(&mew_recorder_thread));
	errno = saved;
}

void mew_recorder_unmapped(const void *p, size_t bytes)
{
	int saved = errno;

	mew_mapped_unmap(&mew_tracker.mapped, (uint64_t)(uintptr_t)p, bytes);
	errno = saved;
}

void mew_recorder_maps_end(void)
{
	int saved = errno;

	mew_lock_release(&mew_tracker.maps_lock);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mew_tracker_leave(&mew_recorder_thread);
	errno = saved;
}

void mew_recorder_closing(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	int saved = errno;

	if (!mew_tracker_is_on() || t->inside)
		return;
	t->inside = MEW_INSIDE_RECORDER;
	mew_client_show(&mew_tracker.client);
	mew_tracker_leave(t);
	errno = saved;
}

void mew_recorder_closed(void)
{
	mew_stacks_unloaded(&mew_tracker.stacks);
}

/* ---- start ---- */

void mew_recorder_forked(void)
{
	if (mew_tracker_is_on() && mew_tracker_in_window(&mew_recorder_thread))
		__atomic_fetch_add(&mew_tracker.client.segment->forked, 1, __ATOMIC_RELAXED);
}

void mew_recorder_leaving(int is_leaving)
{
	/* The child of vfork() shares our memory. */
	if (mew_tracker_is_on() && getpid() == mew_tracker.client.pid)
		__atomic_store_n(&mew_tracker.client.segment->leaving, (uint32_t)is_leaving,
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
		rc = mew_client_connect(&mew_tracker.client, path);
	if (rc)
		return rc;
	segment = mew_tracker.client.segment;
	mew_pages_init(&mew_tracker.pages, &segment->own_bytes);
	rc = mew_tree_init(&mew_tracker.tree, segment, mew_tracker.client.segment_bytes,
			   &mew_tracker.pages);
	if (rc)
		return rc;
	mew_counters_init(&mew_tracker.counters, segment, &mew_tracker.pages);
	mew_pages_init(&mew_tracker.maps_pages, &segment->own_bytes);
	if (mew_tracker_is_set(MEW_HEAP_MMAP))
		rc = mew_mapped_init(&mew_tracker.mapped, &segment->mapped, &mew_tracker.maps_pages,
				     (uint64_t)getauxval(AT_PAGESZ));
	if (rc)
		return rc;
	rc = mew_stacks_init(&mew_tracker.stacks, &mew_tracker.client, &mew_tracker.tree,
			     &mew_tracker.pages);
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
		mew_tracker.status = start(path);
	if (mew_tracker_is_on() && mew_tracker.client.is_whole) {
		mew_tracker_open_whole();
	}
	errno = saved;
}

/* Comes after those of all others. What was loaded and asked for nothing is seen now or never. */
static __attribute__((destructor)) void destruct(void)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (!mew_tracker_is_on() || !mew_tracker.client.is_whole || t->inside)
		return;
	t->inside = MEW_INSIDE_RECORDER;
	mew_client_refresh(&mew_tracker.client, 0);
	mew_tracker_leave(t);
}
