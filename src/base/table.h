/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An aligned text table: a column for a mark at the left edge, columns two blanks apart, and at the
 * right end the one column that may be long and is shortened to fit. It knows widths and colours,
 * and nothing of what the cells mean.
 *
 * Life: new, then row + its cells, again and again, then render, then free. The first failed
 * allocation sticks and is what render returns.
 */
#ifndef MEW_BASE_TABLE_H
#define MEW_BASE_TABLE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum mew_align {
	MEW_ALIGN_LEFT,
	MEW_ALIGN_RIGHT,
	MEW_ALIGN_POINT, /* right, with the decimal points below each other: `14`, `13.57` */
};

struct mew_column {
	const char *title; /* borrowed for the table's life */
	enum mew_align align;
	/*
	 * 0 = always there. Else the column is optional: 1 comes first when there is room, then 2,
	 * ... Columns of equal worth come and go together. The last column is always there.
	 */
	int worth;
	/* Shown only when a cell is something else than `0`, `0%`, `-` or nothing. */
	bool hide_zero;
};

struct mew_table_style {
	size_t width; /* columns of the terminal; 0 = no limit (a pipe, a file) */
	bool color;
};

struct mew_table;

/* columns is borrowed for the table's life. NULL without memory. free takes NULL. */
struct mew_table *mew_table_new(const struct mew_column *columns, size_t n_columns);
void mew_table_free(struct mew_table *t);

/*
 * Begins a row. mark is ' ', `!` doubtful or regression, `+` better, `?` cannot tell, `x` failed,
 * `-` skipped or missing.
 */
void mew_table_row(struct mew_table *t, char mark);

/* The row's next cell; control characters are escaped. Cells past the last column are dropped. */
void mew_table_cell(struct mew_table *t, const char *text);
void mew_table_cellf(struct mew_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A line as it is between two rows, outside the columns: a heading of the rows that follow. */
void mew_table_section(struct mew_table *t, const char *text);

size_t mew_table_rows(const struct mew_table *t);

/*
 * Appends the header and the rows, with no blanks at line ends. A table without rows has a header
 * only. *ret_n_cut (may be NULL): rows whose last cell lost more than its location. 0 or -ENOMEM.
 */
int mew_table_render(const struct mew_table *t, const struct mew_table_style *style,
		     struct mew_buffer *out, size_t *ret_n_cut);

#endif
