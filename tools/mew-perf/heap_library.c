/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "profiling.h"

#define LIBRARY "libmew-heap.so"

/* "../lib/x/mew-perf" for /usr/bin and /usr/lib/x/mew-perf: so that a moved tree works. */
static void add_relative(struct mew_buffer *out, const char *from, const char *to)
{
	size_t common = 0, i;

	for (i = 0; from[i] && from[i] == to[i]; i++)
		if (from[i] == '/')
			common = i + 1;
	if (!from[i] && to[i] == '/')
		common = i + 1;
	for (const char *s = from + (common < strlen(from) ? common : strlen(from)); *s;) {
		size_t n = strcspn(s, "/");

		if (n)
			mew_buffer_puts(out, "../");
		s += n + (s[n] == '/');
	}
	mew_buffer_puts(out, to + common);
}

static char *absolute(const struct mew_buffer *path)
{
	return !path->error && !access(path->data, R_OK) ? realpath(path->data, NULL) : NULL;
}

static char *try_at(const char *dir, const char *place)
{
	struct mew_buffer path = MEW_BUFFER_INIT;
	char *found;

	mew_buffer_printf(&path, "%s/%s/" LIBRARY, dir, place);
	found = absolute(&path);
	mew_buffer_done(&path);
	return found;
}

static char *try_relative(const char *dir)
{
	struct mew_buffer place = MEW_BUFFER_INIT;
	char *found = NULL;

	add_relative(&place, MEW_BINDIR, MEW_PKGLIBDIR);
	if (!place.error)
		found = try_at(dir, place.data);
	mew_buffer_done(&place);
	return found;
}

char *mew_heap_library(void)
{
	/* In a build tree mew-perf lies at its top, or in its .libs behind libtool's script. */
	static const char *const places[] = {".libs", "src/heap/.libs", ".", "../src/heap/.libs",
					     ("../lib/" PACKAGE)};
	char dir[PATH_MAX], *found, *slash;
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (n < 0)
		return try_at(MEW_PKGLIBDIR, ".");
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	found = try_relative(dir);
	for (size_t i = 0; !found && i < sizeof(places) / sizeof(*places); i++)
		found = try_at(dir, places[i]);
	return found ? found : try_at(MEW_PKGLIBDIR, ".");
}
