/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.h: the sampling events of a whole program once more, with smaller and larger copies of the
 * stack: off until they are taken instead of those that are on. They are inherited and write to the
 * same rings.
 */
#ifndef MEW_KERNEL_RESIZE_H
#define MEW_KERNEL_RESIZE_H

#include <stdint.h>

#include "kernel/whole.h"

#define MEW_RESIZE_SMALL 2048u /* the one smaller size */

/* The size after bytes in rings of ring_bytes: a record of it fits in 16 times, with rest_bytes
 * that are not of the stack. 0: none. */
uint32_t mew_resize_larger(uint32_t bytes, uint64_t ring_bytes, uint32_t rest_bytes);

/*
 * Open the sizes beside that of w, just opened for process pid, that has not called exec. The
 * number of larger ones; 0, and no smaller one, where the limit of descriptors, memory or the rings
 * allow none. They are closed by mew_whole_close.
 */
unsigned mew_resize_open(struct mew_whole *w, int pid);

/*
 * From now on the next larger size, or the smaller one, in all threads and children that there are
 * and will be; a CPU that refuses it stays with the one it has. Returns it; 0: there is none, all
 * is as it was. A sample's stack_asked tells which size it is of: those of before are still in the
 * rings. What a thread does between its one event and its other, for some microseconds, is neither
 * sampled nor counted.
 */
uint32_t mew_resize_up(struct mew_whole *w);
uint32_t mew_resize_down(struct mew_whole *w);

#endif
