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
