/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h: the tracker's own memory, straight from the kernel: nothing in here may call malloc. The
 * two functions are pointers so that a test can make them fail.
 */
#ifndef MEW_HEAP_PAGES_H
#define MEW_HEAP_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct mew_pages {
	void *(*map)(size_t bytes); /* zeroed memory, NULL: none left */
	void (*unmap)(void *p, size_t bytes);
	uint64_t *n_bytes; /* borrowed: what mew_pages_map() has mapped now is added there */
};

/* The kernel's pages. n_bytes: a counter of all threads, where others may add too. */
void mew_pages_init(struct mew_pages *pages, uint64_t *n_bytes);

/* bytes of zeroed memory, the caller's until it unmaps them; NULL: no memory. */
void *mew_pages_map(struct mew_pages *pages, size_t bytes);
void mew_pages_unmap(struct mew_pages *pages, void *p, size_t bytes);

#endif
