/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names to try for the temporary file. */
enum { TRIES = 100 };

int mew_write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			return -EIO;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_stdout(const struct mew_buffer *b, struct mew_error *error)
{
	int err = mew_write_all(STDOUT_FILENO, b->data, b->len);

	return err ? mew_error_errno(error, err, "cannot write standard output") : 0;
}

/* What is no ordinary file (a pipe, /dev/null) is written, not replaced. */
static int write_in_place(const char *path, const struct mew_buffer *b)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return -errno;
	err = mew_write_all(fd, b->data, b->len);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A new file beside path. Its descriptor; *ret_name is malloc'ed. */
static int open_beside(const char *path, char **ret_name)
{
	const char *base = base_name(path);
	char *name = NULL;
	int fd = -EEXIST, i;

	for (i = 0; i < TRIES && fd == -EEXIST; i++) {
		free(name);
		if (asprintf(&name, "%.*s.%.200s.%ld.%d", (int)(base - path), path, base,
			     (long)getpid(), i) < 0)
			return -ENOMEM;
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0)
			fd = -errno;
	}
	if (fd < 0) {
		free(name);
		return fd;
	}
	*ret_name = name;
	return fd;
}

/* The name itself must survive a crash as well. A file system that cannot sync a directory is none
 * of our business. */
static void sync_directory(const char *path)
{
	const char *base = base_name(path);
	char *directory = base == path ? strdup(".") : strndup(path, (size_t)(base - path));
	int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(directory);
}

static int replace(const char *path, const struct stat *old, const struct mew_buffer *b)
{
	char *name = NULL;
	int fd = open_beside(path, &name), err;

	if (fd < 0)
		return fd;
	err = mew_write_all(fd, b->data, b->len);
	if (!err && old && fchmod(fd, old->st_mode & 0777))
		err = -errno;
	if (!err && fsync(fd) && errno != EINVAL && errno != ENOTSUP)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(name, path))
		err = -errno;
	if (err)
		unlink(name);
	else
		sync_directory(path);
	free(name);
	return err;
}

static int commit(const char *path, const struct mew_buffer *b)
{
	struct stat st;
	char *real;
	int err;

	if (stat(path, &st))
		return errno == ENOENT ? replace(path, NULL, b) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return write_in_place(path, b);
	/* A file that may not be written is not to be replaced either. */
	if (access(path, W_OK))
		return -errno;
	real = realpath(path, NULL); /* a symbolic link stays one */
	if (!real)
		return -errno;
	err = replace(real, &st, b);
	free(real);
	return err;
}

int mew_commit(const char *path, const struct mew_buffer *b, struct mew_error *error)
{
	int err = b->error;

	if (!err && !strcmp(path, "-"))
		return write_stdout(b, error);
	if (!err)
		err = commit(path, b);
	return err ? mew_error_errno(error, err, "cannot write '%s'", path) : 0;
}
