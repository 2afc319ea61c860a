/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/pages.h"

#include <sys/mman.h>

#include "heap/lock.h"

static void *kernel_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void kernel_unmap(void *p, size_t bytes)
{
	munmap(p, bytes);
}

void mew_pages_init(struct mew_pages *pages, uint64_t *n_bytes)
{
	*pages = (struct mew_pages){.map = kernel_map, .unmap = kernel_unmap, .n_bytes = n_bytes};
}

void *mew_pages_map(struct mew_pages *pages, size_t bytes)
{
	void *p = pages->map(bytes);

	if (p)
		mew_lock_add(pages->n_bytes, bytes);
	return p;
}

void mew_pages_unmap(struct mew_pages *pages, void *p, size_t bytes)
{
	if (!p)
		return;
	mew_lock_add(pages->n_bytes, -(uint64_t)bytes);
	pages->unmap(p, bytes);
}
