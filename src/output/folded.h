/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h: a case's stacks as people read them: by function, whatever the line. Pure.
 */
#ifndef MEW_OUTPUT_FOLDED_H
#define MEW_OUTPUT_FOLDED_H

#include <stdbool.h>

#include "base/buffer.h"
#include "profile/profile.h"

/*
 * The case's values with those of equal functions and wholeness added up, in the order of their
 * first; `stack` is the first one's. *ret is malloc'ed, the caller's (NULL when *ret_n is 0). 0 or
 * -ENOMEM.
 */
int mew_folded(const struct mew_session *s, const struct mew_pcase *c, struct mew_pvalue **ret,
	       size_t *ret_n);

/* Is it a stack that is not whole, and no frame says so? */
bool mew_folded_lacks_mark(const struct mew_session *s, const struct mew_pvalue *v);

/* Appends "loop;push;malloc", outermost first; `;` and `\` of a name behind a `\`. A stack that is
 * not whole begins with "[broken stack]". 0 or -ENOMEM. */
int mew_folded_text(const struct mew_session *s, const struct mew_pvalue *v,
		    struct mew_buffer *out);

#endif
