#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stacks of all kinds: deep ones, large frames, signal handlers, coroutines, code without CFI. What
# cannot be walked is counted, and said with its reason.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
if is_sanitized; then
	skip "sanitizers have stacks of their own"
fi
bench=$MEW_BUILDDIR/tests/fixtures/stacks

# library NAME TURNS FRAME: made alike but for its function's name and numbers. Another frame is one
# that the other's rules lead astray.
library()
{
	echo "#include <stdlib.h>
static volatile unsigned long sink;
static volatile unsigned turns = $2;
static void *volatile block;
static void $1_work(void);
void work(void) { $1_work(); sink++; }
__attribute__((noinline)) static void $1_work(void)
	{ volatile char frame[$3]; frame[0] = frame[$3 - 1] = 1; for (unsigned i = 0; i < turns; i++) sink = sink * 3 + i;
	  for (unsigned i = 0; i < turns; i += 1000000) { block = malloc(10); free(block); } }" >"$1.c"
	"$CC" -O1 -g -fno-toplevel-reorder -shared -fPIC -o "$1.so" "$1.c" 2>err || broken "cannot build $1.so"
}
library first 3000000 24
library second 1000000 4000

# below FILE TABLE CASE FUNCTION: how many samples or allocations of the case's leaf() came by it.
below()
{
	sqlite3 "$1" "with recursive up(leaf, at) as (
		select v.rowid_, v.stack from (select row_number() over () as rowid_, stack, n from own) v
		union all select leaf, s.parent from up join stack s on s.id = at where at > 0),
		own as (select stack, $2 as n from $3 v join case_ c on c.id = v.case_
			where c.name = '$4')
		select coalesce(sum(n), 0) from (select row_number() over () as rowid_, n from own)
		where rowid_ in (select leaf from up join stack s on s.id = at
			join function f on f.id = s.function where f.name = '$5')"
}

run 0 "$MEW_PERF" cpu --interval 1ms -n 3000 --stack-size 8192 -k '-^replaced$' -d c.db -o c.csv "$bench"
cp err cpu.err

# whole CASE: its stacks reach the case; a sample or two may strike where nothing is set up.
whole()
{
	holds "$1: stacks are whole" "$(cell c.csv "$1" sample_count) >= 10 and
		$(cell c.csv "$1" truncated) <= 0.05 * $(cell c.csv "$1" sample_count)"
}

# broken CASE TEXT: they do not, and the reason is said.
broken_by()
{
	holds "$1: stacks that break are counted" "$(cell c.csv "$1" sample_count) >= 10 and
		$(cell c.csv "$1" truncated) >= 0.8 * $(cell c.csv "$1" sample_count)"
	grep -q "^mew-perf: $1: [0-9]* stacks .*$2" cpu.err || fail "$1: not said: $2" cpu.err
	pass "$1: and the reason is said"
}

whole handler
broken_by altstack "broke in '.*': called from a signal's handler that has a stack of its own"
broken_by deep "are deeper than what was copied of them"
broken_by frames "are deeper than what was copied of them"
whole coroutine
case $(cell c.csv coroutine verdict) in
*"samples in coroutines"*) pass "coroutines are told from the loop" ;;
*) fail "the verdict knows nothing of coroutines" c.csv ;;
esac
n=$(below c.db samples cpu_stack coroutine '[coroutine]')
holds "and have a root of their own" "$n >= 0.9 * $(cell c.csv coroutine sample_count)"
if [ "$(uname -m)" = x86_64 ]; then
	for case in assembly jit; do
		whole $case
		case $(cell c.csv $case verdict) in
		*"stacks by frame pointers"*) pass "$case: frame pointers are told from CFI" ;;
		*) fail "$case: frame pointers are trusted silently" c.csv ;;
		esac
	done
fi
broken_by lost "broke in 'stacks': no unwind information"
if [ "$(uname -m)" = x86_64 ]; then
	broken_by zero "broke in 'stacks': a return address of 0"
