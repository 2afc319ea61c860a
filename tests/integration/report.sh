#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mew-perf report on recordings that mem and cpu have made: which sessions are joined, sums, sorting,
# stacks, CSV, and what is refused.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

[ -x "$MEW_PERF" ] || broken "no '$MEW_PERF'"
bench=$MEW_BUILDDIR/examples/bench_qsort
[ -x "$bench" ] || broken "no '$bench'"

says()
{
	grep -qF -- "$1" "$2" || fail "'$1' is not in $2" out err
}

# ---- nothing there ----
run 125 "$MEW_PERF" report
says "mew-perf: cannot open recording 'mew-perf.db': No such file or directory" err
[ ! -e mew-perf.db ] || fail "report made a recording"
pass "a missing recording is an error, and none is made"

run 2 "$MEW_PERF" report "$bench"
says "report runs nothing" err
pass "a program is refused"

# ---- one session alone ----
run 0 "$MEW_PERF" mem -q -k n=1000 "$bench"
run 0 "$MEW_PERF" report -k 'n=1000$'
says "qsort_ints/case:1 n=1000: 1 allocs/iter, peak 4000 B" out
grep -qE '^ +- +- +- +1 +4000 B +100% .*qsort_r' out || fail "no row of qsort_r" out
grep -qE '^ +- +- +1 +4000 B +4000 B .*all$' out || fail "the sums are not those of the case" out
pass "a heap session alone is reported"

# ---- both ----
run 0 "$MEW_PERF" cpu -q -n 2000 -k n=1000 "$bench"
run 0 "$MEW_PERF" report -k 'n=1000$'
head -1 out | grep -qE 'n=1000: [0-9.]+ [mu]s/iter, 1 allocs/iter, peak 4000 B, allocator tax ' ||
	fail "the head line is not of both" out
pass "both sessions are joined"

run 0 "$MEW_PERF" report --csv --sort name
[ "$(head -1 out)" = "$(printf 'name,label,function,file,line,module,self_time,tax_time,total_time,self_share,tax_share,total_share,allocations_per_iteration,bytes_per_iteration,peak_bytes,peak_share,held_bytes\r')" ] ||
	fail "the header is another" out
awk -F, 'NR > 1 && $3 != "" && $3 < last && $1 $2 == of { exit 1 } { last = $3; of = $1 $2 }' out ||
	fail "rows are not sorted by name" out
pass "CSV has one row a function, sorted as asked for"

# Self and tax are the user time that the recording has, allocations what the case has.
run 0 "$MEW_PERF" report --csv -k 'n=1000$'
cp out functions
run 0 "$MEW_PERF" report --csv --table=cases -k 'n=1000$'
awk -F, 'FNR == 1 { file++ } FNR > 1 && file == 1 { time += $7 + $8; n += $13; bytes += $14 }
	FNR > 1 && file == 2 { want = $4 + $5; wn = $8; wbytes = $9 }
	END { d = time / want - 1; exit !(d < 1e-6 && d > -1e-6 && n == wn && bytes == wbytes && n == 1) }' \
	functions out || fail "the rows do not add up" functions out
pass "self, tax, allocations and bytes add up to the case"

run 0 "$MEW_PERF" report --stacks=peak -k 'n=1000$'
grep -qE '^ +100% +4000 B +malloc' out || fail "no stack holds the peak" out
run 0 "$MEW_PERF" report --stacks --top 1 -k 'n=1000$'
says "where the time goes" out
[ "$(grep -c '%' out)" -le 2 ] || fail "more than one stack" out
pass "stacks are shown by time and by peak"

run 0 "$MEW_PERF" report --csv --stacks=peak -k 'n=1000$'
grep -q '^name,label,stack,allocations' out || fail "these are not the heap's stacks" out
[ "$(wc -l <out)" -eq 2 ] || fail "the filter left other cases" out
pass "stacks in CSV obey the filter"

run 2 "$MEW_PERF" report -k nothing_like_that
says "there are: qsort_ints/case:1 n=1000, qsort_ints/case:2" err
[ ! -s out ] || fail "something was shown" out
pass "a filter that matches nothing names the cases"

run 0 "$MEW_PERF" report -o functions.csv -o report.txt
[ -s functions.csv ] || fail "there is no CSV file"
[ -s report.txt ] || fail "there is no text file"
[ ! -s out ] || fail "standard output has something, too" out
pass "files instead of standard output"

# ---- which sessions ----
run 0 "$MEW_PERF" mem -q sort /dev/null
run 2 "$MEW_PERF" report
says "the newest sessions are not of the same program and arguments" err
says "cpu session 2" err
says "mem session 3" err
run 0 "$MEW_PERF" report --cpu 2
says "1 allocs/iter" out
run 0 "$MEW_PERF" report --cpu 2 --mem 1
run 0 "$MEW_PERF" report --heap 3
says "sort: " out
run 2 "$MEW_PERF" report --cpu 3
says "session 3 is a heap session" err
run 2 "$MEW_PERF" report --cpu 99
says "has no session 99" err
pass "sessions that do not belong together are not joined, and can be chosen"

# ---- what is no recording ----
echo "no recording" >text.db
run 125 "$MEW_PERF" report -d text.db
says "'text.db' is not a recording" err
run 125 "$MEW_PERF" report -d .
says "cannot open recording '.': Is a directory" err
head -c 3000 mew-perf.db >cut.db
run 125 "$MEW_PERF" report -d cut.db
[ -s err ] || fail "a cut recording is not told"
pass "what is no recording is an error"

# shellcheck disable=SC2016
run 125 sh -c '"$MEW_PERF" report -k n=1000 --cpu 2 >/dev/full'
says "No space left on device" err
pass "a full disk is an error"

echo "1..$mew_count"
