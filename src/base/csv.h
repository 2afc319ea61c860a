/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV as RFC 4180 has it: cells parted by commas, rows ended by CRLF, quotes only where needed and
 * doubled inside. Cells are written left to right into a buffer, whose sticky error is the error.
 */
#ifndef MEW_BASE_CSV_H
#define MEW_BASE_CSV_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct mew_csv {
	struct mew_buffer *out; /* borrowed */
	bool in_row;            /* a cell of the row was written */
};

void mew_csv_init(struct mew_csv *csv, struct mew_buffer *out);

/*
 * A text cell. One that begins with = + - @, a tab or a CR gets a leading ' : spreadsheets would
 * run it as a formula. NULL is an empty cell.
 */
void mew_csv_text(struct mew_csv *csv, const char *text);

/* Number cells: never with a leading '. A double that is not finite is an empty cell. */
void mew_csv_u64(struct mew_csv *csv, uint64_t value);
void mew_csv_double(struct mew_csv *csv, double value);

/* Nothing was measured. */
void mew_csv_empty(struct mew_csv *csv);

/* Ends the row with CRLF. */
void mew_csv_end_row(struct mew_csv *csv);

#endif
