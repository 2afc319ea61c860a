/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h: the heap's entry points (hooks.def) by index and name, and which other functions belong
 * to the allocator or only wrap it (roles.def). Names alone: knows neither addresses nor modules.
 */
#ifndef MEW_CHANNEL_ENTRY_H
#define MEW_CHANNEL_ENTRY_H

#include <stddef.h>
#include <stdint.h>

enum mew_entry {
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment) MEW_ENTRY_##name,
#include "channel/hooks.def"
#undef MEW_HOOK
	MEW_N_ENTRIES
};

enum mew_entry_role {
	MEW_ENTRY_ROLE_NONE = 0,  /* a function as others */
	MEW_ENTRY_ROLE_ALLOCATOR, /* an entry point, or inside the allocator */
	MEW_ENTRY_ROLE_WRAPPER,   /* allocates on behalf of its caller */
};

/* The entry point's name, "?" for an index that is none (it comes from another process). Static. */
const char *mew_entry_name(uint32_t index);

/* Whether it is asked for an alignment, so that much may lie between its blocks. */
int mew_entry_is_aligned(uint32_t index);

/* The role of a function by its demangled name, with or without arguments; NULL has none. */
enum mew_entry_role mew_entry_role(const char *name);

/* n * size, SIZE_MAX when that overflows: such a call fails and moves nothing. */
static inline size_t mew_entry_times(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes;
}

#endif
