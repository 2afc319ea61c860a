/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/cell.h"

/* A share with a wider interval than this carries it. */
#define WIDE 0.05
/* Whole percents, whatever the samples. */
#define COARSE 0.01

const char *mew_cell_time(struct mew_cell *c, double seconds)
{
	return mew_format_time(c->text, sizeof(c->text), seconds);
}

const char *mew_cell_bytes(struct mew_cell *c, double bytes)
{
	return mew_format_bytes(c->text, sizeof(c->text), bytes);
}

const char *mew_cell_count(struct mew_cell *c, double count)
{
	return mew_format_count(c->text, sizeof(c->text), count);
}

const char *mew_cell_u64(struct mew_cell *c, uint64_t count)
{
	snprintf(c->text, sizeof(c->text), "%" PRIu64, count);
	return c->text;
}

const char *mew_cell_rate(struct mew_cell *c, double per_second)
{
	mew_format_rate(c->text, sizeof(c->text), per_second, "/s");
	return c->text;
}

const char *mew_cell_ratio(struct mew_cell *c, double ratio)
{
	return mew_format_ratio(c->text, sizeof(c->text), ratio);
}

const char *mew_cell_percent(struct mew_cell *c, double share)
{
	return mew_format_percent(c->text, sizeof(c->text), share, COARSE);
}

const char *mew_cell_spread(struct mew_cell *c, double share)
{
	return mew_format_percent(c->text, sizeof(c->text), share, 0);
}

const char *mew_cell_sampled(struct mew_cell *c, double share, double half_width)
{
	char half[MEW_NUMBER_SIZE];
	size_t len;

	mew_format_percent(c->text, sizeof(c->text), share, half_width);
	if (!(half_width > WIDE) || !(share >= 0))
		return c->text;
	len = strlen(c->text) - 1; /* without its % */
	mew_format_percent(half, sizeof(half), half_width, COARSE);
	snprintf(c->text + len, sizeof(c->text) - len, "+-%s", half);
	return c->text;
}
