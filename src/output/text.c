/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "output/formats.h"
#include "output/text.h"

static int write_text(const struct mew_output_input *in, const struct mew_output_options *o,
		      struct mew_buffer *out)
{
	int err;

	if (in->report)
		return mew_text_report(in->report, o, out, NULL);
	err = mew_text_cases(in->session, o, out, NULL);
	if (!err && in->session->kind == MEW_SESSION_HEAP)
		err = mew_text_shapes(in->session, o, out);
	return err;
}

const struct mew_output_format mew_output_text = {
	.name = "text",
	.extension = "",
	.summary = "aligned tables for people",
	.write = write_text,
};
