#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where the wall time of a loop went: user code, kernel, off the CPU.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

bench=$MEW_BUILDDIR/tests/fixtures/acceptance

# part CASE FIELD: share of the wall time
part()
{
	echo "($(cell x.csv "$1" "$2") / $(cell x.csv "$1" wall_time))"
}

# account CASE TEXT BOUNDS: in these, `kernel` and `off` are the row's shares of the wall time, and `away` is the case's own
# reading of how long it was off the CPU outside of its pauses. What other programs take of the CPU is in both. Its own is of
# all rounds and the row's of some: where others came and went in between the two differ, so there are a few tries.
# `stolen` is what the host of a virtual machine took of its CPUs, which the kernel knows, but only by the tick: a reading of
# CPU time lacks it, and no switch tells of it.
steal()
{
	awk '$1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; print $9, all }' /proc/stat
}

account()
{
	for mew_try in 1 2 3 4 5 6; do
		steal >before
		run 0 "$MEW_PERF" cpu --no-db -k "^$1\$" -o x.csv "$bench"
		stolen=$(steal | paste before - | awk -v cpus="$(nproc)" '{ print cpus * ($3 - $1) / ($4 - $2 + 1) }')
		bounds="(lambda kernel, off, away, stolen=$stolen: $3)($(part "$1" kernel_time), $(part "$1" off_cpu_time), 1 - $(
			awk -v name="$1" '$1 == "busy" && $2 == name { print $3 }' err))"
		python3 -c "import sys; sys.exit(not ($bounds))" && break
	done
	holds "$2 (try $mew_try)" "$bounds"
}

account user_only 'user code alone' 'kernel <= 0.05 + stolen and abs(off - away) <= 0.04 + stolen'
account half_asleep 'asleep half of the time' 'abs(off - away) <= 0.05 + stolen and away >= 0.45'
# A pause that sleeps is neither CPU time of the loop nor off-CPU time.
account pause_sleep 'asleep in the pause' 'kernel + off <= away + 0.15'

run 0 "$MEW_PERF" cpu --no-db -k '^kernel$' -o x.csv "$bench"
holds "page faults" "$(part kernel kernel_time) >= 0.3 * (1 - $(part kernel off_cpu_time))"

# An event that is no clock keeps its period, and has no time between its samples.
run 0 "$MEW_PERF" cpu --no-db -n 200 -k '^kernel$' -e page-faults:u -o faults.csv "$bench"
holds "samples of an event that is no clock" "$(cell faults.csv kernel sample_count) > 0"
python3 -c 'import csv; r = next(csv.DictReader(open("faults.csv", newline="")))
exit(r["interval"] != "")' || fail "they have an interval" faults.csv
pass "they have no interval"
