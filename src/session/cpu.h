/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h: the CPU engine's whole-program side, and the space for tables that both sides use. */
#ifndef MEW_SESSION_CPU_H
#define MEW_SESSION_CPU_H

#include "kernel/event.h"
#include "session/engine.h"
#include "session/memory.h"
#include "unwind/modules.h"

/* Unwind tables of one process in memory of our own. NULL: error; else *ret_space is to be freed
 * after the modules. */
struct mew_modules *mew_table_space_open(struct mew_memory *ret_space, struct mew_error *error);

/* The engine's own: the event, and what all cases together say in the line before the table. */
struct mew_cpu_engine {
	struct mew_event event;
	double interval_min_s, interval_max_s; /* 0: no case yet */
	double tick_cost_s;  /* measured on ourselves; 0: not measured, or too small */
	double start_s;      /* interval that this cost asks for; 0: it is given */
	double pause_cost_s; /* highest; 0: no case pauses */
};

/* Remember what c shows. */
void mew_cpu_remember(struct mew_cpu_engine *e, const struct mew_pcase *c);

/* The line before the table: the event, its intervals, what a tick and a pause cost. */
void mew_cpu_describe(struct mew_run *r);

/* Run a program that knows nothing of us as one case, its threads and children sampled from exec to
 * exit. */
int mew_cpu_run_whole(struct mew_run *r, struct mew_cpu_engine *e, struct mew_pcase *c,
		      struct mew_outcome *ret, struct mew_error *error);

#endif
