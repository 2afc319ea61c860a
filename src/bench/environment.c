/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/environment.h"

#include <stdlib.h>
#include <string.h>

#include "channel/message.h"

/* As ld.so(8): entries are parted by blanks or colons. */
#define SEPARATORS " :"

void mew_preload_remove(char *list, const char *name)
{
	char *out = list, *in = list;

	while (*in) {
		size_t n = strcspn(in, SEPARATORS), n_name = strlen(name);
		size_t n_gap = strspn(in + n, SEPARATORS);
		int ours = n >= n_name && memcmp(in + n - n_name, name, n_name) == 0 &&
			   (n == n_name || in[n - n_name - 1] == '/');

		if (!ours) {
			memmove(out, in, n + n_gap);
			out += n + n_gap;
		}
		in += n + n_gap;
	}
	/* What parted our entry from the one before it. */
	while (out > list && strchr(SEPARATORS, out[-1]))
		out--;
	*out = '\0';
}

char *mew_environment_take(void)
{
	const char *path = getenv(MEW_SOCKET_ENV), *preload = getenv("LD_PRELOAD");
	char *ret = path && path[0] ? strdup(path) : NULL;
	char *rest;

	if (!ret)
		return NULL;
	unsetenv(MEW_SOCKET_ENV);
	rest = preload ? strdup(preload) : NULL;
	if (!rest)
		return ret;
	mew_preload_remove(rest, MEW_HEAP_LIBRARY);
	if (rest[0])
		setenv("LD_PRELOAD", rest, 1);
	else
		unsetenv("LD_PRELOAD");
	free(rest);
	return ret;
}
