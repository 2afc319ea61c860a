#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The curve of the live heap, the peaks of the iterations and the sizes, and mem's options, worked out
# by hand for the cases of tests/fixtures/heap_shapes.c.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

$CC -O1 -g -fno-builtin -I"$MEW_SRCDIR/include" -o bench "$MEW_SRCDIR/tests/fixtures/heap_shapes.c" \
	"$MEW_BUILDDIR/.libs/libmew.a" -pthread 2>log || broken "cannot build the fixture: $(cat log)"

# mem OPTION...: 100 iterations of all cases, to x.csv
mem()
{
	run 0 "$MEW_PERF" mem -n 100 -d x.db -o x.csv -k -dies "$@" ./bench
}

# expect CASE FIELD VALUE [FIELD VALUE]...
expect()
{
	python3 - "$@" <<'PY' >wrong || fail "$(cat wrong)" x.csv
import csv, sys
key, *want = sys.argv[1:]
row, = [r for r in csv.DictReader(open("x.csv", newline="")) if r["name"] == key]
for field, value in zip(want[::2], want[1::2]):
    if row[field] != value:
        sys.exit(print("%s: %s is %s, not %s" % (key, field, row[field], value)) or 1)
PY
	pass "$1: $2 and others"
}

# rows TABLE CASE: its rows of the newest session, without the name, as one line
rows()
{
	"$MEW_PERF" report -d x.db --table="$1" --csv | tr -d '\r' | sed -n "s/^$2,,//p" | paste -sd ' ' -
}

mem
expect steps profiler mew-heap peak_bytes 500 total_bytes 500 iteration_peak_min 100 \
	iteration_peak_median 300 iteration_peak_max 500 mapped_calls '' mapped_held_bytes '' verdict ok
expect grows peak_bytes 1000 leaked_bytes 1000 iteration_peak_min 10 iteration_peak_median 500 \
	iteration_peak_max 1000
expect pauses total_allocations 100 foreign_frees 100 peak_bytes 100 iteration_peak_min 100 \
	iteration_peak_max 100
expect helper total_allocations 200 allocated_bytes 310000 peak_bytes 3100 iteration_peak_min 3100 \
	iteration_peak_median 3100 iteration_peak_max 3100
expect pair total_allocations 200 iterations 200 allocated_bytes 110000 peak_bytes 1100 \
	iteration_peak_min 1100 iteration_peak_median 1100 iteration_peak_max 1100
expect maps total_allocations 100 peak_bytes 33554432 mapped_calls '' mapped_bytes ''
expect usable allocated_bytes 10000 peak_bytes 100

# The set-up runs at the tenth pass of a warm-up of ten: the measured ones begin with 100 again.
want=$(for i in $(seq 0 99); do echo "$i,1,$((i % 5 * 100 + 100))"; done | paste -sd ' ' -)
[ "$(rows curve steps)" = "$want" ] || fail "steps: its curve is $(rows curve steps)"
[ "$(rows sizes steps)" = '128,20 256,20 512,60' ] || fail "steps: its sizes are $(rows sizes steps)"
[ "$(rows sizes grows)" = '16,100' ] || fail "grows: its sizes are $(rows sizes grows)"
pass "curve and sizes are tables of the report"

# 1000 points are 250 of 4 each: the highest is the last, whatever the width.
run 0 "$MEW_PERF" mem -n 1000 -d x.db -k grows -o x.csv ./bench
want=$(for i in $(seq 0 249); do echo "$((i * 4)),4,$((i * 40 + 40))"; done | paste -sd ' ' -)
[ "$(rows curve grows)" = "$want" ] || fail "grows: its curve is $(rows curve grows)"
expect grows peak_bytes 10000 iteration_peak_min 10 iteration_peak_max 10000
pass "a long curve has its highest points"

# For people: less than 80 columns, in ASCII where UTF-8 is not known.
run 0 env LC_ALL=C "$MEW_PERF" mem -v -n 100 --no-db -k steps ./bench
grep -q '^  peaks   of an iteration: 100 B to 500 B, median 300 B$' out || fail "-v shows no peaks" out
grep -q '^  live    [.:=+*#@_-]\{64\}$' out || fail "-v draws no curve" out
grep -q '^  sizes   <=     128 B          20   20%  #*$' out || fail "-v shows no sizes" out
run 0 env LC_ALL=C "$MEW_PERF" report -v -d x.db -k grows
grep -q '^          up to 9.766 KiB over 1000 allocations$' out || fail "report -v shows no curve" out
if locale -a 2>/dev/null | grep -qi '^C\.utf-\?8$'; then
	run 0 env LC_ALL=C.UTF-8 "$MEW_PERF" mem -v -n 100 --no-db -k grows ./bench
	grep -q '^  live    ▁.*█$' out || fail "-v draws no blocks" out
