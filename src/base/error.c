/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* vsnprintf fails only for texts past INT_MAX or bad wide characters: then there is no text. */
static void write_text(char *text, size_t size, const char *fmt, va_list ap)
{
	if (vsnprintf(text, size, fmt, ap) < 0)
		text[0] = '\0';
}

int mew_error_vset(struct mew_error *e, int code, const char *fmt, va_list ap)
{
	char text[sizeof(e->text)];

	if (!e)
		return code;
	/* An argument may be e's own text. */
	write_text(text, sizeof(text), fmt, ap);
	memcpy(e->text, text, sizeof(text));
	e->code = code;
	return code;
}

int mew_error_set(struct mew_error *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	mew_error_vset(e, code, fmt, ap);
	va_end(ap);
	return code;
}

int mew_error_errno(struct mew_error *e, int code, const char *fmt, ...)
{
	char name[128];
	size_t len;
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	mew_error_vset(e, code, fmt, ap);
	va_end(ap);
	len = strlen(e->text);
	snprintf(e->text + len, sizeof(e->text) - len, ": %s",
		 strerror_r(code < 0 ? -code : code, name, sizeof(name)));
	return code;
}

int mew_error_prefix(struct mew_error *e, const char *fmt, ...)
{
	char text[sizeof(e->text)];
	size_t len;
	va_list ap;

	if (!e)
		return 0;
	va_start(ap, fmt);
	write_text(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, "%s", e->text);
	memcpy(e->text, text, sizeof(text));
	return e->code;
}
