/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/rate.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/event.h"

#define SPIN_NS 10000000
#define SPIN_WORDS (1u << 19) /* 4 MiB */
#define PERIOD_MAX (1ull << 40)

static uint64_t spin(uint64_t *words)
{
	uint64_t random = 88172645463325252u, sum = 0, until = mew_monotonic_ns() + SPIN_NS;

	do {
		for (int i = 0; i < 1000; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			sum += words[random % SPIN_WORDS];
			if (random & 1u << 20)
				words[random >> 32 & (SPIN_WORDS - 1)] = sum;
		}
	} while (mew_monotonic_ns() < until);
	return sum;
}

int mew_rate_measure(const struct perf_event_attr *what, double *ret_hz)
{
	struct perf_event_attr attr = *what;
	struct {
		uint64_t count, enabled_ns, running_ns;
	} got = {0, 0, 0};
	uint64_t *words = calloc(SPIN_WORDS, sizeof(*words));
	volatile uint64_t sink;
	int fd, rc = 0;

	if (!words)
		return -ENOMEM;
	attr.size = sizeof(attr);
	attr.disabled = 1;
	attr.sample_period = 0;
	attr.precise_ip = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = mew_event_open(&attr, 0, -1, -1);
	if (fd < 0) {
		free(words);
		return fd;
	}
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		rc = -errno;
	sink = spin(words);
	(void)sink;
	if (!rc && read(fd, &got, sizeof(got)) != (ssize_t)sizeof(got))
		rc = -EIO;
	close(fd);
	free(words);
	if (rc)
		return rc;
	*ret_hz = got.running_ns ? (double)got.count * 1e9 / (double)got.running_ns : 0;
	return 0;
}

static int is_prime(uint64_t n)
{
	if (n % 2 == 0)
		return n == 2;
	for (uint64_t d = 3; d * d <= n; d += 2) {
		if (n % d == 0)
			return 0;
	}
	return n > 1;
}

uint64_t mew_rate_period(double rate_hz, double interval_s)
{
	double wanted = rate_hz * interval_s;
	uint64_t n;

	if (!(wanted >= 2))
		return 1;
	n = wanted < (double)PERIOD_MAX ? (uint64_t)wanted : PERIOD_MAX;
	while (!is_prime(n))
		n++;
	return n;
}
