/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c: how libmew, or the start of a whole program, switches the recorder (channel/gate.h). */
#include "config.h"

#include "channel/gate.h"

#include "heap/real.h"
#include "heap/tracker.h"

/* What is to be recorded from now on. The caller holds the gate. */
static void set_mode(void)
{
	int is_open = mew_tracker.phase != MEW_GATE_OUTSIDE && !mew_tracker.whole_paused;
	uint32_t mode = 0;

	if (is_open)
		mode |= MEW_RECORDER_CALLS;
	if (mew_tracker.phase == MEW_GATE_WINDOW || mew_live_any(&mew_tracker.counters.live))
		mode |= MEW_RECORDER_FREES;
	__atomic_store_n(&mew_recorder_mode, mode, __ATOMIC_RELAXED);
}

/* After phase, serial or whole_paused has changed. */
static void set_open(void)
{
	int is_open = mew_tracker.phase == MEW_GATE_WINDOW && !mew_tracker.whole_paused;

	__atomic_store_n(&mew_tracker.open, is_open ? mew_tracker.serial : 0, __ATOMIC_RELAXED);
}

void mew_tracker_unlock_gate(void)
{
	set_mode();
	mew_lock_release(&mew_tracker.gate);
}

static int32_t gate_status(void)
{
	return mew_tracker.status;
}

/* The program is up, so its own operator new may be tried. */
static void try_new(struct mew_recorder_thread *t)
{
	struct mew_segment *segment = mew_tracker.client.segment;
	uint64_t before = t->n_calls;

	if (segment->new_goes_by != MEW_NEW_UNKNOWN)
		return;
	mew_real_try_new();
	segment->new_goes_by = t->n_calls != before ? MEW_NEW_HOOKED : MEW_NEW_GOES_BY;
}

static void gate_prepare(uintptr_t root_lo, uintptr_t root_hi)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;

	if (!mew_tracker_is_on())
		return;
	mew_tracker.stacks.root = (struct mew_walk_root){.lo = root_lo, .hi = root_hi};
	t->inside = MEW_INSIDE_RECORDER;
	mew_client_refresh(&mew_tracker.client, root_lo);
	mew_tracker_leave(t);
	try_new(t);
}

static void gate_phase(enum mew_gate_phase phase)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	uint32_t inside;

	if (!mew_tracker_is_on())
		return;
	if (mew_tracker.phase == MEW_GATE_WINDOW && mew_recorder_maps_begin()) {
		mew_mapped_close(&mew_tracker.mapped);
		mew_recorder_maps_end();
	}
	inside = mew_tracker_begin(t);
	mew_tracker_lock_gate();
	if (phase != mew_tracker.phase) {
		/* Each event of another thread is wholly before or wholly after this. */
		mew_live_lock(&mew_tracker.counters.live);
		mew_tracker.client.segment->shards[0].n_hooked += t->n_calls;
		t->n_calls = 0;
		if (mew_tracker.phase == MEW_GATE_WINDOW)
			mew_counters_close(&mew_tracker.counters);
		if (phase == MEW_GATE_WINDOW)
			mew_counters_open(&mew_tracker.counters);
		/* A pause belongs to the loop in which it began. */
		if (phase != MEW_GATE_OUTSIDE) {
			__atomic_store_n(&mew_tracker.serial, mew_tracker.serial + 1,
					 __ATOMIC_RELAXED);
			__atomic_store_n(&mew_tracker.whole_paused, 0, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&mew_tracker.phase, phase, __ATOMIC_RELAXED);
		set_open();
		mew_live_unlock(&mew_tracker.counters.live);
	}
	mew_tracker_unlock_gate();
	mew_tracker_end(t, inside);
}

static void gate_pause(int on, int whole)
{
	struct mew_recorder_thread *t = &mew_recorder_thread;
	uint32_t inside;

	if (!mew_tracker_is_on() || mew_tracker_is_set(MEW_HEAP_PAUSED))
		return;
	if (!whole) {
		t->paused = on ? mew_tracker.serial : 0;
		return;
	}
	/* An event that another thread has in hand is before it or after it: it looks once. */
	inside = mew_tracker_begin(t);
	mew_tracker_lock_gate();
	__atomic_store_n(&mew_tracker.whole_paused, on != 0, __ATOMIC_RELAXED);
	set_open();
	mew_tracker_unlock_gate();
	mew_tracker_end(t, inside);
}

static void gate_join(void)
{
	mew_recorder_thread.stacks.is_loops = 1;
}

static void gate_iteration(void)
{
	if (mew_tracker_is_on() &&
	    __atomic_load_n(&mew_tracker.phase, __ATOMIC_RELAXED) == MEW_GATE_WINDOW)
		mew_counters_iterate(&mew_tracker.counters);
}

static uint64_t gate_n_hooked(void)
{
	uint64_t n = mew_recorder_thread.n_calls;

	return mew_tracker_is_on() ? n + mew_segment_n_hooked(mew_tracker.client.segment) : n;
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

void mew_tracker_open_whole(void)
{
	gate_join();
	gate_phase(MEW_GATE_WINDOW);
}
