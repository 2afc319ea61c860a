/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/pmu.h"
#include "kernel/sysctl.h"

/* The smallest rings that the memory limit may lead to: two records of the largest size. */
#define RING_BYTES_MIN (128u * 1024u)
/* All rings of samples together: the usual RLIMIT_MEMLOCK. */
#define RINGS_BYTES (8u * 1024u * 1024u)
#define DUMMY_BYTES_MIN (8u * 1024u)

#define CPUS_MAX 8192

/* A CPU takes a record's time first and shows the record some microseconds later. */
#define HOLD_NS 1000000

struct opening {
	struct mew_whole *w;
	const char *name;
	int pid;
	struct mew_error *error;
	int explained; /* error tells what failed */
	size_t ring_bytes;
};

static int open_ring(struct opening *o, const struct perf_event_attr *attr, int cpu,
		     size_t data_bytes, size_t min_bytes)
{
	struct mew_whole_ring *r = &o->w->rings[o->w->n_rings];

	r->fd = mew_event_open(attr, o->pid, cpu, -1);
	if (r->fd < 0) {
		mew_event_explain(r->fd, o->name, o->error);
		return r->fd;
	}
	r->attr = attr;
	r->cpu = cpu;
	r->on_fd = r->fd;
	o->w->n_rings++;
	return mew_ring_open_fitting(&r->ring, r->fd, data_bytes, min_bytes, o->error);
}

size_t mew_whole_ring_bytes(size_t n_cpus)
{
	size_t bytes = MEW_RING_BYTES;

	while (2 * bytes * n_cpus <= RINGS_BYTES)
		bytes *= 2;
	return bytes;
}

static int open_cpu(struct opening *o, int cpu)
{
	struct mew_whole *w = o->w;
	void *more = realloc(w->rings, (w->n_rings + 2) * sizeof(*w->rings));
	int rc;

	if (!more)
		return mew_error_errno(o->error, -ENOMEM, "cannot open events on CPU %d", cpu);
	w->rings = more;
	memset(w->rings + w->n_rings, 0, 2 * sizeof(*w->rings));
	rc = open_ring(o, &w->attr, cpu, o->ring_bytes,
		       o->ring_bytes > MEW_RING_BYTES ? o->ring_bytes : RING_BYTES_MIN);
	/* The dummy's records have a ring of their own: samples come in floods, and without the
	 * maps and forks the rest cannot be told apart. */
	return rc ? rc : open_ring(o, &w->dummy, cpu, MEW_RING_DUMMY_BYTES, DUMMY_BYTES_MIN);
}

static int open_cpus(void *arg, unsigned from, unsigned to)
{
	struct opening *o = arg;
	int rc = 0;

	if (to >= CPUS_MAX)
		return -EINVAL;
	for (unsigned cpu = from; cpu <= to && !rc; cpu++)
		rc = open_cpu(o, (int)cpu);
	o->explained = rc != 0;
	return rc;
}

static int open_all(struct mew_whole *w, const struct mew_event *event, int pid, size_t ring_bytes,
		    struct mew_error *error)
{
	struct opening o = {w, event->name, pid, error, 0, ring_bytes};
	char online[4096];
	int rc;

	memset(w, 0, sizeof(*w));
	w->attr = event->attr;
	w->dummy = event->dummy;
	w->attr.inherit = w->dummy.inherit = 1;
	w->attr.enable_on_exec = w->dummy.enable_on_exec = 1;
	/* A wakeup costs the program two switches where the reader gets its CPU: far apart, and
	 * still with most of the ring free. Nobody asks when a thread was off the CPU. */
	w->attr.wakeup_watermark = (uint32_t)(ring_bytes / 8);
	w->dummy.context_switch = 0;
	w->dummy.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	/* Refused together with inherit before Linux 6.12. */
	w->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;

	rc = mew_sysfs_read("/sys/devices/system/cpu/online", online, sizeof(online));
	if (rc < 0)
		return mew_error_errno(error, rc, "cannot read the list of online CPUs");
	rc = mew_ranges_parse(online, open_cpus, &o);
	if (rc && !o.explained)
		mew_error_set(error, rc, "the list of online CPUs, '%.40s', is not known", online);
	if (rc)
		mew_whole_close(w);
	return rc;
}

int mew_whole_open(struct mew_whole *w, const struct mew_event *event, int pid,
		   struct mew_error *error)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t bytes = mew_whole_ring_bytes(n_cpus > 0 ? (size_t)n_cpus : 1);
	int rc;

	/* All alike: the first CPU's must not take what the others need. */
	while ((rc = open_all(w, event, pid, bytes, error)) == -EPERM && bytes > MEW_RING_BYTES)
		bytes /= 2;
	return rc;
}

