/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kernel/cost.h"
#include "kernel/rate.h"
#include "kernel/ring.h"

#define PAIRS 7
#define SPIN_S 7e-3
#define PERIOD_NS 100000

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* By count: the same work in both turns. Returns what it took. */
static double spin(unsigned long n)
{
	double from = now_s();

	for (unsigned long i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i));
	return now_s() - from;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double mew_event_tick_cost(const struct mew_event *event)
{
	struct perf_event_attr attr = event->attr;
	unsigned long n = 1000000;
	double cost[PAIRS], took;
	struct mew_ring ring = {0};
	int fd;

	attr.sample_period = event->kind == MEW_EVENT_CLOCK
				     ? PERIOD_NS
				     : mew_rate_period(event->rate_hz, PERIOD_NS / 1e9);
	fd = mew_event_open(&attr, 0, -1, -1);
	if (fd < 0)
		return NAN;
	if (mew_ring_open(&ring, fd, 512u << 10, NULL)) {
		close(fd);
		return NAN;
	}
	took = spin(n);
	n = (unsigned long)((double)n * SPIN_S / (took > 1e-5 ? took : 1e-5));
	for (int i = 0; i < PAIRS; i++) {
		double plain = spin(n), sampled;
		int bad;

		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		sampled = spin(n);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		while (mew_ring_next(&ring, &bad))
			;
		mew_ring_consume(&ring);
		cost[i] = (sampled - plain) / (sampled / (PERIOD_NS / 1e9));
	}
	mew_ring_close(&ring);
	close(fd);
	qsort(cost, PAIRS, sizeof *cost, by_value);
	return cost[PAIRS / 2] > 0 ? cost[PAIRS / 2] : 0;
}
