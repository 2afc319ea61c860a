/* SPDX-License-Identifier: Apache-2.0 */
/* mmap.h: the entry points of the address space, mmap() and its relatives. */
#ifndef MEW_HEAP_MMAP_H
#define MEW_HEAP_MMAP_H

/* Find the real functions: before it the system calls stand for them. From the constructor. */
void mew_mmap_find(void);

#endif
