/* SPDX-License-Identifier: Apache-2.0 */
/*
 * churn FILE THREADS PAIRS: threads free a random one of their blocks each and allocate another, so
 * often all together, from stacks of 19.5 frames on average in the main thread (with two of the C
 * library). FILE gets the ns by which each pair of free and malloc prolonged the run, and the ms
 * from the start until all threads had their blocks: that part is not in the pairs.
 *
 * The threads stay on the CPUs in turn. Left alone, two may run on one CPU for all of so short a
 * time, and the figures say where they were put.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 16
#define BLOCKS 4096
#define FILL (5ul * BLOCKS) /* pairs, until nearly all blocks are there */
#define DEPTH 9             /* and up to 7 more, and what calls */

static unsigned long n_pairs; /* of a thread */

struct churn {
	pthread_t thread;
	uint64_t random;
	void *blocks[BLOCKS];
};

static struct churn churns[THREADS_MAX];
static pthread_barrier_t filled;
static struct timespec filled_at;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

__attribute__((noinline)) static void exchange(struct churn *c)
{
	uint64_t x = next_random(&c->random);
	void **block = &c->blocks[x % BLOCKS];

	free(*block);
	*block = malloc(16 + (x >> 32) % 500);
}

/* The empty asm keeps the calls from becoming jumps. */
__attribute__((noinline)) static void descend(struct churn *c, unsigned depth)
{
	if (depth == 0)
		exchange(c);
	else
		descend(c, depth - 1);
	__asm__ volatile("" : : : "memory");
}

static void stay_on(size_t turn)
{
	cpu_set_t all, one;
	int cpu = -1;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (turn %= (size_t)CPU_COUNT(&all), turn++; turn > 0; turn--)
		do
			cpu++;
		while (!CPU_ISSET(cpu, &all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *run(void *arg)
{
	struct churn *c = arg;
	unsigned long i;

	for (i = 0; i < FILL; i++)
		descend(c, DEPTH + i % 8);
	if (pthread_barrier_wait(&filled) == PTHREAD_BARRIER_SERIAL_THREAD)
		clock_gettime(CLOCK_MONOTONIC, &filled_at);
	pthread_barrier_wait(&filled);
	for (i = 0; i < n_pairs; i++)
		descend(c, DEPTH + i % 8);
	return NULL;
}

/* A thread that stays elsewhere than who starts it. */
static void *run_there(void *arg)
{
	stay_on((size_t)((struct churn *)arg - churns));
	return run(arg);
}

static double since(const struct timespec *begin, const struct timespec *end)
{
	return (double)(end->tv_sec - begin->tv_sec) * 1e9 +
	       (double)(end->tv_nsec - begin->tv_nsec);
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	unsigned n_threads, i;
	FILE *out;

	if (argc != 4)
		return 2;
	n_threads = (unsigned)strtoul(argv[2], NULL, 10);
	if (n_threads < 1 || n_threads > THREADS_MAX)
		return 2;
	n_pairs = strtoul(argv[3], NULL, 10) / n_threads;
	if (n_pairs == 0)
		return 2;
	if (pthread_barrier_init(&filled, NULL, n_threads))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i < n_threads; i++) {
		churns[i].random = 88172645463325252u + i;
		if (i > 0 && pthread_create(&churns[i].thread, NULL, run_there, &churns[i]))
			return 1;
	}
	stay_on(0);
	run(&churns[0]);
	for (i = 1; i < n_threads; i++)
		pthread_join(churns[i].thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.2f %.3f\n", since(&filled_at, &end) / ((double)n_pairs * n_threads),
		since(&begin, &filled_at) / 1e6);
	return fclose(out) ? 1 : 0;
}
