/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.h: the one function that calls an entry. It lies alone in its section, so that a return
 * address in [mew_root_lo, mew_root_hi) tells an unwinder that the stack has reached the case.
 */
#ifndef MEW_BENCH_ROOT_H
#define MEW_BENCH_ROOT_H

#include <stdint.h>
#include <mew/mew.h>

void mew_root_call(mew_bench_fn run, struct mew_state *state);
uintptr_t mew_root_lo(void);
uintptr_t mew_root_hi(void);

#endif
