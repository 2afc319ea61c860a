/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h: the C library's ways to a child process that run no handler of pthread_atfork():
 * posix_spawn, system, popen, vfork, _Fork. They are counted, nothing else. The child of
 * a bare system call counts itself, once it allocates (recorder.c).
 */
#ifndef MEW_HEAP_CHILD_H
#define MEW_HEAP_CHILD_H

/* Find the real functions. From the constructor; an entry point that is called before does it. */
void mew_child_find(void);

#endif
