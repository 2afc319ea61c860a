/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin FILE STEPS: a program that only computes, some frames deep. FILE gets the seconds that its
 * steps took, when they ended, s of CLOCK_REALTIME, as date(1) knows it, and the CPU time of the
 * process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 12
#define ROUNDS 2000 /* of a step: a few us */

static uint64_t sum;

__attribute__((noinline)) static uint64_t mix(uint64_t x)
{
	unsigned i;

	for (i = 0; i < ROUNDS; i++)
		x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u + i;
	return x;
}

/* Used, so that the calls do not become jumps. */
__attribute__((noinline)) static uint64_t descend(uint64_t x, unsigned depth)
{
	uint64_t y = depth == 0 ? mix(x) : descend(x, depth - 1);

	__asm__ volatile("" : "+r"(y));
	return y + depth;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	unsigned long n, i;
	double begin_s, took_s;
	FILE *out;

	if (argc != 3)
		return 2;
	n = strtoul(argv[2], NULL, 10);
	begin_s = seconds(CLOCK_MONOTONIC);
	for (i = 0; i < n; i++)
		sum = descend(sum, DEPTH);
	took_s = seconds(CLOCK_MONOTONIC) - begin_s;
	__asm__ volatile("" : : "m"(sum));
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.6f %.6f %.6f\n", took_s, seconds(CLOCK_REALTIME),
		seconds(CLOCK_PROCESS_CPUTIME_ID));
	return fclose(out) ? 1 : 0;
}
