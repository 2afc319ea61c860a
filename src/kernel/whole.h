/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole.h: the events of a program that knows nothing of us: one ring a CPU, inherited by every
 * thread and child, switched on by its exec. Gives the records of all rings in the order of time.
 * Starts no process.
 */
#ifndef MEW_KERNEL_WHOLE_H
#define MEW_KERNEL_WHOLE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/event.h"
#include "kernel/record.h"
#include "kernel/ring.h"

/* Of the stack's copy, ascending; FIRST is the one that the events are opened with. */
#define MEW_WHOLE_SIZES 4
#define MEW_WHOLE_FIRST 1

/* A ring, with its next record as far as it is known. */
struct mew_whole_ring {
	int fd, cpu;
	int size_fds[MEW_WHOLE_SIZES]; /* of resize.h: more events that write here; 0: none */
	int on_fd;                     /* of fd and these, the one that is on; borrowed */
	struct mew_ring ring;
	const struct perf_event_attr *attr; /* of the mew_whole */
	struct mew_record record;
	int pending; /* record was read from the ring and not given to the caller */
};

/* Does not move once it is open: rings point into it. Zeroed: closed. */
struct mew_whole {
	struct perf_event_attr attr;  /* sampling: as the event's, but inherited and without READ */
	struct perf_event_attr dummy; /* inherited too, and without SWITCH records */
	struct mew_whole_ring *rings; /* of each CPU: the sampling event's, then the dummy's */
	size_t n_rings;
	uint32_t sizes[MEW_WHOLE_SIZES]; /* of resize.h; 0: there is none */
	unsigned size;                   /* the one that is on */
	uint64_t n_bad; /* rings that were cut short, records that could not be decoded, and lost
			   ones that are no samples */
};

struct mew_whole_count {
	uint64_t count; /* the event's own count, scaled when it was not always on a counter;
			   children that ended included */
	uint64_t enabled_ns, running_ns; /* summed over CPUs and tasks: time that the event should
					  * have been on a counter, and was. Below 1 % the
					  * difference is that of two events' start and stop */
	uint64_t n_lost; /* samples that found no room, as the kernel counts them; 0 where it does
			    not (before Linux 6.0): count MEW_RECORD_LOST too and take the higher */
};

/* Of the ring of samples that open tries first on each of n_cpus (1 or more): the reader of a
 * program's start is away for tenths of a second, building tables of what it maps. */
size_t mew_whole_ring_bytes(size_t n_cpus);

/*
 * Open and map for process pid, on every online CPU. pid must not have called exec yet (the caller
 * holds it back); everything begins there. Rings are made smaller while the memory limit is in the
 * way. 0; -errno with its explanation, nothing open.
 */
int mew_whole_open(struct mew_whole *w, const struct mew_event *event, int pid,
		   struct mew_error *error);
/* Takes NULL and what open left half done. */
void mew_whole_close(struct mew_whole *w);

/* Descriptor i < n_rings, for poll: readable when its ring wants draining, hung up when all tasks
 * are gone. Borrowed. */
int mew_whole_fd(const struct mew_whole *w, size_t i);

/*
 * Give what has come since, ordered by time over all rings, to fn; give the room back. Records of
 * the last millisecond wait for the next drain, since an older one may still be on its way from
 * another CPU (one that comes later than that is given late); final: none waits. Not 0 from fn ends
 * the drain and is returned; else 0.
 */
typedef int (*mew_whole_fn)(void *arg, const struct mew_record *record);
int mew_whole_drain(struct mew_whole *w, int final, mew_whole_fn fn, void *arg);

/* The sampling event's totals, those of its other sizes included. 0, -errno. */
int mew_whole_read(const struct mew_whole *w, struct mew_whole_count *ret);

/* count as it would be had the event been on a counter all the time it was enabled (99 % of it is
 * all). 0 when it never ran. */
uint64_t mew_whole_scale(uint64_t count, uint64_t enabled_ns, uint64_t running_ns);

#endif
