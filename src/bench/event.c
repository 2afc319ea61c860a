/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SAMPLING, DUMMY, COMPANION };

int mew_events_open(struct mew_events *e, const uint8_t attrs[][MEW_ATTR_BYTES], uint32_t n,
		    int32_t tid, uint32_t *ret_failed)
{
	uint32_t i;
	int err;

	e->tid = tid;
	e->n = 0;
	for (i = 0; i < n; i++) {
		long fd = syscall(SYS_perf_event_open, attrs[i], tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0) {
			err = -errno;
			mew_events_close(e);
			*ret_failed = i;
			return err;
		}
		e->fds[e->n++] = (int)fd;
	}
	return 0;
}

void mew_events_close(struct mew_events *e)
{
	while (e->n > 0)
		close(e->fds[--e->n]);
}

void mew_events_watch(const struct mew_events *e)
{
	if (e->n > DUMMY)
		ioctl(e->fds[DUMMY], PERF_EVENT_IOC_ENABLE, 0);
}

/* The companion is switched outside the sampling event's span, so that it never counts less. */
void mew_events_enable(const struct mew_events *e)
{
	if (e->n > COMPANION)
		ioctl(e->fds[COMPANION], PERF_EVENT_IOC_ENABLE, 0);
	if (e->n > SAMPLING)
		ioctl(e->fds[SAMPLING], PERF_EVENT_IOC_ENABLE, 0);
}

void mew_events_disable(const struct mew_events *e)
{
	if (e->n > SAMPLING)
		ioctl(e->fds[SAMPLING], PERF_EVENT_IOC_DISABLE, 0);
	if (e->n > COMPANION)
		ioctl(e->fds[COMPANION], PERF_EVENT_IOC_DISABLE, 0);
}

void mew_events_reset(const struct mew_events *e)
{
	if (e->n > SAMPLING)
		ioctl(e->fds[SAMPLING], PERF_EVENT_IOC_RESET, 0);
	if (e->n > COMPANION)
		ioctl(e->fds[COMPANION], PERF_EVENT_IOC_RESET, 0);
}

int mew_events_period(const struct mew_events *e, uint64_t period, uint64_t clock_ns)
{
	if (e->n > SAMPLING && period &&
	    ioctl(e->fds[SAMPLING], PERF_EVENT_IOC_PERIOD, &period) != 0)
		return -errno;
	if (e->n > COMPANION && clock_ns &&
	    ioctl(e->fds[COMPANION], PERF_EVENT_IOC_PERIOD, &clock_ns) != 0)
		return -errno;
	return 0;
}

int mew_events_pause(const struct mew_events *e, enum mew_pause_mode mode, int on)
{
	if (e->n == 0 || (mode != MEW_PAUSE_OUTPUT && mode != MEW_PAUSE_DISABLE))
		return 0;
	if (mode == MEW_PAUSE_OUTPUT) {
		if (ioctl(e->fds[SAMPLING], PERF_EVENT_IOC_PAUSE_OUTPUT, on) != 0)
			return -errno;
		return 0;
	}
	if (on)
		mew_events_disable(e);
	else
		mew_events_enable(e);
	return 0;
}
