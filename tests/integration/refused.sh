#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where the kernel refuses perf_event_open: cpu says which sysctl stands at what and ends with 125, mem works, run does mem and ends with 1.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

bench=$MEW_BUILDDIR/tests/fixtures/acceptance
deny=$MEW_BUILDDIR/tests/fixtures/deny_perf

for errno in 13 1 38; do # EACCES, EPERM, ENOSYS
	run 125 "$deny" $errno "$MEW_PERF" cpu --no-db -n 5 -k '^user_only$' "$bench"
	grep -q 'perf_event' err || fail "errno $errno: no word of perf events" err
	[ "$(grep -vc 'hint:' err)" -eq 1 ] || fail "errno $errno: not one line" err
	[ ! -s out ] || fail "errno $errno: results on standard output" out
	pass "errno $errno: $(head -n 1 err)"
done
run 125 "$deny" 13 "$MEW_PERF" cpu --no-db -n 5 -k '^user_only$' "$bench"
grep -q "perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid)" err ||
	fail "the sysctl and its value are not named" err
pass "the sysctl and its value are named"

run 0 "$deny" 13 "$MEW_PERF" mem --no-db -n 5 -k '^family/case:1$' -o m.csv "$bench"
holds "mem needs no permission" "$(cell m.csv family/case:1 total_allocations) == 40"

run 1 "$deny" 13 "$MEW_PERF" run -d x.db -n 5 -k '^family/case:1$' "$bench"
grep -q take_blocks out || fail "run does not report the heap without perf events" out err
pass "run does mem all the same"

# An ordinary user can do everything.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$mew_dir"
	mkdir -m 777 nobody
	cd nobody || broken "cannot enter a directory"
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$paranoid" -le 2 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$bench"; then
		run 0 setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$MEW_PERF" run -d x.db -n 20 -k '^(pause|family/case:1)$' "$bench"
		pass "an ordinary user can run everything"
	fi
fi
