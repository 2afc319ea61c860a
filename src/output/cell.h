/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h: figures as cells of a text table: `-` is not measured. Each returns a text that is good
 * until the next call with the same cell.
 */
#ifndef MEW_OUTPUT_CELL_H
#define MEW_OUTPUT_CELL_H

#include <stdint.h>

#include "base/number.h"

struct mew_cell {
	char text[3 * MEW_NUMBER_SIZE];
};

const char *mew_cell_time(struct mew_cell *c, double seconds);
const char *mew_cell_bytes(struct mew_cell *c, double bytes);
const char *mew_cell_count(struct mew_cell *c, double count);
const char *mew_cell_u64(struct mew_cell *c, uint64_t count);
/* `950 /s`, `12.95 M/s` */
const char *mew_cell_rate(struct mew_cell *c, double per_second);
const char *mew_cell_ratio(struct mew_cell *c, double ratio);

/* Whole percents. */
const char *mew_cell_percent(struct mew_cell *c, double share);
/* One decimal: the half width of an interval. */
const char *mew_cell_spread(struct mew_cell *c, double share);
/* `58%`, `58.1%` when the samples bear it, `60+-30%` when they hardly bear anything. */
const char *mew_cell_sampled(struct mew_cell *c, double share, double half_width);

#endif
