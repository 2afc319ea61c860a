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

# Another program may take the processor away: that is off-CPU time, truly. Up to three tries to find the machine quiet.
for try in 1 2 3; do
	run 0 "$MEW_PERF" cpu --no-db -k '^user_only$' -o x.csv "$bench"
	python3 -c "import sys; sys.exit($(part user_only kernel_time) + $(part user_only off_cpu_time) > 0.04)" && break
done
holds "user code alone (try $try)" "$(part user_only kernel_time) + $(part user_only off_cpu_time) <= 0.05"

run 0 "$MEW_PERF" cpu --no-db -k '^kernel$' -o x.csv "$bench"
holds "page faults" "$(part kernel kernel_time) >= 0.3"

run 0 "$MEW_PERF" cpu --no-db -k '^half_asleep$' -o x.csv "$bench"
holds "asleep half of the time" "0.45 <= $(part half_asleep off_cpu_time) <= 0.55"

# A pause that sleeps is neither CPU time of the loop nor off-CPU time.
run 0 "$MEW_PERF" cpu --no-db -k '^pause_sleep$' -o x.csv "$bench"
holds "asleep in the pause" "$(part pause_sleep off_cpu_time) + $(part pause_sleep kernel_time) <= 0.15"

# An event that is no clock keeps its period, and has no time between its samples.
run 0 "$MEW_PERF" cpu --no-db -n 200 -k '^kernel$' -e page-faults:u -o faults.csv "$bench"
holds "samples of an event that is no clock" "$(cell faults.csv kernel sample_count) > 0"
python3 -c 'import csv; r = next(csv.DictReader(open("faults.csv", newline="")))
exit(r["interval"] != "")' || fail "they have an interval" faults.csv
pass "they have no interval"
