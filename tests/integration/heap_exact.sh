#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Heap figures worked out by hand, in the comments of tests/fixtures/acceptance_heap.cc.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need g++
g++ -std=c++17 -O2 -g -I"$MEW_SRCDIR/include" "$MEW_SRCDIR/tests/fixtures/acceptance_heap.cc" \
	"$MEW_BUILDDIR/.libs/libmew.a" -lpthread -o bench 2>log || broken "cannot build the fixture: $(cat log)"
bench=./bench
run 0 "$MEW_PERF" mem -n 100 --no-db -o x.csv "$bench"

# expect CASE FIELD VALUE [FIELD VALUE]...
expect()
{
	key=$1
	shift
	while [ $# -ge 2 ]; do
		[ "$(cell x.csv "$key" "$1")" = "$2" ] ||
			fail "$key: $1 is $(cell x.csv "$key" "$1"), not $2" x.csv
		pass "$key: $1 is $2"
		shift 2
	done
}

expect all_kinds profiler mew-heap peak_bytes 1600 total_bytes 1600 total_allocations 900 iterations 100 \
	allocations_per_iteration 9 allocated_bytes 210000 frees 700 temporary 100 leaked_bytes 0 \
	first_iteration_allocations 9 foreign_frees 0 lost 0 verdict ok
expect foreign_and_held peak_bytes 6400 total_bytes 6400 total_allocations 100 allocations_per_iteration 1 \
	allocated_bytes 6400 frees 0 temporary 0 leaked_bytes 6400 first_iteration_allocations 1 \
	foreign_frees 100 lost 0 verdict ok
expect in_pause peak_bytes 1300 total_bytes 1300 total_allocations 200 allocated_bytes 130000 frees 100 \
	temporary 0 leaked_bytes 0 first_iteration_allocations 2 foreign_frees 200 lost 0 verdict ok
expect first peak_bytes 10 total_bytes 10 total_allocations 100 allocated_bytes 1000 frees 100 temporary 100 \
	leaked_bytes 0 first_iteration_allocations 3 foreign_frees 0 verdict ok
expect edges peak_bytes 104 total_bytes 104 total_allocations 300 allocated_bytes 10400 frees 300 \
	temporary 200 leaked_bytes 0 first_iteration_allocations 3 foreign_frees 0 verdict ok

# Without a warm-up the first iteration is among the measured ones, and its allocations are still told apart.
run 0 "$MEW_PERF" mem -n 5 --warmup 0 --no-db -k '^first$' -o x.csv "$bench"
expect first total_allocations 7 iterations 5 first_iteration_allocations 3 peak_bytes 10010 leaked_bytes 10000 verdict ok
run 0 "$MEW_PERF" mem -n 1 --warmup 0 --no-db -k '^first$' -o x.csv "$bench"
expect first total_allocations 3 iterations 1 first_iteration_allocations 3
