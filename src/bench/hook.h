/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h: finds the heap hook in this process and makes sure that it sees the program. */
#ifndef MEW_BENCH_HOOK_H
#define MEW_BENCH_HOOK_H

#include "bench/run.h"

/*
 * In a first turn: run->gate is the hook's, prepared. False: there is none that sees this program's
 * allocations; the run has failed with the reason.
 */
bool mew_hook_open(struct mew_run *run);

#endif
