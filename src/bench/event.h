/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h: the perf events of one thread of this process: opened from attrs that mew-perf prepared,
 * switched by ioctl. Knows nothing of what they count. No allocation.
 */
#ifndef MEW_BENCH_EVENT_H
#define MEW_BENCH_EVENT_H

#include <stdint.h>

#include "channel/message.h"

#define MEW_EVENTS_MAX 3

struct mew_events {
	int32_t tid;
	uint32_t n;              /* descriptors, 0: none open */
	int fds[MEW_EVENTS_MAX]; /* in RUN's order: sampling, dummy, companion */
};

/*
 * Open n attrs for thread tid of this process, on any CPU, close-on-exec. All or none: -errno, and
 * *ret_failed is the index of the one that failed.
 */
int mew_events_open(struct mew_events *e, const uint8_t attrs[][MEW_ATTR_BYTES], uint32_t n,
		    int32_t tid, uint32_t *ret_failed);
void mew_events_close(struct mew_events *e);

/* The dummy: on for the rest of its life. */
void mew_events_watch(const struct mew_events *e);
/* Sampling event and companion. */
void mew_events_enable(const struct mew_events *e);
void mew_events_disable(const struct mew_events *e);
/* Their counts are 0 again. */
void mew_events_reset(const struct mew_events *e);
/* The sampling event's period, and the companion's in ns; each begins anew. 0: leave it. 0 or
 * -errno. */
int mew_events_period(const struct mew_events *e, uint64_t period, uint64_t clock_ns);
/* Pause (on 1) or resume in mode OUTPUT or DISABLE; nothing in mode CLOCK. 0 or -errno. */
int mew_events_pause(const struct mew_events *e, enum mew_pause_mode mode, int on);

#endif
