#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A benchmark program by itself: every way out of loop and pause, the options, the table, the CSV,
# the exit status.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

loops=$MEW_BUILDDIR/tests/fixtures/loops
entries=$MEW_BUILDDIR/tests/fixtures/entries
[ -x "$loops" ] || broken "no $loops"
need env

# ends STATUS CASE [TEXT]: the case alone ends with the status, and stderr has the text.
ends()
{
	want=$1
	name=$2
	shift 2
	run "$want" "$loops" -k "^$name\$" --min-time 2ms
	for text in "$@"; do
		grep -qF -- "$text" err || fail "case '$name' does not say '$text'" out err
	done
	if [ $# -eq 0 ]; then
		grep -v 'warning: CPU frequencies' err >rest
		! grep -qv "case '$name': a pause costs" rest ||
			fail "case '$name' has something to say" err
	fi
}

# Right ones: the cases compare their own counts with libmew's.
for name in plain continues in_helper pauses nested_pauses helper_returns_from_pause \
	unbraced_pause pause_over_continue pause_open_at_end pauses_outside forks threads \
	label fixed structs; do
	ends 0 "$name"
done
pass "right loops and pauses end well"

# 2 ms of each iteration are paused; the rest must be far below that, however busy the machine is.
for name in pauses nested_pauses pause_over_continue pause_open_at_end; do
	run 0 "$loops" -k "^$name\$" -n 20 --csv
	awk -F, 'NR == 2 { exit !($4 < 0.001) }' out || fail "'$name' has its pauses in its time" out
done
pass "pauses are in no time"

for name in breaks returns goes breaks_out_of_pause returns_from_pause one_thread_breaks; do
	ends 0 "$name" "case '$name': the loop was left early"
	grep -q "^! $name" out || fail "'$name' has no mark" out
done
pass "a loop left early is marked and counts what it did"

ends 1 break_in_pause "a break inside MEW_PAUSE left the pause, not the loop"
ends 1 resume_alone "mew_resume() without a pause"
ends 1 resume_twice_after_loop "mew_resume() without a pause"
ends 1 pause_open_at_start "a pause is open where the loop begins"
ends 1 no_loop "it returned without a MEW_LOOP"
ends 1 two_loops "a second MEW_LOOP"
ends 1 loop_in_loop "a second MEW_LOOP"
ends 1 longjmp_out "the loop was left by longjmp"
ends 1 one_thread_exits "by the thread's end"
ends 1 one_thread_has_no_loop "it returned without a MEW_LOOP"
ends 1 no_value "mew_value() without MEW_BENCHMARK_VALUES"
ends 1 two_kinds "counter 'a': it had another kind before"
pass "wrong ones fail with a sentence"

ends 0 skip_before "case 'skip_before' skipped: no input 'x.txt'"
ends 0 skip_and_return "skipped: not here"
ends 0 skip_inside "skipped: enough"
ends 0 one_thread_skips "skipped: thread 1 has no input"
ends 1 fail_before "case 'fail_before' failed: bad\\x1b[31m input"
ends 1 fail_inside "failed: wrong result in pass 4"
ends 1 fail_after "failed: wrong sum"
pass "skip exits with 0, fail with 1, both with their reason"

ends 1 aborts "its process died of signal 6"
ends 1 exits "its process exited with status 0 before the case had ended"
run 1 "$loops" -k '^plain$' -k '^aborts$' -k '^fixed$' --min-time 1ms
grep -q '^  plain' out || fail "the case before the dead one is lost" out
grep -q '^x aborts' out || fail "the dead case has no row" out
grep -q '^  fixed' out || fail "the case after the dead one did not run" out
pass "a case that dies takes no other with it"

run 0 "$loops" -k threads --min-time 2ms --csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == "threads" && ($at["threads"] != 3 || $at["passes\r"] + $at["passes"] != 1 ||
		$at["rate"] < 1000 || $at["bytes_per_second"] < 1000) { exit 1 }' out ||
	fail "the counters of threads are wrong" out
pass "counters are summed over threads"

run 0 "$loops" -k fixed --csv
grep -q '^fixed,,1,[^,]*,[^,]*,17,.*,17' out || fail "not exactly 17 iterations" out
run 0 "$loops" -k fixed -n 5 --csv
grep -q '^fixed,,1,[^,]*,[^,]*,5,.*,5' out || fail "not exactly 5 iterations" out
pass "iterations of the entry and of -n are exact"

run 0 "$loops" -k '^plain$' -n 1000 -r 4
[ "$(grep -cE '^  plain  (median|mean|stddev|cv) ' out)" -eq 4 ] || fail "not four statistics" out
run 0 "$loops" -k '^plain$' -n 1000 -r 4 --csv
[ "$(grep -cE '^plain,,([1-4]|median|mean|stddev|cv),' out)" -eq 8 ] ||
	fail "not four repetitions and four statistics" out
pass "repetitions have their statistics"

run 0 "$loops" -k '^plain$' -n 10 --csv='a file.csv'
grep -q '^  CASE ' out || fail "no table beside the file" out
head -n 1 'a file.csv' | grep -q '^name,label,repetition,time,cpu,iterations,' ||
	fail "no header in the file" 'a file.csv'
run 125 "$loops" -k '^plain$' -n 10 --csv=/nonexistent/x.csv
grep -q "cannot write '/nonexistent/x.csv': No such file" err || fail "no reason" err
pass "a CSV file appears whole or not at all"

run 0 "$loops" --list -k 'values|family'
cat >want <<END
values/case:0  n=-1
values/case:1  n=9223372036854775807
family/case:0  one, "first"
family/case:1  =two
END
cmp -s want out || fail "not the list" out want
run 0 "$loops" --list -k 'n=-1' --benchmark_filter='-case:1'
[ "$(cat out)" = 'values/case:0  n=-1' ] || fail "not the filtered list" out
run 0 "$loops" -k family -n 3 --csv
grep -q "^family/case:0,\"one, \"\"first\"\"\",1," out || fail "a label is not quoted" out
grep -q "^family/case:1,'=two,1," out || fail "a formula is not disarmed" out
pass "cases are listed and filtered by key and label"

run 2 "$loops" -k absent
[ ! -s out ] || fail "something on stdout" out
grep -q "no benchmark matches; there are:" err || fail "no reason" err
grep -q '^  values/case:0' err || fail "the keys are not listed" err
run 2 "$loops" -k '('
run 2 "$loops" --nonsense
run 2 "$loops" argument
grep -q "'argument'" err || fail "the argument is not named" err
run 0 "$loops" --help
grep -q -- '--min-time' out || fail "no help" out
pass "usage errors exit with 2"

run 0 "$loops" -k '^arguments$' -n 3 -- first second
grep -q '2:first:1' out || fail "arguments do not arrive" out
pass "what follows -- is the benchmarks'"

run 2 "$entries" twice
grep -q "two benchmarks are named 'same'" err || fail "no reason" err
run 2 "$entries" threads
run 2 "$entries" nameless
run 0 "$entries"
pass "entries that cannot be are errors at the start"

run 1 "$loops" --no-fork -n 10 -k '^plain$' -k resume_alone
grep -q '^  plain' out || fail "no row without fork" out
pass "all cases in one process with --no-fork"

if [ -w /dev/full ]; then
	"$loops" -k '^plain$' -n 10 >/dev/full 2>err && fail "a full disk is no error" err
	grep -q 'cannot write the results: No space left' err || fail "no reason" err
	# By a link, so that it would cost no device if it were replaced.
	ln -s /dev/full full
	run 125 "$loops" -k '^plain$' -n 10 --csv=full
	grep -q "cannot write 'full': No space left" err || fail "no reason for a file" err
	[ -L full ] || fail "what is no ordinary file is replaced"
	pass "a full disk is an error"
fi

# A shell without job control starts it with SIGINT ignored, which libmew obeys.
env --default-signal=INT "$loops" -k '^plain$' -k '^hangs$' --min-time 1ms -- x >out 2>err &
child=$!
sleep 0.5
kill -INT "$child"
got=0
wait "$child" || got=$?
[ "$got" -eq 130 ] || fail "interrupted, it exits with $got" out err
grep -q 'interrupted' err || fail "it does not say so" err
grep -q '^  plain' out || fail "what had finished is lost" out
pass "an interrupt ends it with 130"

echo "1..$mew_count"
