/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h: the events of all threads of a CPU run: the loop's, and those of pools that set-up
 * made. Everything here happens in turns, outside any window.
 */
#ifndef MEW_BENCH_SAMPLER_H
#define MEW_BENCH_SAMPLER_H

#include "bench/run.h"

/* A thread's events were opened, or err (-errno) of attr `failed` says why not. slot: the thread's
 * index in the loop, or MEW_WINDOW_THREADS. */
typedef void (*mew_sampler_fn)(void *arg, const struct mew_events *e, enum mew_thread_kind kind,
			       unsigned slot, int err, uint32_t failed);

/* Open n attrs, disabled, for each thread of the process, and tell fn of each. -errno: the threads
 * cannot be listed. */
int mew_sampler_open(struct mew_run *run, const uint8_t attrs[][MEW_ATTR_BYTES], uint32_t n,
		     mew_sampler_fn fn, void *arg);

/* Close what is open. */
void mew_sampler_close(struct mew_run *run);

/* The dummies are on from now on. */
void mew_sampler_watch(const struct mew_run *run);

/* 0 or -errno. */
int mew_sampler_period(const struct mew_run *run, uint64_t period, uint64_t clock_ns);

/*
 * What a pause pair costs, by the clock and in an ioctl mode; 0: it cannot be done. Wants the rings
 * mapped, so comes after the first plan; no round may have begun, so that what is sampled here lies
 * in no window. Counts are 0 afterwards.
 */
void mew_sampler_calibrate(struct mew_run *run, enum mew_pause_mode mode, uint64_t *ret_clock_ns,
			   uint64_t *ret_ioctl_ns);

#endif
