/* SPDX-License-Identifier: Apache-2.0 */
/*
 * churn FILE THREADS PAIRS: threads free a random one of their blocks each and allocate another, so
 * often all together, from stacks of 19.5 frames on average in the main thread (with two of the C
 * library). FILE gets the ns by which each pair of free and malloc prolonged the run.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 16
#define BLOCKS 4096
#define DEPTH 9 /* and up to 7 more, and what calls */

static unsigned long n_pairs; /* of a thread */

struct churn {
	pthread_t thread;
	uint64_t random;
	void *blocks[BLOCKS];
};

static struct churn churns[THREADS_MAX];

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

static void *run(void *arg)
{
	struct churn *c = arg;
	unsigned long i;

	for (i = 0; i < n_pairs; i++)
		descend(c, DEPTH + i % 8);
	return NULL;
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
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i < n_threads; i++) {
		churns[i].random = 88172645463325252u + i;
		if (i > 0 && pthread_create(&churns[i].thread, NULL, run, &churns[i]))
			return 1;
	}
	run(&churns[0]);
	for (i = 1; i < n_threads; i++)
		pthread_join(churns[i].thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.2f\n",
		((double)(end.tv_sec - begin.tv_sec) * 1e9 +
		 (double)(end.tv_nsec - begin.tv_nsec)) /
			((double)n_pairs * n_threads));
	return fclose(out) ? 1 : 0;
}
