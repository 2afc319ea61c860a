/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h: memory shared with a target: a sealed memfd and our mapping of it. */
#ifndef MEW_SESSION_MEMORY_H
#define MEW_SESSION_MEMORY_H

#include <stddef.h>

#include "base/error.h"

struct mew_memory {
	void *at; /* NULL: none */
	size_t bytes;
	int fd;      /* to send; it can neither shrink nor grow */
	int read_fd; /* the same, for a target that only reads; -1 unless asked for */
};

/* Sparse, zeroed. 0 or negative errno; done takes a zeroed one. */
int mew_memory_open(struct mew_memory *m, const char *name, size_t bytes, int read_only,
		    struct mew_error *error);
void mew_memory_done(struct mew_memory *m);

#endif
