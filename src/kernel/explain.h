/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h: what a failed perf_event_open means to a person. Pure: the facts are the caller's. */
#ifndef MEW_KERNEL_EXPLAIN_H
#define MEW_KERNEL_EXPLAIN_H

#include <stdint.h>

#include "base/error.h"

/* What the kernel shows of itself. */
struct mew_explain_facts {
	int64_t paranoid; /* kernel.perf_event_paranoid; INT64_MIN: cannot be read */
	int has_pmu;      /* the CPU's counters are there */
	int64_t n_files;  /* RLIMIT_NOFILE */
};

void mew_explain_gather(struct mew_explain_facts *ret);

/*
 * One line for err (an errno, of either sign) of opening the event that is shown as name (NULL:
 * cpu-clock:u): what failed, why, and in parentheses what to type. Returns the code, negative.
 */
int mew_explain(int err, const char *name, const struct mew_explain_facts *facts,
		struct mew_error *error);

#endif
