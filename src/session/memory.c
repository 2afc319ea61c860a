/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/memory.h"

int mew_memory_open(struct mew_memory *m, const char *name, size_t bytes, int read_only,
		    struct mew_error *error)
{
	char path[64];
	int err;

	memset(m, 0, sizeof *m);
	m->read_fd = -1;
	m->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)bytes) < 0 ||
	    fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		goto fail;
	m->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->fd, 0);
	if (m->at == MAP_FAILED) {
		m->at = NULL;
		goto fail;
	}
	m->bytes = bytes;
	if (read_only) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
		m->read_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (m->read_fd < 0)
			goto fail;
	}
	return 0;
fail:
	err = -errno;
	mew_memory_done(m);
	return mew_error_errno(error, err, "cannot make %zu bytes of shared memory", bytes);
}

void mew_memory_done(struct mew_memory *m)
{
	if (m->at)
		munmap(m->at, m->bytes);
	if (m->fd > 0)
		close(m->fd);
	if (m->read_fd > 0)
		close(m->read_fd);
	memset(m, 0, sizeof *m);
}
