/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that fail on demand, in a test linked with $(FAILING_ALLOC_FLAGS): the linker sends
 * the malloc, calloc and realloc of every object of the program here. Those inside shared libraries
 * (strdup, vasprintf, cmocka) are not reached. Include it in one source of the program.
 *
 *	for (n = 0; failing_alloc_more(n); n++) {	n allocations succeed, all later ones fail
 *		rc = what_allocates();
 *		failing_alloc_off();
 *		... rc is -ENOMEM if failing_alloc_hit(), else 0 ...
 *	}
 */
#ifndef MEW_TESTS_FAILING_ALLOC_H
#define MEW_TESTS_FAILING_ALLOC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

static long failing_alloc_left = LONG_MAX;
static bool failing_alloc_was_hit;

static inline void failing_alloc_after(long n)
{
	failing_alloc_left = n;
	failing_alloc_was_hit = false;
}

static inline void failing_alloc_off(void)
{
	failing_alloc_left = LONG_MAX;
}

/* Whether an allocation was refused since failing_alloc_after(). */
static inline bool failing_alloc_hit(void)
{
	return failing_alloc_was_hit;
}

/* Arms round n of a loop; false once round n - 1 refused nothing. */
static inline bool failing_alloc_more(long n)
{
	bool more = n == 0 || failing_alloc_was_hit;

	failing_alloc_off();
	if (more)
		failing_alloc_after(n);
	return more;
}

static inline bool failing_alloc_refuse(void)
{
	if (failing_alloc_left == LONG_MAX)
		return false;
	if (failing_alloc_left > 0) {
		failing_alloc_left--;
		return false;
	}
	failing_alloc_was_hit = true;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	return failing_alloc_refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return failing_alloc_refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return failing_alloc_refuse() ? NULL : __real_realloc(old, size);
}

#endif
