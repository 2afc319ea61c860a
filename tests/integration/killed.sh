#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SIGKILL, at random moments, of the program and of mew-perf; time limit and Ctrl-C: no process and
# no file is left, no finished case is lost. MEW_KILLS: how many random moments.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need sqlite3 pgrep od
kills=${MEW_KILLS:-24}

# A place of our own for what mew-perf makes, without a blank.
TMPDIR=$(mktemp -d /tmp/mewkill.XXXXXX) || broken "no temporary directory"
export TMPDIR
trap 'rm -rf "$mew_dir" "$TMPDIR"' EXIT

# A name that no other process has: it starts with ours, and is a program of its own.
mark=mewkill$$
cp "$(command -v sleep)" "$mark" || broken "cannot copy sleep"

# gone TEXT: soon no process and no file of ours is left.
gone()
{
	mew_tries=0
	while pgrep -f "$mark" >left || [ -n "$(ls -A "$TMPDIR")" ]; do
		mew_tries=$((mew_tries + 1))
		[ $mew_tries -lt 100 ] || {
			ls -A "$TMPDIR" >>left
			fail "$1: something is left" left out err
		}
		sleep 0.1
	done
}

# started N: waits until N processes of ours are there.
started()
{
	mew_tries=0
	while [ "$(pgrep -fc "$mark")" -lt "$1" ]; do
		mew_tries=$((mew_tries + 1))
		[ $mew_tries -lt 100 ] || fail "the program does not start" out err
		sleep 0.1
	done
}

# A program with a child, and one that has left its session and its parent.
cat >family.sh <<SH
#!/bin/sh
(setsid ./$mark 991 &)
./$mark 992 &
[ "\$1" = leave ] && exit 0
[ "\$1" = die ] && kill -KILL \$\$
./$mark 993
SH
chmod +x family.sh

for engine in cpu mem; do
	run 1 "$MEW_PERF" $engine --no-db --timeout 0.7s ./family.sh
	gone "$engine: time limit"
	pass "$engine: a time limit ends the program's descendants"
	for signal in INT KILL; do
		env --default-signal=INT "$MEW_PERF" $engine --no-db ./family.sh >out 2>err </dev/null &
		job=$!
		started 3
		kill -s $signal $job
		wait $job
		gone "$engine: SIG$signal of mew-perf"
		pass "$engine: SIG$signal of mew-perf ends the program's descendants"
	done
	run 1 "$MEW_PERF" $engine --no-db ./family.sh die
	gone "$engine: a killed program"
	pass "$engine: a killed program takes its descendants along"
done

# What a program leaves behind by intention is its own affair.
run 0 "$MEW_PERF" mem --no-db ./family.sh leave
[ "$(pgrep -fc "$mark")" -eq 2 ] || fail "what the program started is gone" out err
pgrep -f "$mark" | while read -r pid; do kill "$pid"; done
gone "a program that leaves others at work"
pass "a program that ends by itself may leave others at work"

# Random moments. The benchmark has a path of its own, to be found by.
cat >bench.c <<'C'
#include <mew/mew.h>
#include <stdlib.h>

MEW_BENCHMARK_VALUES(churn, state, "n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
{
	MEW_LOOP(state) {
		void *p = malloc((size_t)mew_value(state));

		MEW_KEEP(p);
		free(p);
	}
}
MEW_MAIN();
C
bench=./$mark-bench
# shellcheck disable=SC2086
$CC -O2 -I"$MEW_SRCDIR/include" bench.c "$MEW_BUILDDIR/.libs/libmew.a" -lpthread -o "$bench" 2>log ||
	broken "cannot build the benchmark: $(cat log)"

random()
{
	od -An -N2 -tu2 /dev/urandom | tr -d ' '
}

cases()
{
	sqlite3 x.db "select count(*) from case_ where result = 'ok'" 2>/dev/null || echo 0
}

i=0
lost=0
while [ $i -lt "$kills" ]; do
	i=$((i + 1))
	[ $((i % 2)) -eq 0 ] && engine=cpu || engine=mem
	[ $((i % 5)) -eq 0 ] && who=program || who=mew-perf
	rm -f x.db x.db-*
	"$MEW_PERF" "$engine" -n 50 -d x.db "$bench" >out 2>err </dev/null &
	job=$!
	sleep "0.$(printf %03d $(($(random) % 900)))"
	if [ "$who" = mew-perf ]; then
		before=$(cases)
		kill -KILL $job 2>/dev/null
		wait $job 2>/dev/null
	else
		before=0
		# Of the program alone: who is its parent has mew-perf in its command line.
		pgrep -f "^$bench" | while read -r pid; do kill -KILL "$pid" 2>/dev/null; done
		wait $job
	fi
	gone "$engine: $who killed, try $i"
	[ -f x.db ] || continue
	# Killed while it made the recording, which is before the first case.
	[ "$before" -gt 0 ] || sqlite3 x.db 'select count(*) from case_' >log 2>&1 || continue
	[ "$(sqlite3 x.db 'pragma integrity_check')" = ok ] ||
		fail "$engine: $who killed, try $i: the recording is damaged" err
	# Killed while it was made, it is a file of nothing.
	[ "$before" -gt 0 ] || [ "$(sqlite3 x.db 'select count(*) from sqlite_master')" -gt 0 ] || continue
	after=$(cases)
	[ "$after" -ge "$before" ] || lost=1
	if [ "$who" = program ]; then
		rows=$(sqlite3 x.db 'select count(*) from case_')
		# Killed while it lists its cases, there is none.
		[ "$rows" -eq 12 ] || [ "$rows" -eq 0 ] || lost=1
		[ "$rows" -eq 0 ] || [ "$after" -ge 11 ] || lost=1
	fi
	empty=$(sqlite3 x.db "select count(*) from case_ c where result = 'ok' and not exists
		(select 1 from cpu_stack where case_ = c.id) and not exists
		(select 1 from heap_stack where case_ = c.id) and c.sample_count is not 0")
	[ "$empty" -eq 0 ] || lost=1
	[ $lost -eq 0 ] || fail "$engine: $who killed, try $i: $before, then $after cases; $empty empty" err
done
pass "$kills kills at random moments lose no case and leave nothing"

echo "1..$mew_count"
