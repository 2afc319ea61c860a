/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h: the C library's ways to another program in this process. The segment tells that one is
 * being taken: what comes then may have no hook (another environment, a static file), and nobody
 * else would know. A bare system call is not seen.
 */
#ifndef MEW_HEAP_EXEC_H
#define MEW_HEAP_EXEC_H

/* Find the real functions. From the constructor; an entry point that is called before does it. */
void mew_exec_find(void);

#endif
