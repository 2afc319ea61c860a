/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".list"
#define LIST_BYTES_MAX (64u << 20)

/* The list, with a newline before its first line. 0 or negative errno. */
static int read_list(int dir_fd, const char *name, struct mew_buffer *text)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	mew_buffer_reset(text);
	mew_buffer_putc(text, '\n');
	while (!rc && n > 0 && text->len < LIST_BYTES_MAX) {
		rc = mew_buffer_reserve(text, 65536);
		n = rc ? 0 : read(fd, text->data + text->len, 65536);
		if (n > 0)
			text->len += (size_t)n;
	}
	close(fd);
	return rc;
}

static bool has_line(const struct mew_buffer *text, const struct mew_buffer *line)
{
	return line->len && memmem(text->data, text->len, line->data, line->len);
}

int mew_package_of(const char *lists, const char *path, struct mew_buffer *out)
{
	struct mew_buffer text = MEW_BUFFER_INIT, whole = MEW_BUFFER_INIT, merged = MEW_BUFFER_INIT;
	DIR *dir = opendir(lists);
	const struct dirent *e;
	int rc = -ENOENT;

	if (!dir)
		return -errno;
	mew_buffer_printf(&whole, "\n%s\n", path);
	if (!strncmp(path, "/usr/", 5))
		mew_buffer_printf(&merged, "\n%s\n", path + 4);
	while (rc == -ENOENT && !whole.error && !merged.error && (e = readdir(dir))) {
		size_t n = strlen(e->d_name), suffix = sizeof(SUFFIX) - 1;

		if (n <= suffix || strcmp(e->d_name + n - suffix, SUFFIX) != 0)
			continue;
		if (read_list(dirfd(dir), e->d_name, &text) ||
		    (!has_line(&text, &whole) && !has_line(&text, &merged)))
			continue;
		n -= suffix;
		rc = mew_buffer_add(out, e->d_name,
				    strcspn(e->d_name, ":") < n ? strcspn(e->d_name, ":") : n);
	}
	if (whole.error || merged.error)
		rc = -ENOMEM;
	closedir(dir);
	mew_buffer_done(&text);
	mew_buffer_done(&whole);
	mew_buffer_done(&merged);
	return rc;
}
