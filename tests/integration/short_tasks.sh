#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of many threads or children that end in the middle of a sampling period: what they ran
# after their last tick is no kernel time, and the row says how much it is.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

cat >short.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* In user mode for so many ms: the clock is asked seldom. */
__attribute__((noinline)) static void *work(void *ms)
{
	while (cpu_ms() < *(double *)ms)
		for (volatile unsigned k = 0; k < 50000; k++)
			;
	return NULL;
}

/* short N MS: one thread after the other. */
int main(int argc, char **argv)
{
	double ms = argc > 2 ? atof(argv[2]) : 0;

	for (int n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, &ms) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}
C
"$CC" -O1 -g -o short short.c -lpthread || broken "cannot build short"

# kernel: its share of the time.
kernel()
{
	python3 - <<'PY'
import csv
row = next(csv.DictReader(open("row.csv", newline="")))
print(float(row["kernel_time"]) / float(row["wall_time"])) # main waits for the one that runs
PY
}

run 0 "$MEW_PERF" cpu --no-db --interval 1ms -o row.csv ./short 400 1.4
holds "threads of one tick and a half: the rest of them is no kernel time" "$(kernel) <= 0.15"
grep -q 'of the CPU time not sampled: short threads or children' row.csv ||
	fail "time after the last tick is not told" row.csv err
grep -q 'hint: .*--interval 0.1ms' err || fail "no hint to a shorter interval" err
pass "time after the last tick is told"
run 0 "$MEW_PERF" cpu --no-db --interval 1ms -o row.csv ./short 4 100
grep -q 'not sampled: short' row.csv && fail "what ticks often is doubted" row.csv
holds "few long threads: no kernel time" "$(kernel) <= 0.1"

run 0 "$MEW_PERF" cpu --no-db --interval 1ms -o row.csv ./short 400 0.4
grep -q 'of the CPU time not sampled' row.csv || fail "threads without a tick are not told" row.csv err
pass "threads without a tick are told"

echo "1..$mew_count"
