/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod.h: debug files from debuginfod servers, debuginfod_find_debuginfo(3). Nothing is asked
 * before mew_debuginfod_use. The library is loaded then, so that mew-perf does without it.
 */
#ifndef MEW_SYMBOL_DEBUGINFOD_H
#define MEW_SYMBOL_DEBUGINFOD_H

#include <stddef.h>

#include "base/error.h"

/* Ask these servers from now on (as DEBUGINFOD_URLS names them, which is set). A server that does
 * not answer within 10 s, unless DEBUGINFOD_TIMEOUT says otherwise, has failed. 0; -ENOENT: the
 * library is not installed; -ENOMEM. */
int mew_debuginfod_use(const char *urls, struct mew_error *error);

/* The debug file of that build-id: a descriptor, the caller's; -ENOENT: nobody has it, or nobody is
 * asked. Once a server has failed, none is asked again. */
int mew_debuginfod_find(const unsigned char *build_id, size_t bytes);

/* errno of the server that failed; 0: none did. */
int mew_debuginfod_failed(void);

#endif
