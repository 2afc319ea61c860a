/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h: which cases are meant: POSIX extended regular expressions on key and label. A case is
 * chosen by any of them (or when there are none), and by none that begins with '-'.
 */
#ifndef MEW_PROFILE_FILTER_H
#define MEW_PROFILE_FILTER_H

#include <stddef.h>

#include "base/error.h"

struct mew_filter;

/* NULL: -EINVAL, a text is no regular expression, or -ENOMEM. texts are borrowed for its life. free
 * takes NULL. */
struct mew_filter *mew_filter_new(const char *const *texts, size_t n, struct mew_error *error);
void mew_filter_free(struct mew_filter *f);

/* 1 or 0. */
int mew_filter_chooses(const struct mew_filter *f, const char *key, const char *label);

#endif
