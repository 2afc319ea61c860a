/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h: how libmew opens and closes the heap hook's window, in one process. The hook exports one
 * symbol of this type, which libmew looks up by dlsym(RTLD_DEFAULT, MEW_GATE_SYMBOL); NULL: no hook
 * is loaded. Functions take no lock that malloc holds.
 */
#ifndef MEW_CHANNEL_GATE_H
#define MEW_CHANNEL_GATE_H

#include <stdint.h>

#define MEW_GATE_SYMBOL "mew_heap_gate"
#define MEW_GATE_VERSION 2

enum mew_gate_phase {
	MEW_GATE_OUTSIDE = 0, /* set-up, rest of the warm-up, tear-down: new blocks are foreign */
	MEW_GATE_FIRST = 1,   /* the very first iteration: calls are counted in
				 first_iteration_allocations, blocks are foreign */
	MEW_GATE_WINDOW = 2,  /* the measured loop */
};

struct mew_gate {
	uint32_t version;
	/* 0: it records. -errno: it does not (mew-perf refused, or the socket failed). */
	int32_t (*status)(void);
	/* Before the loop, from the thread that runs it: the root range of stacks (see struct
	 * mew_msg_maps). Fetches the tables. */
	void (*prepare)(uintptr_t root_lo, uintptr_t root_hi);
	/* Process-wide. WINDOW -> OUTSIDE may be followed by WINDOW again (further rounds add up);
	 * held_ is taken anew at each close. */
	void (*phase)(enum mew_gate_phase phase);
	/* The calling thread's pause (on 1) and resume (on 0), outermost pair only. whole: one
	 * thread is in the loop, so the pause is for the whole process. */
	void (*pause)(int on, int whole);
	/* The calling thread is one of the loop's, from its first iteration on. */
	void (*join)(void);
	/* An iteration of the loop's first thread has ended, by this thread. */
	void (*iteration)(void);
	/* Calls of malloc that the hook has seen: libmew makes one and looks whether this moved. */
	uint64_t (*n_hooked)(void);
};

#endif