void mew_whole_close(struct mew_whole *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_rings; i++) {
		mew_ring_close(&w->rings[i].ring);
		for (unsigned size = 0; size < MEW_WHOLE_SIZES; size++)
			if (w->rings[i].size_fds[size] > 0)
				close(w->rings[i].size_fds[size]);
		close(w->rings[i].fd);
	}
	free(w->rings);
	memset(w, 0, sizeof(*w));
}

int mew_whole_fd(const struct mew_whole *w, size_t i)
{
	return w->rings[i].fd;
}

/* See the next record of a ring, if there is one. */
static void look(struct mew_whole *w, struct mew_whole_ring *r)
{
	const struct perf_event_header *header;
	int bad = 0;

	while (!r->pending && (header = mew_ring_next(&r->ring, &bad))) {
		if (mew_record_decode(r->attr, header, &r->record))
			w->n_bad++;
		else if (r->record.type == MEW_RECORD_LOST && r->attr == &w->dummy)
			w->n_bad += r->record.n_lost; /* no samples, but maps and tasks */
		else
			r->pending = 1;
	}
	w->n_bad += (unsigned)bad;
}

/* The ring whose next record is the oldest, or NULL. */
static struct mew_whole_ring *oldest(struct mew_whole *w)
{
	struct mew_whole_ring *best = NULL;

	for (size_t i = 0; i < w->n_rings; i++) {
		struct mew_whole_ring *r = &w->rings[i];

		/* Of one moment the dummy's comes first: a map before its samples. */
		if (r->pending &&
		    (!best || r->record.time_ns < best->record.time_ns ||
		     (r->record.time_ns == best->record.time_ns && r->attr == &w->dummy)))
			best = r;
	}
	return best;
}

int mew_whole_drain(struct mew_whole *w, int final, mew_whole_fn fn, void *arg)
{
	uint64_t until = final ? UINT64_MAX : mew_monotonic_ns() - HOLD_NS;
	struct mew_whole_ring *r;
	int rc = 0;

	for (size_t i = 0; i < w->n_rings; i++)
		look(w, &w->rings[i]);
	while (!rc && (r = oldest(w)) && r->record.time_ns <= until) {
		rc = fn(arg, &r->record);
		r->pending = 0;
		look(w, r);
	}
	for (size_t i = 0; i < w->n_rings; i++) {
		if (w->rings[i].pending)
			mew_ring_unread(&w->rings[i].ring);
		w->rings[i].pending = 0;
		mew_ring_consume(&w->rings[i].ring);
	}
	return rc;
}

uint64_t mew_whole_scale(uint64_t count, uint64_t enabled_ns, uint64_t running_ns)
{
	unsigned __int128 scaled;

	if (!running_ns)
		return 0;
	if (running_ns >= enabled_ns - enabled_ns / 100)
		return count;
	scaled = (unsigned __int128)count * enabled_ns / running_ns;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* value, enabled, running, and lost or 0. */
static int read_values(int fd, uint64_t values[4])
{
	ssize_t n;

	values[3] = 0;
	n = read(fd, values, 4 * sizeof(*values));
	if (n < 0)
		return -errno;
	return n < (ssize_t)(3 * sizeof(*values)) ? -EIO : 0;
}

/* The sum over the events that take turns. */
static int read_sampling(const struct mew_whole_ring *r, uint64_t sum[4])
{
	uint64_t more[4];
	int rc = read_values(r->fd, sum);

	for (unsigned size = 0; size < MEW_WHOLE_SIZES && !rc; size++) {
		if (r->size_fds[size] <= 0)
			continue;
		rc = read_values(r->size_fds[size], more);
		for (unsigned i = 0; i < 4 && !rc; i++)
			sum[i] += more[i];
	}
	return rc;
}

int mew_whole_read(const struct mew_whole *w, struct mew_whole_count *ret)
{
	struct mew_whole_count sum = {0, 0, 0, 0};
	uint64_t sampling[4], dummy[4];

	for (size_t i = 0; i + 1 < w->n_rings; i += 2) {
		int rc = read_sampling(&w->rings[i], sampling);

		if (!rc)
			rc = read_values(w->rings[i + 1].fd, dummy);
		if (rc)
			return rc;
		/* The time enabled of a task's event of one CPU runs on other CPUs too: it says
		 * nothing. The dummy shares its counter with nobody, so the time it ran is the
		 * time that the sampling event should have. */
		sum.count += mew_whole_scale(sampling[0], dummy[2], sampling[2]);
		sum.enabled_ns += dummy[2];
		sum.running_ns += sampling[2];
		sum.n_lost += sampling[3];
	}
	*ret = sum;
	return 0;
}
