#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The target's side of the conversation, against a mew-perf that checks every step (fake_perf).

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

fake=$MEW_BUILDDIR/tests/fixtures/fake_perf
served=$MEW_BUILDDIR/tests/fixtures/served
if ! [ -x "$fake" ] || ! [ -x "$served" ]; then
	broken "no fixtures"
fi

# talk ARG...: fake_perf finds nothing bad. What it prints is in out.
talk()
{
	run 0 timeout 60 "$fake" "$@" "$served"
	! grep -q '^BAD' out || fail "fake_perf $*" out
}
# says TEXT...: each is a line of out, as a basic regular expression.
says()
{
	for text in "$@"; do
		grep -q "^$text\$" out || fail "no line '$text'" out err
	done
}

talk list
says 'HELLO version=1 role=1 cases=12' "CASE 0 key='spin' label='' threads=1 iterations=0" \
	"CASE 2 key='two_threads' label='' threads=2 iterations=0" LIST_END 'EXIT 0'
pass "the cases are listed"

talk -p plain:1 cpu 0 spin
grep -q '^THREAD .*error=[1-9]' out && skip "perf events are not permitted: $(grep -m1 '^THREAD' out)"

talk -p plain:10,sampled:100,plain:10,sampled:50 cpu 0 spin
says 'MAPS root=mapped entry=mapped' 'THREAD kind=1 slot=0 fds=2 error=0' \
	'ROUND none iterations=0 left_early=0 .*' 'ROUND plain iterations=10 .* pair=known.*' \
	'ROUND sampled iterations=100 .*' 'ROUND sampled iterations=50 .*' \
	"COUNTER 'passes' kind=1 value=150" "COUNTER 'seven' kind=0 value=7" \
	"COUNTER 'bytes' kind=2 value=1500" \
	"END ok left_early=0 label='passes=170' text=''" 'EXIT 0'
# 10 ms by a clock of 0.2 ms; none of them before or after the loop.
awk '/samples/ { split($2, a, "="); n += a[2]; split($4, b, "="); o += b[2] }
	END { exit !(n >= 20 && o == 0) }' out || fail "samples are missing, or lie outside" out
pass "events count in the rounds that sample, and nowhere else"

talk -p plain:10,again:16384,again:32768,plain:10,sampled:100 cpu 0 spin
for line in '^ROUND none' '^THREAD kind=1' '^MAPS'; do
	[ "$(grep -c "$line" out)" -eq 3 ] || fail "the events are not opened again" out
done
says 'ROUND sampled iterations=100 .*' "END ok left_early=0 label='passes=120' text=''"
awk '/samples/ { split($2, a, "="); exit !(a[2] > 10) }' out || fail "the new events do not count" out
pass "events are opened again, with another stack copy"

for mode in clock output disable; do
	talk -m $mode -p plain:10,sampled:100 cpu 1 half_paused
	says 'ROUND plain iterations=10 .* pauses=10 .* paused=some' \
		'ROUND sampled iterations=100 .* pauses=100 .* paused=some'
	awk '/samples/ { split($2, a, "="); split($4, b, "="); exit !(a[2] > 10 && b[2] <= 1) }' \
		out || fail "mode $mode: samples are missing, or lie outside" out
	[ $mode = clock ] || awk '/samples/ { split($3, p, "="); exit !(p[2] <= 3) }' out ||
		fail "mode $mode: samples in pauses" out
done
says 'ROUND sampled .* mode=2 .*' # the last one was DISABLE
talk -m clock -p sampled:100 cpu 1 half_paused
says '  samples inside=[0-9]* paused=[1-9][0-9]* .*'
pass "a pause is by clock, by its output, or by its event"

for mode in clock output disable; do
	talk -m $mode -p plain:10,sampled:50 cpu 2 two_threads
	says 'THREAD kind=1 slot=0 fds=2 error=0' 'THREAD kind=1 slot=1 fds=2 error=0' \
		'ROUND sampled iterations=100 left_early=0 threads=2 pauses=100 .*'
	talk -m $mode -p plain:10,sampled:50 cpu 3 pool
	says 'THREAD kind=1 slot=0 fds=2 error=0' 'THREAD kind=2 slot=256 fds=2 error=0'
