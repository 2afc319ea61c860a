/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roles.h: which functions answer for what they do, by name and module (channel/entry.h), and who
 * answers for a stack.
 */
#ifndef MEW_PROFILE_ROLES_H
#define MEW_PROFILE_ROLES_H

#include "profile/profile.h"

#define MEW_NO_FUNCTION UINT32_MAX

/*
 * name is demangled, module a path or "". A member function `pool::free(void*)` is no allocator,
 * and of a template its name counts, not the type that it returns.
 */
enum mew_function_role mew_function_role(const char *name, const char *module);

/* Where the qualified name begins: after the return type that templates have. */
const char *mew_function_qualified(const char *name);

struct mew_blame {
	uint32_t function; /* innermost plain one that is outside of every allocator's frame;
			      MEW_NO_FUNCTION: none */
	uint32_t outside;  /* node: from it to the root nothing is the allocator's. 0: nothing is
			      left */
	int taxed;         /* 1: the leaf is at or inside an allocator's frame */
};

struct mew_blame mew_stack_blame(const struct mew_session *s, uint32_t stack);

#endif
