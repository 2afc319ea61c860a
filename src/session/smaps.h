/* SPDX-License-Identifier: Apache-2.0 */
/* smaps.h: the memory that a process has got from the kernel for itself, by the text of its
 * /proc/PID/smaps (proc(5)). */
#ifndef MEW_SESSION_SMAPS_H
#define MEW_SESSION_SMAPS_H

#include <stdint.h>

/*
 * Bytes that were touched of private memory that is no file's: what brk and mmap give. Not those of
 * stacks, the kernel's own or behind a guard, nor of what lies right behind a file: it is zeroed
 * data of that. The text is changed.
 */
uint64_t mew_smaps_anonymous(char *text);

/* The same of a file that is open. 0 or -errno. */
int mew_smaps_read(int fd, uint64_t *ret_bytes);

#endif
