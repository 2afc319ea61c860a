/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_doubt.h: what the hook may not have seen of a case: allocators that it cannot stand in for,
 * images that it did not follow. Figures that miss such calls must say so.
 */
#ifndef MEW_SESSION_HEAP_DOUBT_H
#define MEW_SESSION_HEAP_DOUBT_H

#include "profile/profile.h"
#include "session/heap_case.h"

#define MEW_HEAP_DOUBT_BYTES 96

/* Why the figures mean nothing; static, NULL when they do mean something. */
const char *mew_heap_unhooked(const struct mew_heap_case *k);

/* What is missing from them, for the verdict: NULL nothing. May be in text, or of a hook. */
const char *mew_heap_doubt(const struct mew_heap_case *k, const struct mew_session *s,
			   char text[MEW_HEAP_DOUBT_BYTES]);

/* What may be missing from them, and is not when libraries alone allocate, or nobody by another
 * name than malloc. NULL: nothing. May be in text. */
const char *mew_heap_note(const struct mew_heap_case *k, char text[MEW_HEAP_DOUBT_BYTES]);

#endif
