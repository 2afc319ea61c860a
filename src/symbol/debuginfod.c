/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define LIBRARY "libdebuginfod.so.1"
#define TIMEOUT_S "10"

struct debuginfod_client;

/* debuginfod_find_debuginfo(3) */
static struct {
	struct debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int build_id_len, char **path);
	struct debuginfod_client *client; /* NULL: nobody is asked */
	int failed;
} server;

int mew_debuginfod_use(const char *urls, struct mew_error *error)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library) {
		*(void **)&server.begin = dlsym(library, "debuginfod_begin");
		*(void **)&server.find_debuginfo = dlsym(library, "debuginfod_find_debuginfo");
	}
	if (!server.begin || !server.find_debuginfo)
		return mew_error_set(error, -ENOENT, "cannot ask debuginfod: no library '%s'",
				     LIBRARY);
	if (setenv("DEBUGINFOD_URLS", urls, 1) || setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_S, 0))
		return mew_error_set(error, -ENOMEM, "out of memory");
	server.client = server.begin();
	return server.client ? 0 : mew_error_set(error, -ENOMEM, "out of memory");
}

int mew_debuginfod_find(const unsigned char *build_id, size_t bytes)
{
	int fd;

	if (!server.client || server.failed || bytes > 64)
		return -ENOENT;
	fd = server.find_debuginfo(server.client, build_id, (int)bytes, NULL);
	if (fd >= 0 || fd == -ENOENT)
		return fd;
	server.failed = -fd;
	return -ENOENT;
}

int mew_debuginfod_failed(void)
{
	return server.failed;
}
