/* SPDX-License-Identifier: Apache-2.0 */
/* smaps.h: the memory that a process has got from the kernel for itself, by the text of its
 * /proc/PID/smaps (proc(5)). */
#ifndef MEW_SESSION_SMAPS_H
#define MEW_SESSION_SMAPS_H

#include <stdint.h>

/*
 * Of private memory that is no file's: what brk and mmap give. Not of stacks, the kernel's own or
 * behind a guard, nor of what lies right behind a file: it is zeroed data of that.
 */
struct mew_smaps {
	uint64_t touched_bytes;
	uint64_t given_bytes; /* that and what may be touched without asking the kernel for more;
				 not of mappings with MAP_NORESERVE: they may be of any size */
};

/* The text is changed. */
struct mew_smaps mew_smaps_anonymous(char *text);

/* The same of a file that is open. 0 or -errno. */
int mew_smaps_read(int fd, struct mew_smaps *ret);

#endif