fi

# A copy that is not given grows to what the case needs; one that is given does not.
run 0 "$MEW_PERF" cpu -v --no-db -k '^(medium|deep)$' -o c.csv "$bench"
cp err cpu.err
whole medium
broken_by deep "are deeper than what was copied of them"
n=$(sed -n 's/^mew-perf: deep: .* took \([0-9]*\) bytes of stack$/\1/p' cpu.err)
holds "deep: as much was copied as can be" "${n:-65000} > 60000"
holds "and what was measured before is forgotten" "$(cell c.csv medium truncated) == 0"

# keeps_names CASE: samples in code that was replaced by other code at the same place have the names
# of their time. The recording is r.db.
keeps_names()
{
	first=$(below r.db samples cpu_stack "$1" first_work)
	second=$(below r.db samples cpu_stack "$1" second_work)
	holds "$1: replaced code keeps its name" "$first + $second > 100 and
		0.6 <= $first / ($first + $second) <= 0.9"
}

run 0 "$MEW_PERF" cpu --interval 1ms -n 60 -k '^replaced$' -d r.db -o r.csv "$bench"
if grep -q 'different places' err; then
	echo '# the libraries are at different places'
else
	keeps_names replaced
	holds "replaced code is walked by its own rules" \
		"$(cell r.csv replaced truncated) <= 0.05 * $(cell r.csv replaced sample_count)"
	rm r.db
	run 0 "$MEW_PERF" cpu --interval 1ms -d r.db env -u MEW_PERF_SOCKET "$bench" \
		--filter '^replaced$' --repetitions 1 --min-time 0.3
	keeps_names env
fi

# The heap hook walks the stack itself, not a copy.
run 0 "$MEW_PERF" mem -n 50 -d m.db -o m.csv "$bench"
for case in deep medium frames handler altstack coroutine assembly jit; do
	[ "$(uname -m)" = x86_64 ] || case $case in assembly | jit) continue ;; esac
	case $case in
	assembly | jit) want='ok; 50 stacks by frame pointers' ;;
	coroutine) want='ok; 50 allocations in coroutines' ;;
	*) want=ok ;;
	esac
	[ "$(cell m.csv $case verdict)" = "$want" ] || fail "mem: $case is not: $want" m.csv
	pass "mem: $case is whole"
done
holds "mem: and coroutines have a root of their own" \
	"$(below m.db allocations heap_stack coroutine '[coroutine]') == 50 and
	$(below m.db allocations heap_stack deep '[coroutine]') == 0"
depth=$(sqlite3 m.db "with recursive up(at, n) as (
	select v.stack, 1 from heap_stack v join case_ c on c.id = v.case_ where c.name = 'deep'
	union all select s.parent, n + 1 from up join stack s on s.id = at where s.parent > 0)
	select max(n) from up")
holds "mem: all frames of a recursion are there" "10000 < $depth < 10020"
holds "mem: the interrupted stack is walked too" \
	"$(below m.db allocations heap_stack altstack interrupted) == 50"
case $(cell m.csv lost verdict) in
*"50 stacks broken"*) pass "mem: code without anything breaks stacks" ;;
*) fail "mem: broken stacks are not counted" m.csv ;;
esac

if [ "$(uname -m)" = x86_64 ]; then
	grep -q "^mew-perf: zero: 50 stacks broke in 'stacks': a return address of 0" err ||
		fail "mem: a wrong turn is taken for an end" err
	pass "mem: a return address of 0 is no benchmark"
fi
if ! grep -q 'different places' err; then
	holds "mem: replaced code keeps its name" \
		"$(below m.db allocations heap_stack replaced first_work) == 150 and
		$(below m.db allocations heap_stack replaced second_work) == 50"
fi

grep -q "^mew-perf: lost: 50 stacks broke in 'stacks': no unwind information" err ||
	fail "mem: not said where and why" err
pass "mem: and the reason is said"

echo "1..$mew_count"
