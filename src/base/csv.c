/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/csv.h"
#include "base/number.h"

#include <inttypes.h>
#include <string.h>

void mew_csv_init(struct mew_csv *csv, struct mew_buffer *out)
{
	*csv = (struct mew_csv){.out = out};
}

static void next_cell(struct mew_csv *csv)
{
	if (csv->in_row)
		mew_buffer_putc(csv->out, ',');
	csv->in_row = true;
}

void mew_csv_text(struct mew_csv *csv, const char *text)
{
	bool formula, quoted;

	next_cell(csv);
	if (!text || !*text)
		return;
	formula = strchr("=+-@\t\r", *text);
	quoted = text[strcspn(text, ",\"\r\n")] != '\0';
	if (quoted)
		mew_buffer_putc(csv->out, '"');
	if (formula)
		mew_buffer_putc(csv->out, '\'');
	for (; *text; text++) {
		if (*text == '"')
			mew_buffer_putc(csv->out, '"');
		mew_buffer_putc(csv->out, *text);
	}
	if (quoted)
		mew_buffer_putc(csv->out, '"');
}

void mew_csv_u64(struct mew_csv *csv, uint64_t value)
{
	next_cell(csv);
	mew_buffer_printf(csv->out, "%" PRIu64, value);
}

void mew_csv_double(struct mew_csv *csv, double value)
{
	char number[MEW_NUMBER_SIZE];

	next_cell(csv);
	mew_buffer_puts(csv->out, mew_format_csv_double(number, sizeof(number), value));
}

void mew_csv_empty(struct mew_csv *csv)
{
	next_cell(csv);
}

void mew_csv_end_row(struct mew_csv *csv)
{
	mew_buffer_puts(csv->out, "\r\n");
	csv->in_row = false;
}
