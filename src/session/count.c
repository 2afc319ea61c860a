/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "session/count.h"

int mew_count_read(const struct perf_event_attr *attr, int fd, struct mew_count *ret)
{
	uint64_t v[8] = {0};
	size_t n = 1;
	ssize_t got;

	got = read(fd, v, sizeof v);
	*ret = (struct mew_count){.count = v[0]};
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ret->enabled_ns = v[n++];
	if (attr->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ret->running_ns = v[n++];
	n += !!(attr->read_format & PERF_FORMAT_ID);
	if (attr->read_format & PERF_FORMAT_LOST)
		ret->n_lost = v[n];
	if (got < (ssize_t)(n * sizeof *v))
		return got < 0 ? -errno : -EIO;
	return 0;
}

int mew_count_since(const struct perf_event_attr *attr, int fd, const struct mew_count *last,
		    struct mew_count *ret)
{
	int err = mew_count_read(attr, fd, ret);

	ret->count -= last->count;
	ret->enabled_ns -= last->enabled_ns;
	ret->running_ns -= last->running_ns;
	ret->n_lost -= last->n_lost;
	return err;
}

void mew_count_add(struct mew_count *sum, const struct mew_count *part)
{
	sum->count += part->count;
	sum->enabled_ns += part->enabled_ns;
	sum->running_ns += part->running_ns;
	sum->n_lost += part->n_lost;
}
