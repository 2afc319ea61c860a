/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: the text tables by themselves, for the notes on what was shortened. */
#ifndef MEW_OUTPUT_TEXT_H
#define MEW_OUTPUT_TEXT_H

#include "output/output.h"

/* Rows of cases: text_cases.c. *ret_n_cut (may be NULL): names that lost more than their location.
 * 0 or -ENOMEM. */
int mew_text_cases(const struct mew_session *s, const struct mew_output_options *o,
		   struct mew_buffer *out, size_t *ret_n_cut);

/* A table a case: text_report.c. */
int mew_text_report(const struct mew_report *r, const struct mew_output_options *o,
		    struct mew_buffer *out, size_t *ret_n_cut);

/* What a heap case has beside its row, in lines of less than 80 columns: mappings; and with
 * verbose, before them, curve, peaks of the iterations, sizes; and that of all cases, named. 0 or
 * -ENOMEM. */
int mew_text_shape(const struct mew_pcase *c, const struct mew_output_options *o,
		   struct mew_buffer *out);
int mew_text_shapes(const struct mew_session *s, const struct mew_output_options *o,
		    struct mew_buffer *out);

#endif
