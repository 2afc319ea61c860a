/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h: what somebody meant who has mistyped an event's name: among perf's own names. Pure. */
#ifndef MEW_KERNEL_NEAREST_H
#define MEW_KERNEL_NEAREST_H

#include <stddef.h>

/*
 * The nearest of perf's names, with the modifiers of name, as a text of at most n bytes. One letter
 * in three may be wrong, missing, too many, or in its neighbour's place. 0; -ENOENT: none is near.
 */
int mew_event_nearest(const char *name, char *ret, size_t n);

#endif
