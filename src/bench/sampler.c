/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

static bool is_harness(const struct mew_run *run, int32_t tid)
{
	unsigned i;

	for (i = 0; i < run->n_threads; i++) {
		if (run->threads[i].tid == tid)
			return true;
	}
	return false;
}

/* Threads that set-up made: pools. */
static int open_pool(struct mew_run *run, const uint8_t attrs[][MEW_ATTR_BYTES], uint32_t n,
		     mew_sampler_fn fn, void *arg)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	size_t cap = 0;
	uint32_t failed = 0;
	int err = dir ? 0 : -errno;

	while (!err && (entry = readdir(dir)) != NULL) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
		struct mew_events *e;
		int opened;

		if (tid <= 0 || is_harness(run, tid))
			continue;
		err = MEW_ARRAY_PUSH(run->pool, run->n_pool, cap);
		if (err)
			break;
		e = &run->pool[run->n_pool];
		opened = mew_events_open(e, attrs, n, tid, &failed);
		/* It has ended meanwhile. */
		if (opened == -ESRCH)
			continue;
		run->n_pool++;
		fn(arg, e, MEW_THREAD_POOL, MEW_WINDOW_THREADS, opened, failed);
	}
	if (dir)
		closedir(dir);
	return err;
}

int mew_sampler_open(struct mew_run *run, const uint8_t attrs[][MEW_ATTR_BYTES], uint32_t n,
		     mew_sampler_fn fn, void *arg)
{
	uint32_t failed = 0;
	unsigned i;

	for (i = 0; i < run->n_threads; i++) {
		struct mew_thread *t = &run->threads[i];
		int err;

		/* It has ended without a loop. */
		if (t->tid == 0)
			continue;
		err = mew_events_open(&t->events, attrs, n, t->tid, &failed);
		fn(arg, &t->events, MEW_THREAD_LOOP, i, err, failed);
	}
	return open_pool(run, attrs, n, fn, arg);
}

void mew_sampler_close(struct mew_run *run)
{
	unsigned i;

	for (i = 0; i < run->n_threads; i++)
		mew_events_close(&run->threads[i].events);
	while (run->n_pool > 0)
		mew_events_close(&run->pool[--run->n_pool]);
	free(run->pool);
	run->pool = NULL;
}

void mew_sampler_watch(const struct mew_run *run)
{
	unsigned i;
	size_t j;

	for (i = 0; i < run->n_threads; i++)
		mew_events_watch(&run->threads[i].events);
	for (j = 0; j < run->n_pool; j++)
		mew_events_watch(&run->pool[j]);
}

int mew_sampler_period(const struct mew_run *run, uint64_t period, uint64_t clock_ns)
{
	unsigned i;
	size_t j;
	int err = 0;

	for (i = 0; i < run->n_threads && !err; i++)
		err = mew_events_period(&run->threads[i].events, period, clock_ns);
	for (j = 0; j < run->n_pool && !err; j++)
		err = mew_events_period(&run->pool[j], period, clock_ns);
	return err;
}

static bool can_pause(const struct mew_events *e, enum mew_pause_mode mode)
{
	return mew_events_pause(e, mode, 1) == 0 && mew_events_pause(e, mode, 0) == 0;
}

void mew_sampler_calibrate(struct mew_run *run, enum mew_pause_mode mode, uint64_t *ret_clock_ns,
			   uint64_t *ret_ioctl_ns)
{
	struct mew_thread *own = NULL;
	int32_t tid = gettid();
	unsigned i;
	size_t j;

	for (i = 0; i < run->n_threads; i++) {
		if (run->threads[i].tid == tid)
			own = &run->threads[i];
	}
	if (!own || own->events.n == 0)
		return;
	mew_events_enable(&own->events);
	*ret_clock_ns = mew_pause_pair_ns(own, MEW_PAUSE_BY_CLOCK, MEW_PAUSE_CLOCK);
	*ret_ioctl_ns = 0;
	if (can_pause(&own->events, mode))
		*ret_ioctl_ns = mew_pause_pair_ns(own, MEW_PAUSE_BY_EVENTS, mode);
	mew_events_disable(&own->events);
	mew_events_reset(&own->events);
	/* DISABLE mode left the pool's events enabled. */
	for (j = 0; j < run->n_pool; j++) {
		mew_events_disable(&run->pool[j]);
		mew_events_reset(&run->pool[j]);
	}
}
