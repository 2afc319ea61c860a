/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "output/formats.h"
#include "output/output.h"

const struct mew_output_format *const mew_output_formats[] = {
	&mew_output_text,
	&mew_output_csv,
	NULL,
};

const struct mew_output_format *mew_output_format_by_name(const char *name)
{
	size_t i;

	for (i = 0; mew_output_formats[i]; i++)
		if (!strcmp(mew_output_formats[i]->name, name))
			return mew_output_formats[i];
	return NULL;
}

static int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

const struct mew_output_format *mew_output_format_by_path(const char *path)
{
	const char *base = mew_base_name(path);
	size_t i;

	for (i = 0; mew_output_formats[i]; i++)
		if (*mew_output_formats[i]->extension &&
		    ends_with(base, mew_output_formats[i]->extension))
			return mew_output_formats[i];
	if (!strchr(base, '.') || ends_with(base, ".txt"))
		return &mew_output_text;
	return NULL;
}
