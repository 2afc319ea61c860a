/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable run of bytes.
 *
 * Invariants: `data` is never NULL and data[len] is '\0', so data is always a C string as well
 * (unless NUL bytes were added). The first failure sticks: `error` becomes -ENOMEM, what was there
 * stays, and every later addition does nothing. So a caller may add a hundred times and look at
 * `error` once.
 */
#ifndef MEW_BASE_BUFFER_H
#define MEW_BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

struct mew_buffer {
	char *data; /* owned by the buffer; moves when it grows */
	size_t len; /* bytes, without the final NUL */
	size_t cap; /* bytes allocated, 0 = none yet */
	int error;  /* 0 or -ENOMEM */
};

extern char mew_buffer_empty[1];

#define MEW_BUFFER_INIT                                                                            \
	{                                                                                          \
		.data = mew_buffer_empty                                                           \
	}

/* Makes an empty buffer; allocates nothing. */
void mew_buffer_init(struct mew_buffer *b);

/* Frees the bytes; the buffer is as after init. NULL and a zeroed buffer are fine. */
void mew_buffer_done(struct mew_buffer *b);

/* Empties it and forgets an error; keeps the memory for reuse. */
void mew_buffer_reset(struct mew_buffer *b);

/* Makes room for `more` bytes after len. Like all below returns 0 or the sticky error. */
int mew_buffer_reserve(struct mew_buffer *b, size_t more);

int mew_buffer_add(struct mew_buffer *b, const void *bytes, size_t n);
int mew_buffer_puts(struct mew_buffer *b, const char *s);
int mew_buffer_putc(struct mew_buffer *b, char c);

/* All that the file has from its start on. 0, the sticky error, -EFBIG: it has more than max bytes;
 * or another -errno. */
int mew_buffer_read(struct mew_buffer *b, int fd, size_t max);
#define MEW_BUFFER_PROC_MAX ((size_t)256 << 20) /* what no file of /proc comes near */

/* n times the same byte. */
int mew_buffer_fill(struct mew_buffer *b, char c, size_t n);

/* %g and %f obey the locale: numbers for files go through number.h. */
int mew_buffer_printf(struct mew_buffer *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int mew_buffer_vprintf(struct mew_buffer *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/*
 * Hands over the bytes as a string that the caller frees, and empties the buffer. *ret_len (may be
 * NULL) is the length. NULL when an error has stuck or there is no memory; the buffer is empty and
 * usable then, too.
 */
char *mew_buffer_detach(struct mew_buffer *b, size_t *ret_len);

#endif
