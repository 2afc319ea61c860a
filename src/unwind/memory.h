/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: reading the stack that a walk is given, and nothing else. Inlined into the walk: no
 * call, no lock.
 */
#ifndef MEW_UNWIND_MEMORY_H
#define MEW_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/walk.h"

/* At any alignment; the compiler must not make a call of it. */
typedef uint64_t __attribute__((aligned(1), may_alias)) mew_word;

static inline bool mew_stack_has(const struct mew_walk_stack *s, uint64_t at, uint64_t bytes)
{
	return at >= s->lo && s->hi >= bytes && at <= s->hi - bytes;
}

/* What is to be added to an address of the stack to read there. */
static inline uintptr_t mew_stack_shift(const struct mew_walk_stack *s)
{
	return s->bytes ? (uintptr_t)s->bytes - s->lo : 0;
}

/* The word at `at`, which the caller knows to be in the stack. */
__attribute__((no_sanitize_address)) static inline uint64_t mew_stack_known_word(uintptr_t shift,
										 uint64_t at)
{
	return *(const mew_word *)(shift + at);
}

/* A live stack holds red zones that only this function may look into. */
__attribute__((no_sanitize_address)) static inline bool
mew_stack_word(const struct mew_walk_stack *s, uint64_t at, uint64_t *ret)
{
	if (!mew_stack_has(s, at, sizeof(mew_word)))
		return false;
	*ret = s->bytes ? *(const mew_word *)(s->bytes + (at - s->lo))
			: *(const mew_word *)(uintptr_t)at;
	return true;
}

#endif
