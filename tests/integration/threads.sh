#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Threads of the loop, pools made in set-up, threads made in the loop, forked children.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
bench=$MEW_BUILDDIR/tests/fixtures/acceptance

# self CASE FUNCTION: its self time, s
self()
{
	sqlite3 x.db "select coalesce(sum(cs.weight), 0) from cpu_stack cs join case_ c on c.id = cs.case_
		join stack s on s.id = cs.stack join function f on f.id = s.function
		where c.name = '$1' and f.name = '$2'"
}

run 0 "$MEW_PERF" cpu --interval 1ms -k '^(threads|pool)$' -n 2000 -d x.db -o x.csv "$bench"
holds "both threads are counted" "$(cell x.csv threads iterations) == 4000"
# One of them alone would be the wall time once; what the machine takes away in between is the rest.
holds "both threads are sampled" "1.5 * $(cell x.csv threads wall_time) <= $(self threads hot) +
	$(cell x.csv threads off_cpu_time)"
holds "the pool's thread is sampled" "$(self pool pool_work) >= 0.7"
holds "the loop's thread waits" "$(cell x.csv pool off_cpu_time) >= 0.7 * $(cell x.csv pool wall_time)"
holds "the pool's stacks are whole" "$(cell x.csv pool truncated) <= 0.01 * $(cell x.csv pool sample_count)"

run 0 "$MEW_PERF" cpu --interval 1ms -k '^(late|lazy_pool|forks)$' -n 1000 --no-db -o y.csv "$bench"
case $(cell y.csv late verdict) in
*thread*) pass "threads of the loop are named in the verdict: $(cell y.csv late verdict)" ;;
*) fail "the verdict knows nothing of threads made in the loop" y.csv ;;
esac
case $(cell y.csv lazy_pool verdict) in
*"1 thread not sampled"*) pass "so is a pool that the warm-up started" ;;
*) fail "the verdict knows nothing of a pool made in the warm-up" y.csv ;;
esac
case $(cell y.csv forks verdict) in
*child*) pass "children are named in the verdict: $(cell y.csv forks verdict)" ;;
*) fail "the verdict knows nothing of children" y.csv ;;
esac
holds "children do not stop the parent's events" "$(cell y.csv forks sample_count) >= 40"
holds "children write no pauses" "$(cell y.csv forks paused_time) == 0"

run 0 "$MEW_PERF" mem -k '^forks$' -n 100 --no-db -o m.csv "$bench"
holds "children allocate nothing" "$(cell m.csv forks total_allocations) == 100 and
	$(cell m.csv forks allocated_bytes) == 10000"

cat >same.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *run(void *arg)
{
	for (int i = 0; i < 1000; i++)
		free(malloc(32));
	return arg;
}
int main(void)
{
	pthread_t t[9];
	for (int i = 0; i < 9; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < 9; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
$CC -g -O1 -fno-builtin -pthread -o same same.c || broken "cannot build same"
run 0 "$MEW_PERF" mem -q -d same.db ./same
same=$(sqlite3 same.db "select h.allocations, h.bytes, h.frees, h.held_bytes from heap_stack h
	join stack s on s.id = h.stack join stack p on p.id = s.parent join function f on f.id = p.function
	where f.name = 'run'")
if [ "$same" = '9000|288000|9000|0' ]; then
	pass "threads of one stack are one"
else
	fail "threads of one stack are not one: $same"
fi
