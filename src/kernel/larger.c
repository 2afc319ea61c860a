/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/larger.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define COPY_MAX 65528u /* PERF_SAMPLE_STACK_USER has 16 bits: a multiple of 8 */
#define RECORDS_MIN 16
#define RECORD_REST_BYTES 512u /* of a sample without its stack, and more */
#define GROWTH 4

uint32_t mew_larger_bytes(uint32_t bytes, uint64_t ring_bytes)
{
	uint64_t room = ring_bytes / RECORDS_MIN, next = (uint64_t)bytes * GROWTH;

	if (room <= RECORD_REST_BYTES)
		return 0;
	room -= RECORD_REST_BYTES;
	if (next > room)
		next = room;
	if (next > COPY_MAX)
		next = COPY_MAX;
	next -= next % 8;
	/* half as much again, or it is not worth a step */
	return next >= bytes + bytes / 2 ? (uint32_t)next : 0;
}

/* The smallest ring of samples. */
static uint64_t ring_bytes(const struct mew_whole *w)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < w->n_rings; i += 2)
		if (w->rings[i].ring.size < least)
			least = w->rings[i].ring.size;
	return w->n_rings ? least : 0;
}

static void close_step(struct mew_whole *w, unsigned step)
{
	for (size_t i = 0; i < w->n_rings; i += 2) {
		if (w->rings[i].larger_fds[step] > 0)
			close(w->rings[i].larger_fds[step]);
		w->rings[i].larger_fds[step] = 0;
	}
}

static int open_step(struct mew_whole *w, unsigned step, const struct perf_event_attr *attr,
		     int pid)
{
	for (size_t i = 0; i < w->n_rings; i += 2) {
		int fd = mew_event_open(attr, pid, w->rings[i].cpu, -1);

		if (fd < 0)
			return fd;
		w->rings[i].larger_fds[step] = fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, w->rings[i].fd))
			return -1;
	}
	return 0;
}

/* Others need descriptors too. */
static unsigned steps_max(const struct mew_whole *w)
{
	struct rlimit limit;
	size_t n_cpus = w->n_rings / 2;

	if (!n_cpus || getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_cur / 4 >= n_cpus * MEW_WHOLE_STEPS)
		return MEW_WHOLE_STEPS;
	return (unsigned)(limit.rlim_cur / 4 / n_cpus);
}

unsigned mew_larger_open(struct mew_whole *w, int pid)
{
	struct perf_event_attr attr = w->attr;
	unsigned max = steps_max(w);

	attr.disabled = 1;
	attr.enable_on_exec = 0;
	for (w->n_steps = 0; w->n_steps < max; w->n_steps++) {
		attr.sample_stack_user = mew_larger_bytes(attr.sample_stack_user, ring_bytes(w));
		if (!attr.sample_stack_user)
			break;
		if (open_step(w, w->n_steps, &attr, pid)) {
			close_step(w, w->n_steps);
			break;
		}
		w->step_bytes[w->n_steps] = attr.sample_stack_user;
	}
	return w->n_steps;
}

/* 0, or -errno: the event that was on is so still. */
static int step_ring(struct mew_whole_ring *r, int fd)
{
	int err;

	/* In this order a counter is free for the second one. */
	ioctl(r->on_fd, PERF_EVENT_IOC_DISABLE, 0);
	if (!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		r->on_fd = fd;
		return 0;
	}
	err = -errno;
	ioctl(r->on_fd, PERF_EVENT_IOC_ENABLE, 0);
	return err;
}

uint32_t mew_larger_step(struct mew_whole *w)
{
	unsigned step = w->step, n_taken = 0;

	if (step >= w->n_steps)
		return 0;
	for (size_t i = 0; i < w->n_rings; i += 2)
		n_taken += !step_ring(&w->rings[i], w->rings[i].larger_fds[step]);
	w->step++;
	return n_taken ? w->step_bytes[step] : 0;
}
