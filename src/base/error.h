/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error that a person reads: a code for the program, a text for the person. Fixed size, so
 * that reporting an error cannot fail.
 */
#ifndef MEW_BASE_ERROR_H
#define MEW_BASE_ERROR_H

#include <stdarg.h>

struct mew_error {
	int code; /* negative errno, 0 = none */
	char text[512];
};

/*
 * Each takes e = NULL (nothing is written) and returns code, so that a caller can write
 * `return mew_error_set(error, -EINVAL, "...")`. A text that is too long is cut; control
 * characters stay as they are (whoever prints the text escapes them).
 */
int mew_error_set(struct mew_error *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int mew_error_vset(struct mew_error *e, int code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* The same, with `: No such file or directory` of code (negative errno) appended. */
int mew_error_errno(struct mew_error *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts text before what e holds, e.g. the file that was being read. Returns e's code, or 0 for
 * NULL. */
int mew_error_prefix(struct mew_error *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
