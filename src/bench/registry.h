/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h: from the program's entries to its cases, each with its key and label. Knows names and
 * parameters; runs nothing.
 */
#ifndef MEW_BENCH_REGISTRY_H
#define MEW_BENCH_REGISTRY_H

#include <stddef.h>
#include <mew/mew.h>

#include "base/error.h"
#include "channel/message.h"

struct mew_case {
	const struct mew_entry *entry;
	const void *param;           /* the family's element; NULL in a plain entry */
	char key[MEW_KEY_BYTES];     /* name, or name/case:<i> */
	char label[MEW_LABEL_BYTES]; /* "" in a plain entry */
};

struct mew_cases {
	struct mew_case *cases; /* owned */
	size_t n;
};

/* The entries registered so far, in that order: the first one, linked by next_. */
struct mew_entry *mew_registry_entries(void);

/*
 * All cases of a list of entries, in its order. -EINVAL: an entry that cannot be (two of one name,
 * no name, no function, a name or a number of threads too large); -ENOMEM.
 */
int mew_cases_init(struct mew_cases *ret, const struct mew_entry *entries, struct mew_error *error);
void mew_cases_done(struct mew_cases *cases);

/*
 * Keep the cases whose key or label matches one of the filters, and none of those that begin with
 * '-' (which is not part of the expression). POSIX extended regular expressions. -EINVAL: not an
 * expression; -ENOENT: nothing is left, and cases is unchanged.
 */
int mew_cases_filter(struct mew_cases *cases, const char *const *filters, size_t n_filters,
		     struct mew_error *error);

/*
 * Copy text into a label of n bytes. One that is too long is cut at a character's edge and ends in
 * "...".
 */
void mew_label_set(char *label, size_t n, const char *text);

#endif
