/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator.h: whether an ELF file has or calls an allocator under a name of its own, beside
 * malloc: one built with a prefix, or that of a language. What it gives is seen by nobody who
 * stands in for malloc. Tells by symbols alone, so nothing of a stripped file that has one for
 * itself.
 */
#ifndef MEW_SYMBOL_ALLOCATOR_H
#define MEW_SYMBOL_ALLOCATOR_H

#include "unwind/modules.h"

/* The name, static: of a function that the file defines, unless it defines malloc for others too
 * and so is what malloc is; or that it calls in another file. NULL: none, or no such file. fd stays
 * the caller's. */
const char *mew_allocator_in(int fd);

/* The same of a module's file, which is read once in the life of the process. For one thread. */
const char *mew_allocator_of(const struct mew_module *module);

#endif
