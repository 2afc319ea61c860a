/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "session/count.h"

int mew_count_read(const struct perf_event_attr *attr, int fd, struct mew_count *ret)
{
	uint64_t v[8] = {0};
	ssize_t got = read(fd, v, sizeof v);
	struct mew_count c = {.count = v[0]};
	size_t n = 1;

	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		c.enabled_ns = v[n++];
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		c.running_ns = v[n++];
	n += !!(attr->read_format & PERF_FORMAT_ID);
	if (attr->read_format & PERF_FORMAT_LOST)
		c.n_lost = v[n];
	if (got < (ssize_t)(n * sizeof *v))
		return got < 0 ? -errno : -EIO;
	*ret = c;
	return 0;
}

int mew_count_since(const struct perf_event_attr *attr, int fd, const struct mew_count *last,
		    struct mew_count *ret)
{
	int err = mew_count_read(attr, fd, ret);

	if (err)
		return err;
	ret->count -= last->count;
	ret->enabled_ns -= last->enabled_ns;
	ret->running_ns -= last->running_ns;
	ret->n_lost -= last->n_lost;
	return 0;
}

void mew_count_add(struct mew_count *sum, const struct mew_count *part)
{
	sum->count += part->count;
	sum->enabled_ns += part->enabled_ns;
	sum->running_ns += part->running_ns;
	sum->n_lost += part->n_lost;
}
