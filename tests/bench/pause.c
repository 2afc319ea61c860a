/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pause costs: a case of nothing but pauses, one that allocates inside of them, and
 *
 *	pause kernel clock|output|disable
 *
 * prints the ns of two readings of the clock, or of a pair of ioctls on a cpu-clock event of this
 * thread: the median over batches.
 */
#include "config.h"

#include <mew/mew.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/event.h"

#define PAIRS 100 /* of an iteration, and of a batch */
#define BATCHES 25
#define HELD 1000
#define PAIRS_INSIDE 10000
#define ITERATIONS_MAX 1000
#define PERIOD_NS 10000000 /* ticks are to be rare */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The counter says what a pair takes by the clock: a plain run takes the pauses out of the rest. */
MEW_BENCHMARK(pairs, state)
{
	uint64_t sum_ns = 0;

	MEW_LOOP(state) {
		uint64_t begin_ns = now_ns();

		for (unsigned i = 0; i < PAIRS; i++) {
			mew_pause(state);
			mew_resume(state);
		}
		sum_ns += now_ns() - begin_ns;
	}
	mew_counter(state, "pair_ns", (double)sum_ns / PAIRS, MEW_PER_ITERATION);
}

/*
 * What the heap hook costs in a pause, where it records nothing but has to look each block up:
 * among blocks of the loop that live on. The ns of a pair, the median over the iterations, go to
 * the file named by MEW_BENCH_FILE.
 */
MEW_BENCHMARK(inside, state)
{
	static void *held[HELD];
	const char *path = getenv("MEW_BENCH_FILE");
	static double ns[ITERATIONS_MAX];
	unsigned n = 0;
	FILE *out;

	MEW_LOOP(state) {
		uint64_t begin_ns;

		for (unsigned i = 0; i < HELD; i++)
			held[i] = malloc(64);
		mew_pause(state);
		begin_ns = now_ns();
		for (unsigned i = 0; i < PAIRS_INSIDE; i++) {
			void *p = malloc(64);

			MEW_HIDE(p);
			free(p);
		}
		ns[n % ITERATIONS_MAX] = (double)(now_ns() - begin_ns) / PAIRS_INSIDE;
		n++;
		mew_resume(state);
		for (unsigned i = 0; i < HELD; i++)
			free(held[i]);
	}
	out = path ? fopen(path, "w") : NULL;
	if (out) {
		n = n < ITERATIONS_MAX ? n : ITERATIONS_MAX;
		qsort(ns, n, sizeof(ns[0]), by_value);
		fprintf(out, "%.2f\n", ns[n / 2]);
		fclose(out);
	}
}

/* The event as mew-perf prepares it, with the ring that PAUSE_OUTPUT needs. */
static int open_event(struct mew_events *e)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t attrs[1][MEW_ATTR_BYTES] = {{0}};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	uint32_t failed;
	int err;

	memcpy(attrs[0], &attr, sizeof(attr));
	err = mew_events_open(e, attrs, 1, 0, &failed);
	if (!err && mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE, MAP_SHARED, e->fds[0],
			 0) == MAP_FAILED)
		err = -1;
	return err;
}

static int batch(const struct mew_events *e, enum mew_pause_mode mode, double *ret_pair_ns)
{
	uint64_t begin_ns = now_ns();
	unsigned i;
	int err = 0;

	for (i = 0; i < PAIRS; i++) {
		if (mode == MEW_PAUSE_CLOCK) {
			MEW_KEEP(now_ns());
			MEW_KEEP(now_ns());
		} else {
			err |= mew_events_pause(e, mode, 1);
			err |= mew_events_pause(e, mode, 0);
		}
	}
	*ret_pair_ns = (double)(now_ns() - begin_ns) / PAIRS;
	return err;
}

static int measure(enum mew_pause_mode mode)
{
	double ns[BATCHES];
	struct mew_events e;
	unsigned i;

	if (open_event(&e)) {
		fputs("pause: cannot open an event of cpu-clock\n", stderr);
		return 1;
	}
	mew_events_enable(&e);
	for (i = 0; i < BATCHES; i++) {
		if (batch(&e, mode, &ns[i])) {
			fputs("pause: the kernel refuses to switch the event\n", stderr);
			return 1;
		}
	}
	qsort(ns, BATCHES, sizeof(ns[0]), by_value);
	printf("%.1f\n", ns[BATCHES / 2]);
	return 0;
}

MEW_NOTE();

int main(int argc, char **argv)
{
	if (argc != 3 || strcmp(argv[1], "kernel") != 0)
		return mew_main(argc, argv);
	return measure(strcmp(argv[2], "output") == 0    ? MEW_PAUSE_OUTPUT
		       : strcmp(argv[2], "disable") == 0 ? MEW_PAUSE_DISABLE
							 : MEW_PAUSE_CLOCK);
}
