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

/* Run a program that knows nothing of us as one case, its threads and children sampled from exec to
 * exit. */
int mew_cpu_run_whole(struct mew_run *r, const struct mew_event *event, struct mew_pcase *c,
		      struct mew_outcome *ret, struct mew_error *error);

#endif
