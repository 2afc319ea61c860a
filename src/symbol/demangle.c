/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <libiberty/demangle.h>

struct sink {
	struct mew_buffer *out;
	size_t limit; /* of out->len */
	jmp_buf enough;
};

/*
 * A short name may stand for terabytes of text, and libiberty prints on whatever the callback says.
 * It holds no memory but the stack's while it does, so it may be left from here.
 */
static void add(const char *text, size_t len, void *arg)
{
	struct sink *sink = arg;

	if (len > sink->limit - sink->out->len || mew_buffer_add(sink->out, text, len))
		longjmp(sink->enough, 1);
}

/* setjmp is alone here: no local changes between it and the jump. */
static bool demangle(const char *linkage, struct sink *sink)
{
	const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;

	if (setjmp(sink->enough))
		return false;
	return rust_demangle_callback(linkage, DMGL_NO_OPTS, add, sink) ||
	       cplus_demangle_v3_callback(linkage, options, add, sink);
}

int mew_demangle(const char *linkage, struct mew_buffer *out)
{
	struct sink sink = {.out = out, .limit = out->len + MEW_DEMANGLED_MAX};
	size_t before = out->len;

	if (out->error)
		return out->error;
	if (linkage[0] != '_' || strnlen(linkage, MEW_MANGLED_MAX + 1) > MEW_MANGLED_MAX)
		return -EINVAL;
	if (demangle(linkage, &sink) && out->len > before)
		return out->error;
	if (out->error)
		return out->error;
	out->len = before;
	if (out->cap)
		out->data[before] = '\0';
	return -EINVAL;
}

/* The suffix that begins at the dot p. */
static bool is_clone_suffix(const char *p, size_t len)
{
	static const char *const names[] = {"cold",     "part", "constprop",  "isra",
					    "lto_priv", "llvm", "localalias", "clone"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (len == n + 1 && !strncmp(p + 1, names[i], n))
			return true;
	}
	return false;
}

size_t mew_linkage_length(const char *linkage)
{
	size_t len = strcspn(linkage, "@");

	for (;;) {
		size_t end = len, dot;

		/* A number, if there is one, then the word before it. */
		while (end && linkage[end - 1] >= '0' && linkage[end - 1] <= '9')
			end--;
		if (end == len || !end || linkage[end - 1] != '.')
			end = len;
		else
			end--;
		for (dot = end; dot && linkage[dot - 1] != '.'; dot--)
			;
		if (dot < 2 || !is_clone_suffix(linkage + dot - 1, end - dot + 1))
			return len;
		len = dot - 1;
	}
}
