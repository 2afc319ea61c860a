#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SIGINT, SIGTERM and SIGHUP: cases that had finished are shown and recorded, nothing of the rest, exit 130.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need sqlite3
[ -x "$MEW_PERF" ] || broken "no '$MEW_PERF'"
cp "$MEW_BUILDDIR/examples/bench_qsort" bench || broken "no example bench_qsort"

# recorded: how many cases are in the recording.
recorded()
{
	sqlite3 x.db 'SELECT count(*) FROM case_' 2>/dev/null || echo 0
}

# interrupt SIGNAL COMMAND: begins a run that would take minutes, sends SIGNAL after its first case.
interrupt()
{
	rm -f x.db
	# A shell lets background jobs ignore SIGINT.
	env --default-signal=INT "$MEW_PERF" "$2" -r 1000 -d x.db --csv ./bench >out 2>err </dev/null &
	job=$!
	tries=0
	while [ "$(recorded)" -eq 0 ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "$2: no case finishes" err
		sleep 0.1
	done
	kill -s "$1" $job
	got=0
	wait $job || got=$?
	[ $got -eq 130 ] || fail "$2: SIG$1: exit $got, not 130" out err
	grep -qx 'mew-perf: interrupted' err || fail "$2: SIG$1: nothing says so" err
	shown=$(($(wc -l <out) - 1))
	[ "$shown" -ge 1 ] || fail "$2: SIG$1: no finished case is shown" out err
	[ "$shown" -eq "$(recorded)" ] ||
		fail "$2: SIG$1: $shown cases are shown, $(recorded) recorded" out err
	pass "$2: SIG$1 keeps what is finished"
}

interrupt INT cpu
interrupt TERM cpu
interrupt HUP cpu
interrupt INT mem

# A run in the background is not ended by a Ctrl-C that is meant for another.
(
	trap '' INT
	exec "$MEW_PERF" mem --no-db -n 300 ./bench
) >out 2>err </dev/null &
job=$!
sleep 0.5
kill -s INT $job
wait $job || fail "an ignored SIGINT ends mew-perf" out err
pass "an ignored SIGINT stays ignored"

echo "1..$mew_count"
