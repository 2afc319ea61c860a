/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

/* Never written to: data points here while cap is 0. */
char mew_buffer_empty[1];

void mew_buffer_init(struct mew_buffer *b)
{
	*b = (struct mew_buffer)MEW_BUFFER_INIT;
}

void mew_buffer_done(struct mew_buffer *b)
{
	if (!b)
		return;
	if (b->cap)
		free(b->data);
	mew_buffer_init(b);
}

void mew_buffer_reset(struct mew_buffer *b)
{
	if (b->cap)
		b->data[0] = '\0';
	b->len = 0;
	b->error = 0;
}

int mew_buffer_reserve(struct mew_buffer *b, size_t more)
{
	size_t need, cap;
	char *data;

	if (b->error)
		return b->error;
	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need))
		return b->error = -ENOMEM;
	if (need <= b->cap)
		return 0;
	cap = b->cap < 32 ? 64 : b->cap;
	while (cap < need) {
		if (__builtin_mul_overflow(cap, 2, &cap)) {
			cap = need;
			break;
		}
	}
	data = realloc(b->cap ? b->data : NULL, cap);
	if (!data)
		return b->error = -ENOMEM;
	data[b->len] = '\0';
	b->data = data;
	b->cap = cap;
	return 0;
}

int mew_buffer_add(struct mew_buffer *b, const void *bytes, size_t n)
{
	if (!n || mew_buffer_reserve(b, n))
		return b->error;
	memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int mew_buffer_puts(struct mew_buffer *b, const char *s)
{
	return mew_buffer_add(b, s, strlen(s));
}

int mew_buffer_putc(struct mew_buffer *b, char c)
{
	return mew_buffer_add(b, &c, 1);
}

int mew_buffer_fill(struct mew_buffer *b, char c, size_t n)
{
	if (!n || mew_buffer_reserve(b, n))
		return b->error;
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int mew_buffer_vprintf(struct mew_buffer *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	/* Room enough for most texts, so that most are formatted once. */
	if (mew_buffer_reserve(b, 63))
		return b->error;
	va_copy(again, ap);
	n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		b->data[b->len] = '\0';
		if (!mew_buffer_reserve(b, n))
			n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (b->error)
		return b->error;
	if (n < 0) {
		b->data[b->len] = '\0';
		return b->error = -ENOMEM;
	}
	b->len += n;
	return 0;
}

int mew_buffer_printf(struct mew_buffer *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	mew_buffer_vprintf(b, fmt, ap);
	va_end(ap);
	return b->error;
}

int mew_buffer_read(struct mew_buffer *b, int fd, size_t max)
{
	off_t at = 0;

	for (;;) {
		ssize_t n;

		if (mew_buffer_reserve(b, READ_BYTES))
			return b->error;
		n = pread(fd, b->data + b->len, READ_BYTES, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		at += n;
		if ((size_t)at > max)
			return -EFBIG;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
	}
}

char *mew_buffer_detach(struct mew_buffer *b, size_t *ret_len)
{
	char *data;

	if (mew_buffer_reserve(b, 0)) {
		mew_buffer_done(b);
		return NULL;
	}
	data = b->data;
	if (ret_len)
		*ret_len = b->len;
	mew_buffer_init(b);
	return data;
}
