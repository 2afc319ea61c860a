/* SPDX-License-Identifier: Apache-2.0 */
/* demangle.h: C++ and Rust names as people write them. Names are not trusted: time and space are
 * bounded. */
#ifndef MEW_SYMBOL_DEMANGLE_H
#define MEW_SYMBOL_DEMANGLE_H

#include <stddef.h>

#include "base/buffer.h"

#define MEW_MANGLED_MAX 8192    /* bytes of a mangled name */
#define MEW_DEMANGLED_MAX 32768 /* bytes of what becomes of it */

/*
 * Appends the demangled name, parameters included, return type not. 0, -EINVAL (not a mangled name,
 * or one that would become too long; out is as before), -ENOMEM.
 */
int mew_demangle(const char *linkage, struct mew_buffer *out);

/*
 * Bytes of a linkage name without what compilers append to the pieces and clones of a function:
 * .cold, .part.0, .constprop.1, .isra.2, .lto_priv.3, .llvm.123; and without an @VERSION.
 */
size_t mew_linkage_length(const char *linkage);

#endif
