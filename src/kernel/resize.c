/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/resize.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define COPY_MAX 65528u /* PERF_SAMPLE_STACK_USER has 16 bits: a multiple of 8 */
#define RECORDS_MIN 16
#define GROWTH 4

uint32_t mew_resize_larger(uint32_t bytes, uint64_t ring_bytes, uint32_t rest_bytes)
{
	uint64_t room = ring_bytes / RECORDS_MIN, next = (uint64_t)bytes * GROWTH;

	if (room <= rest_bytes)
		return 0;
	room -= rest_bytes;
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

static void close_size(struct mew_whole *w, unsigned i)
{
	w->sizes[i] = 0;
	for (size_t at = 0; at < w->n_rings; at += 2) {
		if (w->rings[at].size_fds[i] > 0)
			close(w->rings[at].size_fds[i]);
		w->rings[at].size_fds[i] = 0;
	}
}

/* 1: it is there. */
static int open_size(struct mew_whole *w, unsigned i, uint32_t bytes, int pid)
{
	struct perf_event_attr attr = w->attr;

	attr.disabled = 1;
	attr.enable_on_exec = 0;
	attr.sample_stack_user = w->sizes[i] = bytes;
	for (size_t at = 0; at < w->n_rings; at += 2) {
		struct mew_whole_ring *r = &w->rings[at];

		r->size_fds[i] = mew_event_open(&attr, pid, r->cpu, -1);
		if (r->size_fds[i] < 0 || ioctl(r->size_fds[i], PERF_EVENT_IOC_SET_OUTPUT, r->fd)) {
			close_size(w, i);
			return 0;
		}
	}
	return 1;
}

/* How many more a CPU: others need descriptors too. */
static unsigned more_max(const struct mew_whole *w)
{
	struct rlimit limit;
	size_t n_cpus = w->n_rings / 2, max;

	if (!n_cpus || getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	max = limit.rlim_cur / 4 / n_cpus;
	return max < MEW_WHOLE_SIZES - 1 ? (unsigned)max : MEW_WHOLE_SIZES - 1;
}

unsigned mew_resize_open(struct mew_whole *w, int pid)
{
	uint32_t first = w->attr.sample_stack_user, bytes = first;
	unsigned max = more_max(w), n = 0;

	while (n < max && MEW_WHOLE_FIRST + n + 1 < MEW_WHOLE_SIZES) {
		bytes = mew_resize_larger(bytes, ring_bytes(w), mew_record_rest_bytes(&w->attr));
		if (!bytes || !open_size(w, MEW_WHOLE_FIRST + n + 1, bytes, pid))
			break;
		n++;
	}
	/* From it the way must lead back. */
	if (n && n < max && first > MEW_RESIZE_SMALL)
		open_size(w, 0, MEW_RESIZE_SMALL, pid);
	w->sizes[MEW_WHOLE_FIRST] = first;
	w->size = MEW_WHOLE_FIRST;
	return n;
}

/* 0, or -errno: the event that was on is so still. */
static int switch_ring(struct mew_whole_ring *r, int fd)
{
	int err;

	if (r->on_fd == fd)
		return 0;
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

static uint32_t switch_to(struct mew_whole *w, unsigned i)
{
	unsigned n_taken = 0;

	if (i >= MEW_WHOLE_SIZES || !w->sizes[i])
		return 0;
	for (size_t at = 0; at < w->n_rings; at += 2) {
		struct mew_whole_ring *r = &w->rings[at];

		n_taken += !switch_ring(r, i == MEW_WHOLE_FIRST ? r->fd : r->size_fds[i]);
	}
	if (!n_taken)
		return 0;
	w->size = i;
	return w->sizes[i];
}

uint32_t mew_resize_up(struct mew_whole *w)
{
	return switch_to(w, w->size + 1);
}

uint32_t mew_resize_down(struct mew_whole *w)
{
	return w->size ? switch_to(w, w->size - 1) : 0;
}
