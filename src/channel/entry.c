/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "channel/entry.h"

static const char *const entry_names[] = {
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment) #name,
#include "channel/hooks.def"
#undef MEW_HOOK
};

/* What has one of its own says so by a constant, or by its parameter. */
#define DEFAULT_ALIGNMENT 16

enum { alignment = DEFAULT_ALIGNMENT + 1 };

static const uint8_t are_aligned[] = {
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, aligned)                       \
	(aligned) > DEFAULT_ALIGNMENT,
#include "channel/hooks.def"
#undef MEW_HOOK
};

struct name {
	const char *text;
	uint8_t role;
	uint8_t is_prefix;
};

static const struct name names[] = {
#define MEW_ALLOCATOR(name) {#name, MEW_ENTRY_ROLE_ALLOCATOR, 0},
#define MEW_WRAPPER(name) {#name, MEW_ENTRY_ROLE_WRAPPER, 0},
#define MEW_WRAPPER_PREFIX(text) {text, MEW_ENTRY_ROLE_WRAPPER, 1},
#include "channel/roles.def"
#undef MEW_ALLOCATOR
#undef MEW_WRAPPER
#undef MEW_WRAPPER_PREFIX
};

const char *mew_entry_name(uint32_t index)
{
	return index < MEW_N_ENTRIES ? entry_names[index] : "?";
}

int mew_entry_is_aligned(uint32_t index)
{
	return index < MEW_N_ENTRIES && are_aligned[index];
}

enum mew_entry_role mew_entry_role(const char *name)
{
	size_t length;

	if (!name)
		return MEW_ENTRY_ROLE_NONE;
	/* Arguments, a version and a clone's suffix are no part of a C name. */
	length = strcspn(name, "(@.");
	for (uint32_t i = 0; i < MEW_N_ENTRIES; i++)
		if (strlen(entry_names[i]) == length && !memcmp(entry_names[i], name, length))
			return MEW_ENTRY_ROLE_ALLOCATOR;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct name *n = &names[i];
		size_t want = strlen(n->text);

		if (n->is_prefix ? !strncmp(name, n->text, want)
				 : want == length && !memcmp(name, n->text, want))
			return (enum mew_entry_role)n->role;
	}
	return MEW_ENTRY_ROLE_NONE;
}
