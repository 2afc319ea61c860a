#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stack copy of a whole program grows when stacks are deeper: in all threads and children, those
# that are alive and those to come, with no time lost between the two sizes. It shrinks before that
# where they end soon.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
empty= # a command
deep=$MEW_BUILDDIR/tests/fixtures/deep

# profile WORD...: options, `--`, and the words after the program.
profile()
{
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	rm -f x.db
	# shellcheck disable=SC2086 # words
	run 0 $empty "$MEW_PERF" cpu -v -e cpu-clock:u --interval 1ms -d x.db -o x.csv $options "$deep" "$@"
	samples=$(cell x.csv deep sample_count)
	truncated=$(cell x.csv deep truncated)
}

# Of a size that is given all are cut, and the hint is a larger one.
profile --stack-size 8192 -- recursion 400 0.4
holds "exactly 8192 bytes: all are cut" "$truncated >= 0.95 * $samples > 0"
grep -q 'hint: .* --stack-size 32768 ' err || fail "no hint to a larger copy" err
profile --stack-size 65528 -- recursion 400 0.4
holds "65528 bytes at once: none is cut" "$truncated <= 0.01 * $samples"

# Those of before the first look at the samples, a tenth of a second, are cut and told.
profile -- recursion 400 1.5
holds "small frames: few are cut" "0 < $truncated <= 0.35 * $samples"
grep -q "$truncated stacks broken" x.csv || fail "those before it grew are not told" x.csv
[ "$(cell x.csv deep lost)" -gt 0 ] || grep -q 'hint: .* --stack-size 32768 ' err ||
	fail "no hint to begin with what was enough" err
n=$(sed -n 's/.* took \([0-9]*\) bytes of stack$/\1/p' err)
holds "what a whole one needs was copied" "8192 < ${n:-0} <= 32768"

profile -- frames 5 1.5
holds "frames of more than 8 KiB: two steps, few are cut" "0 < $truncated <= 0.5 * $samples"
n=$(sed -n 's/.* took \([0-9]*\) bytes of stack$/\1/p' err)
holds "what a whole one needs was copied" "45000 <= ${n:-0} <= 65528"

# Of stacks that need little 2 KiB are copied, where 8 would reach past the end of the stack: it lies
# below the environment. What is deeper later is cut until that is seen, and told.
empty='env -i LC_ALL=C'
profile --interval 250us --stack-size 8192 -- recursion 50 0.6 late
[ "$truncated" -eq 0 ] || fail "50 small frames are more than 8192 bytes" x.csv err
exact=$samples
profile --interval 250us -- recursion 50 0.6 late
holds "deep late: few are cut" "0 < $truncated <= 0.2 * $samples"
holds "deep late: no sample is missing" "abs($samples - $exact) <= 0.1 * $exact"
n=$(sed -n 's/.* took \([0-9]*\) bytes of stack$/\1/p' err)
holds "deep late: whole ones need more than 2 KiB" "2048 < ${n:-0} <= 8192"
if grep -q "$truncated stacks broken" x.csv; then
	[ "$(cell x.csv deep lost)" -gt 0 ] || grep -q 'hint: .* --stack-size 8192 ' err ||
		fail "deep late: no hint to begin with what was enough" err
fi
profile --interval 250us -- recursion 0 0.6 late
# What it prints at its end takes more.
holds "never deep: next to none is cut" "$truncated <= 0.001 * $samples"
empty=

# No copy is large enough for 10,000 frames: said, with no hint to a larger one.
profile -- recursion 10000 0.4
holds "10,000 frames: all are cut" "$truncated >= 0.95 * $samples > 0"
grep -q 'are deeper than what was copied of them' err || fail "no word on why they are cut" err
grep -q 'hint: .*--stack-size' err && fail "a hint to a copy larger than the largest" err

# Everybody follows: the times are those of the processes themselves.
profile -- recursion 400 0.5 family
used=$(grep -x '[0-9.]*' err)
holds "family: few are cut" "0 < $truncated <= 0.35 * $samples"
cell x.csv deep verdict | grep -Eqx "([0-9]+ samples? lost; )?$truncated stacks? broken; 2 child processes included" ||
	fail "family: more is doubtful than the stacks" x.csv
pass "family: nothing is doubtful but the stacks"
user=$(sqlite3 x.db 'select sum(weight) from cpu_stack')
holds "family: the weights are the CPU time" \
	"abs($user + $(cell x.csv deep kernel_time) - $used) <= 0.06 * $used"
for of in late_thread late_child; do
	s=$(sqlite3 x.db "with recursive up(leaf, at) as (
		select stack, stack from cpu_stack
		union select leaf, s.parent from up join stack s on s.id = up.at where s.parent is not null)
		select coalesce(sum(weight), 0) from cpu_stack where stack in (
			select leaf from up join stack s on s.id = up.at join function f on f.id = s.function
			where f.name = '$of')")
	holds "family: $of has its half second, less what the kernel took" "0.35 <= $s <= 0.55"
done

# Where there can be no larger copies it goes on without.
run 0 "$MEW_BUILDDIR/tests/fixtures/deny_perf" -o 22 "$MEW_PERF" cpu -e cpu-clock:u --interval 1ms \
	--no-db -o x.csv "$deep" recursion 400 0.4
holds "no larger copies: all are cut" "$(cell x.csv deep truncated) >= 0.95 * $(cell x.csv deep sample_count) > 0"
