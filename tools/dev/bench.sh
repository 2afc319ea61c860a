#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the profiler costs: the same benchmark alone, sampled, and with the heap hook, side by side.
# Figures for people, never a test: they differ from machine to machine and from run to run.

build=${MEW_BUILDDIR:-$(cd "$(dirname "$0")/../.." && pwd)/build}
mew_perf=${MEW_PERF:-$build/mew-perf}
program=$build/examples/bench_sqlite
for file in "$mew_perf" "$program"; do
	[ -x "$file" ] || {
		echo "bench.sh: no '$file': run make first" >&2
		exit 1
	}
done

# seconds COMMAND...: prints the wall time of the fastest of five runs.
seconds()
{
	for _ in 1 2 3 4 5; do
		start=$(date +%s%N)
		"$@" >/dev/null 2>&1 </dev/null || return 1
		end=$(date +%s%N)
		echo $((end - start))
	done | sort -n | sed -n 1p
}

show()
{
	name=$1
	shift
	ns=$(seconds "$@") || {
		echo "bench.sh: '$*' failed" >&2
		exit 1
	}
	: "${base:=$ns}"
	awk -v name="$name" -v ns="$ns" -v base="$base" \
		'BEGIN { printf "%-12s %10.1f ms  %6.2fx\n", name, ns / 1e6, ns / base }'
}

# mem's figures cover the same number of iterations in each row.
show 'heap of 10' "$mew_perf" mem --no-db -q -n 10 "$program"
show 'heap of 100' "$mew_perf" mem --no-db -q -n 100 "$program"
show 'heap of 1000' "$mew_perf" mem --no-db -q -n 1000 "$program"
echo
echo 'slowdown of the sampled loop, case by case:'
"$mew_perf" cpu --no-db -q --csv=- "$program" </dev/null
