/* SPDX-License-Identifier: Apache-2.0 */
/* count.h: what read() of a perf event says of it, by its attr's read_format; and differences. */
#ifndef MEW_SESSION_COUNT_H
#define MEW_SESSION_COUNT_H

#include <linux/perf_event.h>
#include <stdint.h>

/* What read() of an event says; sums, or differences of two readings. What the format has not is 0.
 */
struct mew_count {
	uint64_t count, enabled_ns, running_ns, n_lost;
};

/* 0; -EIO: too few bytes; or the errno of read(). */
int mew_count_read(const struct perf_event_attr *attr, int fd, struct mew_count *ret);

/* Read again: what came since the last reading. Errors as above. */
int mew_count_since(const struct perf_event_attr *attr, int fd, const struct mew_count *last,
		    struct mew_count *ret);

void mew_count_add(struct mew_count *sum, const struct mew_count *part);

#endif
