#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Events, rings and records of the running kernel, as an ordinary user.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

cp "$MEW_BUILDDIR/tests/fixtures/ring_tool" tool || broken "tests/fixtures/ring_tool is not built"
chmod 755 . tool

# as_user COMMAND...: root's rights would hide what an ordinary user meets.
if [ "$(id -u)" -eq 0 ]; then
	need setpriv
	as_user()
	{
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	}
else
	as_user()
	{
		"$@"
	}
fi

# check COMMAND TEXT: ring_tool's own verdict.
check()
{
	status=0
	as_user "$mew_dir/tool" "$1" >out 2>err || status=$?
	case $status in
	0) pass "$2" ;;
	77) skip "$(cat out)" ;;
	*) fail "$2" out err ;;
	esac
}

# says STATUS TEXT COMMAND...: exits so, and its output holds the text.
says()
{
	status=$1
	text=$2
	shift 2
	run "$status" "$@"
	grep -qF -- "$text" out || fail "'$*' does not say: $text" out err
}

check samples "samples lie in the time of the event, with registers and stack"
check pause-output "a paused output has no samples, its count runs on, its LOST is no loss"
check disable "a disabled event has no samples, and its count goes on from where it stood"
check switch "the dummy event tells when the thread left the CPU"
check loss "a ring that nobody drains was full, and says what it lost"
check period "a period that is changed is in force at once"
check whole "a whole program is followed through threads, children and exec"

if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ]; then
	check limit "a ring over the memory limit is refused, and a smaller one fits"
fi

run 0 as_user "$mew_dir/tool" resolve
grep -qE '^(cycles|cpu-clock):u kind [01] period [0-9]+$' out ||
	fail "the default event is neither cycles nor cpu-clock" out
pass "the default event is cycles where they count, else cpu-clock"

as_user "$mew_dir/tool" resolve cycles >out 2>err
grep -q 'cycles:u' out || fail "'cycles' is neither sampled nor refused by name" out
grep -q 'clock' out && fail "a name that is given falls back to something else" out
pass "a name that is given never falls back"

says 0 'cpu-clock:u kind 0 period 100000' as_user "$mew_dir/tool" resolve cpu-clock
says 0 'page-faults:u kind 2 period 1' as_user "$mew_dir/tool" resolve page-faults
says 0 'kind 2 period 7' as_user "$mew_dir/tool" resolve perf::PERF_COUNT_SW_PAGE_FAULTS:u:period=7
pass "names of perf and of libpfm4 are resolved"
says 1 "no event is called 'nonsense'" as_user "$mew_dir/tool" resolve nonsense
says 1 "event modifier 'z'" as_user "$mew_dir/tool" resolve cycles:z
says 1 "no PMU 'nopmu'" as_user "$mew_dir/tool" resolve nopmu/event=1/
says 1 "happens in the kernel alone" as_user "$mew_dir/tool" resolve context-switches:u
pass "what is no event is named, with its fault"

says 0 'page-faults - software event' as_user "$mew_dir/tool" list 'page*'
[ "$(wc -l <out)" -eq 1 ] || fail "a pattern lists other names too" out
pass "events are listed by pattern"

says 0 'kernel.perf_event_paranoid is 3; allow it by: sudo sysctl kernel.perf_event_paranoid=2' \
	as_user "$mew_dir/tool" explain 13 cpu-clock:u 3
says 0 'needs the kernel'\''s side' as_user "$mew_dir/tool" explain 13 cycles:k 2
says 0 'in a container' as_user "$mew_dir/tool" explain 1 cpu-clock:u 2
pass "a refusal names the setting, its value and the command"

# Mounts need root, and stay in a mount namespace of their own.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	cat >tracefs.sh <<-'END'
		while umount -t tracefs /sys/kernel/tracing 2>/dev/null; do :; done
		grep -q ' tracefs ' /proc/self/mounts && exit 77
		./tool resolve sched:sched_switch
		mount -t tracefs tracefs /sys/kernel/tracing || exit 77
		./tool resolve sched:sched_switch
		./tool resolve sched:no_such_event
		./tool list 'sched:sched_swi*'
	END
	status=0
	unshare -m sh tracefs.sh >out 2>err || status=$?
	if [ "$status" -eq 77 ]; then
		echo "# not tried: tracepoints (this machine has no tracefs, or does not let go of it)"
	else
		cat >want <<-'END'
			no event is called 'sched:sched_switch' without tracefs, and tracefs is not mounted (mount it by: sudo mount -t tracefs tracefs /sys/kernel/tracing)
			sched:sched_switch kind 2 period 1
			no event is called 'sched:no_such_event'
		END
		sed 3q out >first
		cmp -s want first || fail "tracepoints are not resolved" want first err
		grep -q '^sched:sched_switch - tracepoint:.* prev_pid .* next_pid ' out ||
			fail "a tracepoint is not listed with its fields" out
		pass "tracepoints are resolved and listed, and tracefs is asked for by name"
	fi
else
	echo "# not tried: tracepoints (they need root and a mount namespace)"
fi

echo "1..$mew_count"
