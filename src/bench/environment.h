/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h: what mew-perf put into the environment of a benchmark, taken out again, so that
 * the programs it starts are not taken for the benchmark.
 */
#ifndef MEW_BENCH_ENVIRONMENT_H
#define MEW_BENCH_ENVIRONMENT_H

#define MEW_HEAP_LIBRARY "libmew-heap.so"

/*
 * The path of mew-perf's socket, malloc'ed, the caller's, and the variable and our entry in
 * LD_PRELOAD are gone. NULL: the variable is not set (and nothing is changed), or no memory.
 */
char *mew_environment_take(void);

/* Takes every entry of a preload list whose base name is name out of it, in place. */
void mew_preload_remove(char *list, const char *name);

#endif
