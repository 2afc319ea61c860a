/* SPDX-License-Identifier: Apache-2.0 */
/* commit.h: files that appear under their name only when they are complete. */
#ifndef MEW_BASE_COMMIT_H
#define MEW_BASE_COMMIT_H

#include "base/buffer.h"
#include "base/error.h"

/*
 * Write b to path: to a temporary file beside it, synced and renamed. A symbolic link stays one;
 * what is no ordinary file (a pipe, a device) is written as it is; "-" is standard output. 0, or
 * -errno with the error set (disk full, closed pipe).
 */
int mew_commit(const char *path, const struct mew_buffer *b, struct mew_error *error);

/* All n bytes to a descriptor. 0 or -errno. */
int mew_write_all(int fd, const char *bytes, size_t n);

#endif
