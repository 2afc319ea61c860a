/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the heap hook's nouns that runs out on demand: heap_pages_left more are to be had. */
#ifndef MEW_TESTS_HEAP_PAGES_H
#define MEW_TESTS_HEAP_PAGES_H

#include <stdlib.h>

#include "heap/pages.h"

static uint32_t heap_pages_left;
static uint64_t heap_pages_bytes; /* mapped now */

static void *heap_pages_map(size_t bytes)
{
	if (!heap_pages_left)
		return NULL;
	heap_pages_left--;
	return calloc(1, bytes);
}

static void heap_pages_unmap(void *p, size_t bytes)
{
	(void)bytes;
	free(p);
}

static inline struct mew_pages heap_pages(uint32_t left)
{
	heap_pages_left = left;
	heap_pages_bytes = 0;
	return (struct mew_pages){
		.map = heap_pages_map, .unmap = heap_pages_unmap, .n_bytes = &heap_pages_bytes};
}

#endif
