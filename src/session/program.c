/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"
#include "symbol/executable.h"

/* The absolute path of name, looked for as a shell does. malloc'ed, or NULL with *ret_err set. */
static char *find(const char *name, int *ret_err)
{
	const char *path = getenv("PATH"), *at, *colon;
	char *found;

	*ret_err = -ENOENT;
	if (!*name)
		return NULL;
	if (strchr(name, '/')) {
		found = realpath(name, NULL);
		if (!found)
			*ret_err = -errno;
		return found;
	}
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (at = path; at; at = colon ? colon + 1 : NULL) {
		char *candidate;
		struct stat st;
		int n;

		colon = strchr(at, ':');
		n = colon ? (int)(colon - at) : (int)strlen(at);
		if (asprintf(&candidate, "%.*s/%s", n ? n : 1, n ? at : ".", name) < 0) {
			*ret_err = -ENOMEM;
			return NULL;
		}
		if (stat(candidate, &st) == 0 && S_ISREG(st.st_mode)) {
			if (access(candidate, X_OK) == 0) {
				found = realpath(candidate, NULL);
				free(candidate);
				if (!found)
					*ret_err = -errno;
				return found;
			}
			*ret_err = -EACCES;
		}
		free(candidate);
	}
	return NULL;
}

int mew_program_inspect(const char *name, struct mew_program *ret, struct mew_error *error)
{
	struct mew_executable x;
	struct stat st;
	int fd, err;

	memset(ret, 0, sizeof *ret);
	ret->path = find(name, &err);
	if (!ret->path)
		return mew_error_errno(error, err, "cannot run '%s'", name);
	if (stat(ret->path, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode) || access(ret->path, X_OK) < 0)
		err = -EACCES;
	else
		err = 0;
	if (err) {
		mew_program_done(ret);
		return mew_error_errno(error, err, "cannot run '%s'", name);
	}
	ret->is_setuid = (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
			 (st.st_mode & S_ISGID && st.st_gid != getegid());
	fd = open(ret->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) { /* executable but not readable: nothing can be said of it */
		ret->kind = MEW_PROGRAM_OTHER;
		return 0;
	}
	err = mew_executable_read(fd, &x);
	close(fd);
	ret->kind = !err && x.is_benchmark ? MEW_PROGRAM_BENCHMARK : MEW_PROGRAM_OTHER;
	if (err == -ENOEXEC) {
		ret->is_script = 1;
		return 0;
	}
	if (err) {
		mew_program_done(ret);
		return mew_error_errno(error, err, "cannot read '%s'", name);
	}
	ret->is_static = x.is_static;
	ret->is_sanitized = x.is_sanitized;
	memcpy(ret->build_id, x.build_id, sizeof ret->build_id);
	return 0;
}

void mew_program_done(struct mew_program *p)
{
	free(p->path);
	memset(p, 0, sizeof *p);
}
