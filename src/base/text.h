/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for a terminal: how wide it is, how it is made harmless, how a long name is shortened. UTF-8
 * is assumed whatever the locale; a byte that is no UTF-8 counts one column.
 */
#ifndef MEW_BASE_TEXT_H
#define MEW_BASE_TEXT_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads one character from s[0..len), len > 0. Returns its bytes, 1 to 4; *ret_code is the code
 * point, or UINT32_MAX for one byte that begins no valid sequence.
 */
size_t mew_text_decode(const char *s, size_t len, uint32_t *ret_code);

/* Columns: 0 for combining characters, 2 for wide ones, 1 else. */
size_t mew_text_width(const char *s);
size_t mew_text_width_n(const char *s, size_t len);

/*
 * Appends s so that it cannot disturb a terminal or a table: `\n`, `\t`, `\r`, other control bytes
 * and bytes that are no UTF-8 as `\x1b`, C1 and bidirectional controls as `\u202e`. Printable text
 * is unchanged, backslashes too.
 */
int mew_text_escape(struct mew_buffer *out, const char *s);

/* Where a final ` (file.c:12)` or ` (module)` begins; strlen(s) when there is none. */
size_t mew_text_location(const char *s);

/*
 * Appends s in at most `width` columns: whole, else without its location, else with each `<...>` as
 * `<>`, else with each `(...)` as `()` too, else with `...` in the middle, the end kept longer than
 * the start. *ret_cut (may be NULL) says whether more than the location is gone.
 */
int mew_text_shorten(struct mew_buffer *out, const char *s, size_t width, bool *ret_cut);

/* Appends word as a shell reads it: bare when it is harmless, else in single quotes. */
int mew_text_quote(struct mew_buffer *out, const char *word);

#endif