done
# With one thread in the loop its pause is the pool's too. The pool's thread has to be reached on its
# own processor: on a busy machine some samples come before; by the clock they are half of all.
for try in 1 2 3; do
	awk '/samples/ { split($3, p, "="); exit !(p[2] <= 25) }' out && break
	[ $try -lt 3 ] || fail "the pool is sampled in pauses" out
	talk -m disable -p plain:10,sampled:50 cpu 3 pool
done
pass "threads of the loop and of pools have their events"

talk -p plain:10,sampled:10,plain:10,sampled:10 cpu 4 leaves_in_third_round
says 'ROUND plain iterations=5 left_early=1 .*' "END ok left_early=1 label='' text=''"
[ "$(grep -c '^ROUND' out)" -eq 4 ] || fail "rounds after the loop was left" out
talk -p plain:10,sampled:10 cpu 5 leaves_at_once
says "END failed left_early=1 .* text='the loop was left before the measured iterations.*" 'EXIT 0'
talk -p plain:10 cpu 6 skips
says "END skipped left_early=0 label='' text='no input'"
! grep -q '^ROUND' out || fail "a skipped case has rounds" out
talk -p plain:10,sampled:10 cpu 7 fails_inside
says 'ROUND sampled iterations=5 left_early=1 .*' "END failed .* text='pass 15 is wrong'"
talk -p plain:10,sampled:10 cpu 8 aborts
says 'SIGNAL 6'
talk -p plain:10,sampled:10 cpu 11 forks
says 'ROUND sampled iterations=10 left_early=0 .*' "END ok left_early=0 label='' text=''"
[ "$(grep -c '^END' out)" -eq 1 ] || fail "the child talks, too" out
pass "every way out of the loop ends the case"

for step in 1 2 3 4; do
	talk -d $step -p plain:10,sampled:10 cpu 0 spin
	says 'hung up' 'EXIT 125'
	[ "$(cat err)" = 'served: mew-perf is gone' ] || fail "not one line" err
done
run 0 timeout 60 "$fake" -b cpu 0 spin "$served"
says 'EXIT 125'
grep -q 'a window that does not fit' err || fail "no reason" err
talk cpu 1 spin
says "END failed .* text='the program has other cases than it listed'"
run 125 env MEW_PERF_SOCKET=/nonexistent "$served"
grep -q "cannot reach mew-perf at '/nonexistent'" err || fail "no reason" err
pass "a mew-perf that is gone or wrong ends the target with 125"

if nm "$served" 2>/dev/null | grep -q '__asan\|__ubsan'; then
	echo "1..$mew_count"
	exit 0
fi
if [ -f "$MEW_BUILDDIR/.libs/libmew.so" ]; then
	"$CC" -O2 -I"$MEW_SRCDIR/include" "$MEW_SRCDIR/tests/fixtures/served.c" -pthread \
		-L"$MEW_BUILDDIR/.libs" -lmew -Wl,-rpath,"$MEW_BUILDDIR/.libs" -o shared 2>err ||
		broken "the shared libmew does not link: $(cat err)"
	run 0 timeout 60 "$fake" -p plain:10,sampled:100 cpu 0 spin ./shared
	! grep -q '^BAD' out || fail "the shared libmew" out
	says 'MAPS root=mapped entry=mapped' "END ok left_early=0 label='passes=110' text=''"
	pass "the shared libmew talks the same"
fi

# ---- the heap's gate ----

talk -p warm:3,tracked:2 heap 10 allocates
says "END failed .* text='allocator not hooked: libmew-heap.so is not loaded'"
if "$CC" -O2 -static -I"$MEW_SRCDIR/include" "$MEW_SRCDIR/tests/fixtures/served.c" \
	"$MEW_BUILDDIR/.libs/libmew.a" -pthread -o served 2>err; then
	run 0 timeout 60 "$fake" -p warm:3,tracked:2 heap 10 allocates ./served
	says "END failed .* text='allocator not hooked: the program is static'"
	run 0 timeout 60 "$fake" -p plain:10,sampled:100 cpu 0 spin ./served
	! grep -q '^BAD' out || fail "a static program" out
	says 'MAPS root=mapped entry=mapped' "END ok left_early=0 label='passes=110' text=''"
	pass "a static program is served, but for its heap"
fi

