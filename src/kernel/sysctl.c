/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int mew_sysfs_read(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t len = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	while (len < cap) {
		got = read(fd, buf + len, cap - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	close(fd);
	if (err)
		return err;
	if (len == cap)
		return -EFBIG;
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return (int)len;
}

int64_t mew_sysctl_read(const char *name, int64_t otherwise)
{
	char path[128], text[32], *end;
	long long v;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	if (mew_sysfs_read(path, text, sizeof(text)) <= 0)
		return otherwise;
	errno = 0;
	v = strtoll(text, &end, 10);
	return errno || *end ? otherwise : v;
}
