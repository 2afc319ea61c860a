/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.h: the functions that the hook stands in for, found by dlsym(RTLD_NEXT), and a small pool
 * for the calls that come before they are found, or while they are looked for: dlsym allocates
 * itself. Knows nothing of what is recorded.
 */
#ifndef MEW_HEAP_REAL_H
#define MEW_HEAP_REAL_H

#include <stddef.h>
#include <stdint.h>

#include "channel/entry.h"

#define MEW_POOL_BYTES (256u << 10)

/* Callable at any time: until the real ones are found they stand for themselves. */
struct mew_real {
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	returns(*name) parameters;
#include "channel/hooks.def"
#undef MEW_HOOK
};

extern struct mew_real mew_real __attribute__((visibility("hidden")));
extern char mew_pool[MEW_POOL_BYTES] __attribute__((visibility("hidden")));

/* And one that is no entry point of the heap: what it unloads takes its unwind table with it. */
extern int (*mew_real_dlclose)(void *handle) __attribute__((visibility("hidden")));

/* 1: the real function does nothing but call another entry point, which records it: operator new
 * and delete of libstdc++ and libc++. By enum mew_entry. */
extern uint8_t mew_real_passes[MEW_N_ENTRIES] __attribute__((visibility("hidden")));

/* 1: the program's own file defines operator new, so that its calls do not come here. */
int mew_real_new_is_own(void) __attribute__((visibility("hidden")));

/* Calls it once, and its delete: does malloc come by? */
void mew_real_try_new(void) __attribute__((visibility("hidden")));

/* Find them now. Called by the first entry point, and by the constructor before there are threads.
 */
void mew_real_find(void);

/* Puts a function of that name, the next one after the hook's, into *ret_function, a pointer to a
 * function; it stays what it is where there is none. */
void mew_real_symbol(const char *name, void *ret_function);

/* Whether a block is the pool's. It is never really freed. */
static inline int mew_pool_owns(const void *p)
{
	return (uintptr_t)p - (uintptr_t)mew_pool < MEW_POOL_BYTES;
}

/* Zeroed; NULL and ENOMEM when the pool is used up. */
void *mew_pool_allocate(size_t bytes, size_t alignment);
/* p is the pool's: moved to a real block, if there is a real realloc by now, else within the pool.
 */
void *mew_pool_resize(void *p, size_t bytes);
/* p is the pool's: what was asked for. */
size_t mew_pool_size(const void *p);

#endif