mkdir hook
"$CC" -O2 -shared -fPIC -I"$MEW_SRCDIR/src" "$MEW_SRCDIR/tests/fixtures/fake_gate.c" \
	-o hook/libmew-heap.so 2>err || broken "the fake hook does not build: $(cat err)"
# The path holds a blank, which parts entries of LD_PRELOAD: go by a link.
link=$(mktemp -d /tmp/mew_gate.XXXXXX) || broken "no directory"
trap 'rm -rf "$mew_dir" "$link"' EXIT
ln -s "$mew_dir/hook/libmew-heap.so" "$link/libmew-heap.so"

# hooked FAULT ARG...: the same with the hook in the target.
hooked()
{
	fault=$1
	shift
	run 0 env MEW_FAKE_GATE="$fault" timeout 60 "$fake" "$@" \
		/usr/bin/env LD_PRELOAD="$link/libmew-heap.so" "$served"
	! grep -q '^BAD' out || fail "fake_perf $*" out
}
hooked none -p warm:3,tracked:2,tracked:1 heap 10 allocates
says "END ok left_early=0 label='' text=''" 'ROUND warm iterations=3 .* pauses=3 .*' \
	'ROUND tracked iterations=2 .* pauses=2 .*' 'ROUND tracked iterations=1 .*'
# FIRST for one iteration, OUTSIDE for two, WINDOW for two and one; in each iteration one
# allocation up to the pause and one in it, and none of libmew. Each iteration's end is told.
grep '^gate: ' err | sed 's/^gate: //' >calls
head -n 1 calls | grep -q '^prepare 1 1 ' || fail "the gate was not prepared" calls
sed -n '/^phase [12]/,/^phase 0/p' calls >inside
iteration='pause 1 1 allocations=1
pause 0 1 allocations=1
iteration 0 0 allocations=0'
cat >want <<END
phase 1 0 allocations=0
join 0 0 allocations=0
$iteration
phase 0 0 allocations=0
phase 2 0 allocations=0
$iteration
$iteration
phase 0 0 allocations=0
phase 2 0 allocations=0
$iteration
phase 0 0 allocations=0
END
cmp -s want inside || fail "the gate was not opened and closed as planned" inside want
pass "the gate opens for the first iteration and for the window alone"

hooked none -p warm:10,tracked:20,tracked:5 heap 4 leaves_in_third_round
says 'ROUND warm iterations=10 left_early=0 .*' 'ROUND tracked iterations=15 left_early=1 .*' \
	"END ok left_early=1 label='' text=''"
[ "$(grep '^gate: phase' err | tail -n 1)" = 'gate: phase 0 0 allocations=0' ] ||
	fail "the gate is open after the loop was left" err
hooked none -p warm:10,tracked:20 heap 5 leaves_at_once
says "END failed left_early=1 .* text='the loop was left before the measured iterations.*"
[ "$(grep -c '^gate: phase [12]' err)" -eq 1 ] || fail "the gate opened again" err
hooked none -p warm:2,tracked:4 heap 2 two_threads
says 'ROUND tracked iterations=8 .* pauses=8 .*'
grep -q '^gate: pause 1 0 ' err || fail "a pause of one thread is not its own" err
# Both join; of the iterations, those of the first one are told: 2 of the warm-up, 4 measured.
[ "$(grep -c '^gate: join' err)" -eq 2 ] || fail "a thread of the loop has not joined" err
[ "$(grep -c '^gate: iteration' err)" -eq 6 ] || fail "iterations are not those of a thread" err
pass "the gate is closed whichever way the loop is left"

hooked deaf -p warm:3,tracked:2 heap 10 allocates
says "END failed .* text='allocator not hooked: the program brings its own malloc'"
hooked refused -p warm:3,tracked:2 heap 10 allocates
says "END failed .* text='allocator not hooked: Operation not permitted'"
hooked version -p warm:3,tracked:2 heap 10 allocates
says "END failed .* text='allocator not hooked: libmew-heap.so is of another version than libmew'"
pass "a hook that does not see fails the case"

hooked none -p warm:3,tracked:2 heap 9 environment
says 'child runs' "END ok left_early=0 label='' text=''"
! grep -q '^child has' out || fail "a child sees our variables" out
pass "children do not see our variables"

echo "1..$mew_count"
