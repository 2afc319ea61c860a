/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/root.h"

/* Made by the linker, for a section whose name is a C identifier. */
extern const char __start_mew_root[] __attribute__((visibility("hidden")));
extern const char __stop_mew_root[] __attribute__((visibility("hidden")));

/* What follows the call keeps it from becoming a jump: this frame must be on the stack. */
__attribute__((noinline, section("mew_root"))) void mew_root_call(mew_bench_fn run,
								  struct mew_state *state)
{
	run(state);
	__asm__ volatile("" : : : "memory");
}

uintptr_t mew_root_lo(void)
{
	return (uintptr_t)__start_mew_root;
}

uintptr_t mew_root_hi(void)
{
	return (uintptr_t)__stop_mew_root;
}
