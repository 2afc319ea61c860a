/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h: the join of a CPU and a heap session, case by case and function by function, with the
 * allocator tax (DESIGN.md part 3). Either session may be NULL: its columns are then NAN. Pure.
 *
 * Frames at or inside an allocator's entry point get no row: their CPU time is the tax of the first
 * caller outside the allocator and outside wrappers; that caller also gets the allocations, bytes
 * and peak. SELF + TAX over all rows is the whole; allocations, bytes and peak add up to the
 * case's.
 */
#ifndef MEW_PROFILE_REPORT_H
#define MEW_PROFILE_REPORT_H

#include "profile/profile.h"

struct mew_report_row {
	const char *name, *file, *module; /* borrowed from the sessions */
	uint32_t line;
	double self_s, tax_s, total_s;             /* of the sampled loop; NAN: no CPU session */
	double self_share, tax_share, total_share; /* of the case's user time */
	double allocations, bytes;                 /* per iteration; NAN: no heap session */
	double peak_bytes, peak_share, held_bytes;
};

struct mew_report_case {
	const char *key, *label;
	const struct mew_pcase *cpu, *heap; /* NULL: that session has no such case */
	struct mew_report_row *rows;        /* by self + tax, then bytes, total, name; no ties */
	size_t n_rows;
	struct mew_report_row all; /* the sums */
};

struct mew_report {
	struct mew_report_case *cases;
	size_t n_cases;
	const struct mew_session *cpu, *heap; /* borrowed; NULL: none */
};

/* NULL: no memory. The sessions must outlive it. Cases are paired by key and label, in the order of
 * cpu, then what heap has more. */
struct mew_report *mew_report_new(const struct mew_session *cpu, const struct mew_session *heap);
void mew_report_free(struct mew_report *r);

/* Takes out the cases that keep says 0 to. */
void mew_report_keep(struct mew_report *r, int (*keep)(void *arg, const struct mew_report_case *c),
		     void *arg);

enum mew_report_sort {
	MEW_SORT_BLAME /* self + tax */,
	MEW_SORT_SELF,
	MEW_SORT_TAX,
	MEW_SORT_TOTAL,
	MEW_SORT_ALLOCATIONS,
	MEW_SORT_BYTES,
	MEW_SORT_PEAK,
	MEW_SORT_HELD,
	MEW_SORT_NAME
};
/* "blame", "self", "tax", "total", "allocs", "bytes", "peak", "held", "name"; NULL: no such. */
const char *mew_report_sort_word(enum mew_report_sort by);
int mew_report_sort_parse(const char *word, enum mew_report_sort *ret); /* 0 or -EINVAL */
void mew_report_sort(struct mew_report *r, enum mew_report_sort by);

#endif
