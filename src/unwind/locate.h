/* SPDX-License-Identifier: Apache-2.0 */
/* locate.h: the file that a process has mapped, even if its path names another one by now. */
#ifndef MEW_UNWIND_LOCATE_H
#define MEW_UNWIND_LOCATE_H

#include <stddef.h>

#include "unwind/modules.h"

/*
 * Opens the file of a mapping. proc: "/proc/PID" of a process that has it still, or "". The
 * descriptor, or -errno: -ESTALE when there is only another file, or the file has other contents by
 * now.
 */
int mew_locate_open(const char *proc, const struct mew_mapped *w);

/* The length of the path as it was before the kernel said that the file is deleted. */
size_t mew_locate_path_bytes(const char *path);

#endif
