/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step of MEW_LOOP costs beside one of a plain for. An iteration of the for_ cases is
 * FOR_STEPS steps, a number that the compiler does not know, as it does not know MEW_LOOP's.
 */
#include <mew/mew.h>

#define FOR_STEPS 1000

__attribute__((noinline)) static void callee(void)
{
	MEW_CLOBBER();
}

MEW_BENCHMARK(for_empty, state)
{
	unsigned n = FOR_STEPS;

	MEW_HIDE(n);
	MEW_LOOP(state) {
		for (unsigned i = 0; i < n; i++)
			__asm__ volatile("");
	}
}

MEW_BENCHMARK(loop_empty, state)
{
	MEW_LOOP(state) {
		__asm__ volatile("");
	}
}

MEW_BENCHMARK(for_call, state)
{
	unsigned n = FOR_STEPS;

	MEW_HIDE(n);
	MEW_LOOP(state) {
		for (unsigned i = 0; i < n; i++)
			callee();
	}
}

MEW_BENCHMARK(loop_call, state)
{
	MEW_LOOP(state) {
		callee();
	}
}

MEW_MAIN();