fi
run 0 env LC_ALL=C "$MEW_PERF" mem -n 100 --no-db -k steps ./bench
! grep -q '^  live' out || fail "the curve is there without -v" out
pass "-v shows the shapes"

mem --include-paused -k pauses
expect pauses profiler mew-heap:include-paused total_allocations 200 allocated_bytes 110000 \
	frees 200 foreign_frees 0 peak_bytes 1100 iteration_peak_min 1100 verdict ok

mem --thread=self -k 'helper|pair'
expect helper profiler mew-heap:thread=self total_allocations 100 allocated_bytes 10000 frees 100 \
	foreign_frees 0 peak_bytes 100 iteration_peak_min 100 iteration_peak_max 100 verdict ok
expect pair total_allocations 200 peak_bytes 1100 iteration_peak_min 1100
mem --thread=self --thread=all -k helper
expect helper profiler mew-heap total_allocations 200

# 1 and 3 pages a pass: 400 in all, 100 kept at the end, 103 at most.
mem --mmap -k 'maps|steps'
expect maps profiler mew-heap:mmap total_allocations 100 peak_bytes 33554432 mapped_calls 200 \
	mapped_bytes 1638400 mapped_peak_bytes 421888 mapped_held_bytes 409600 verdict ok
expect steps mapped_calls 0 mapped_bytes 0 mapped_peak_bytes 0 mapped_held_bytes 0

mem --usable -k usable
bytes=$(sed -n 's/^usable //p' err | head -n 1)
[ "$bytes" -gt 100 ] || broken "malloc_usable_size(100) is '$bytes'"
expect usable profiler mew-heap:usable allocated_bytes $((100 * bytes)) peak_bytes "$bytes" \
	total_bytes "$bytes" iteration_peak_median "$bytes"

# All at once; what was set is in the recording too.
mem --usable --thread=self --include-paused --mmap -k steps
want=mew-heap:usable:thread=self:include-paused:mmap
expect steps profiler "$want" iteration_peak_min "$bytes"
python3 - "$want" <<'PY' || fail "the recording does not tell what was set"
import sqlite3, sys
db = sqlite3.connect("x.db")
engine, = db.execute("SELECT engine FROM session ORDER BY id DESC LIMIT 1").fetchone()
sys.exit(engine != sys.argv[1])
PY
pass "the recording tells what was set"

# A whole program: one iteration; its main thread, and the other one's blocks.
$CC -x c -O1 -fno-builtin -pthread -o whole - <<'C' || broken "cannot build a whole program"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
static void *other(void *arg) { free(malloc(1 << 20)); return arg; }
int main(void)
{
	pthread_t thread;
	void *p = malloc(4 << 20);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	pthread_join(thread, NULL);
	free(p);
	mmap(NULL, 5 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}
C
# The thread's own descriptor is a few hundred bytes of the C library's.
run 0 "$MEW_PERF" mem --mmap --no-db -o x.csv ./whole
holds "the other thread's megabyte is on top" \
	"5 << 20 <= $(cell x.csv whole peak_bytes) < (5 << 20) + 4096"
expect whole iteration_peak_min "$(cell x.csv whole peak_bytes)" \
	iteration_peak_max "$(cell x.csv whole peak_bytes)" mapped_calls 1 mapped_held_bytes 20480
run 0 "$MEW_PERF" mem --thread=self --no-db -o x.csv ./whole
holds "the main thread alone" "4 << 20 <= $(cell x.csv whole peak_bytes) < (4 << 20) + 4096"

# Killed in the 50th measured pass: all that it did is told, that pass as well.
run 1 "$MEW_PERF" mem -n 100 -d x.db -o x.csv -k dies ./bench
expect dies total_allocations 50 allocated_bytes 500 iterations 50 allocations_per_iteration 1 frees 0 \
	peak_bytes 500 total_bytes 500 leaked_bytes 500 iteration_peak_min 10 iteration_peak_median 250 \
	iteration_peak_max 490 \
	verdict 'failed: killed by signal 9 (Killed) before its end; the program ended inside the loop'
want=$(for i in $(seq 0 49); do echo "$i,1,$((i * 10 + 10))"; done | paste -sd ' ' -)
[ "$(rows curve dies)" = "$want" ] || fail "dies: its curve is $(rows curve dies)"
pass "the curve survives a kill"

# What cannot be.
run 2 "$MEW_PERF" mem --thread=mine ./bench
grep -q "'mine' is none of: all self" err || fail "a wrong thread is not told" err
run 2 "$MEW_PERF" cpu --csv --table=curve ./bench
grep -q 'a CPU session has no curve' err || fail "a CPU session's curve is not refused" err
pass "what cannot be is told"

echo "1..$mew_count"
