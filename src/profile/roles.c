/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "channel/entry.h"
#include "profile/roles.h"

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* libc.so.6, libc-2.31.so, ld-musl-x86_64.so.1, libjemalloc.so.2, libtcmalloc.so.4 */
static bool has_allocator(const char *module)
{
	const char *base = mew_base_name(module);

	return begins(base, "libc.") || begins(base, "libc-") || begins(base, "ld-musl") ||
	       strstr(base, "malloc");
}

/*
 * Walks over the demangled text up to its parameters. A blank outside of brackets parts a return
 * type from the name, except behind `operator`, where the rest belongs to the name.
 */
const char *mew_function_qualified(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *start = name, *at;
	int depth = 0;

	for (at = name; *at; at++) {
		bool word = at == name || !is_name_char(at[-1]);

		if (!depth && word && begins(at, "operator") && !is_name_char(at[8]))
			break;
		if (begins(at, anonymous)) {
			at += sizeof(anonymous) - 2;
		} else if (*at == '(' && !depth && at - name >= 8 && begins(at - 8, "decltype")) {
			depth++;
		} else if (*at == '(' && !depth) {
			break;
		} else if (strchr("<({[", *at)) {
			depth++;
		} else if (strchr(">)}]", *at)) {
			depth -= depth > 0 && !(*at == '>' && at > name && at[-1] == '-');
		} else if (*at == ' ' && !depth && at[1] && at[1] != '[') {
			start = at + 1;
		}
	}
	return start;
}

static bool is_entry_point(const char *name)
{
	size_t length = strcspn(name, "(@."), i;

	for (i = 0; i < MEW_N_ENTRIES; i++)
		if (strlen(mew_entry_name((uint32_t)i)) == length &&
		    begins(name, mew_entry_name((uint32_t)i)))
			return true;
	return false;
}

/*
 * An entry point counts wherever it lies: people bring their own. Of the allocator's insides only
 * reserved names do: `new_heap` of a benchmark is the benchmark's. What the kernel calls `free` is
 * none ("[kernel]", "[ext4]").
 */
enum mew_function_role mew_function_role(const char *name, const char *module)
{
	const char *qualified = mew_function_qualified(name);

	if (*module == '[')
		return MEW_ROLE_PLAIN;
	switch (mew_entry_role(qualified)) {
	case MEW_ENTRY_ROLE_WRAPPER:
		/* libstdc++'s calls malloc, an allocator's own does not. */
		return begins(qualified, "operator ") && has_allocator(module) ? MEW_ROLE_ALLOCATOR
									       : MEW_ROLE_WRAPPER;
	case MEW_ENTRY_ROLE_ALLOCATOR:
		return *qualified == '_' || has_allocator(module) || is_entry_point(qualified)
			       ? MEW_ROLE_ALLOCATOR
			       : MEW_ROLE_PLAIN;
	case MEW_ENTRY_ROLE_NONE:
		break;
	}
	return MEW_ROLE_PLAIN;
}

struct mew_blame mew_stack_blame(const struct mew_session *s, uint32_t stack)
{
	struct mew_blame b = {.function = MEW_NO_FUNCTION, .outside = stack};
	uint32_t at;

	for (at = stack; at; at = s->stacks[at].parent) {
		uint32_t function = s->stacks[at].function;

		if (s->functions[function].role == MEW_ROLE_ALLOCATOR) {
			b.taxed = 1;
			b.outside = s->stacks[at].parent;
			b.function = MEW_NO_FUNCTION;
		} else if (s->functions[function].role == MEW_ROLE_PLAIN &&
			   b.function == MEW_NO_FUNCTION) {
			b.function = function;
		}
	}
	return b;
}
