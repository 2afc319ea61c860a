/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "profile/roles.h"

enum match { NAME, LIBC, PREFIX };

static const struct {
	enum match match;
	enum mew_function_role role;
	const char *text;
} roles[] = {
#define ROLE_NAME(role, text) {NAME, MEW_ROLE_##role, text},
#define ROLE_LIBC(role, text) {LIBC, MEW_ROLE_##role, text},
#define ROLE_PREFIX(role, text) {PREFIX, MEW_ROLE_##role, text},
#include "profile/roles.def"
};

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* libc.so.6, libc-2.31.so, ld-musl-x86_64.so.1, libc.musl-x86_64.so.1 */
static bool is_libc(const char *module)
{
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	return begins(base, "libc.") || begins(base, "libc-") || begins(base, "ld-musl");
}

/* Whether name is the C function `want`, whatever suffix the tools have given it. */
static bool is_c_function(const char *name, const char *want)
{
	size_t len = strlen(want);

	return !strncmp(name, want, len) &&
	       (!name[len] || name[len] == '.' || name[len] == '@' || begins(name + len, " ["));
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

enum mew_function_role mew_function_role(const char *name, const char *module)
{
	const char *qualified = mew_function_qualified(name);
	size_t i;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const char *text = roles[i].text;

		if (roles[i].match == PREFIX ? begins(qualified, text)
					     : is_c_function(name, text) &&
						       (roles[i].match == NAME || is_libc(module)))
			return roles[i].role;
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
