/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/forkmark.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

/* The smallest page there is; the kernel maps and wipes a whole one. */
#define MARK_BYTES 4096

int mew_forkmark_open(struct mew_forkmark *m)
{
	unsigned *word =
		mmap(NULL, MARK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (word == MAP_FAILED)
		return -errno;
	if (madvise(word, MARK_BYTES, MADV_WIPEONFORK) != 0) {
		err = -errno;
		munmap(word, MARK_BYTES);
		return err;
	}
	*word = 1;
	m->word = word;
	return 0;
}

void mew_forkmark_close(struct mew_forkmark *m)
{
	if (!m || !m->word)
		return;
	munmap(m->word, MARK_BYTES);
	m->word = NULL;
}
