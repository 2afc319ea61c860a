#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where results go: standard output, files, formats, the recording; and what a terminal changes.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need script sqlite3
[ -x "$MEW_PERF" ] || broken "no '$MEW_PERF'"
cp "$MEW_BUILDDIR/examples/bench_qsort" bench || broken "no example bench_qsort"
perf=$MEW_PERF
esc=$(printf '\033')

# mem ARG...: the quickest run of one case, recording nothing.
mem()
{
	run 0 "$perf" mem --no-db -n 2 -k n=100$ "$@" ./bench
}
csv='^name,label,profiler,peak_bytes,'

# ---- files ----
mem
grep -q '^  CASE ' out || fail "the table goes to stdout" out
mem -o a.csv
grep -q "$csv" a.csv || fail "-o a.csv holds CSV" a.csv
[ ! -s out ] || fail "-o a.csv leaves stdout alone" out
mem -o b.csv -o - -o c.csv
grep -q '^  CASE ' out || fail "-o - is the table on stdout" out
cmp -s b.csv c.csv || fail "-o twice: two files" b.csv c.csv
grep -q "$csv" b.csv || fail "-o b.csv holds CSV" b.csv
mem --csv=d.csv
cmp -s a.csv d.csv || fail "--csv=FILE is CSV" d.csv
mem --csv
cmp -s a.csv out || fail "--csv is CSV on stdout" out
mem --format csv
cmp -s a.csv out || fail "--format csv is CSV on stdout" out
mem --format csv -o plain.dat
cmp -s a.csv plain.dat || fail "--format names the format of plain.dat" plain.dat
mem --format text -o e.csv -o -
cmp -s a.csv e.csv || fail "an extension names the format" e.csv
grep -q '^  CASE ' out || fail "--format text is for stdout" out
mkfifo pipe
cat pipe >through &
mem --format csv -o pipe
wait $!
[ -p pipe ] || fail "a pipe is written, not replaced"
cmp -s a.csv through || fail "a pipe takes CSV" through
run 0 "$perf" run --no-db -n 30 -k n=100$ -o f.csv ./bench
grep -q '^name,' f.csv || fail "run: -o holds CSV" f.csv
[ ! -s out ] || fail "run: -o leaves stdout alone" out
ls >now
grep -v -e '\.csv$' -e '^bench$' -e '^pipe$' -e '^plain.dat$' -e '^through$' -e '^now$' -e '^out$' \
	-e '^err$' now >litter
[ ! -s litter ] || fail "files that nobody asked for" litter
pass "results go where the options say, and nowhere else"

# ---- recordings ----
run 0 "$perf" mem -n 2 --tag "it's a tag" ./bench
grep -qx "mew-perf: new recording 'mew-perf.db'" err || fail "a new recording is named" err
run 0 "$perf" mem -n 2 -k n=100$ ./bench
if grep -q recording err; then
	fail "a recording that was there is not new" err
fi
run 0 "$perf" mem -q -n 2 -k n=100$ -d other.db ./bench
[ ! -s err ] || fail "-q is quiet" err
[ "$(sqlite3 mew-perf.db 'SELECT count(*) FROM case_')" -eq 4 ] || fail "four cases were run"
[ "$(sqlite3 mew-perf.db 'SELECT tag FROM session WHERE id = 1')" = "it's a tag" ] ||
	fail "the tag is recorded"
[ "$(sqlite3 other.db 'SELECT sum(complete) FROM session')" -eq 1 ] || fail "the session is complete"
pass "runs are recorded, and a new recording is named once"

# A new recording appears with its first case.
run 2 "$perf" mem -d none.db -k nothing ./bench
[ ! -e none.db ] || fail "a filter that matches nothing makes a recording"
run 2 "$perf" cpu -d none.db -e no-such-event ./bench
[ ! -e none.db ] || fail "an unknown event makes a recording"
run 125 "$perf" mem -d missing/none.db ./bench
grep -qx "mew-perf: cannot make recording 'missing/none.db': No such file or directory" err ||
	fail "a recording in no folder is told before the run" err
[ ! -s out ] || fail "a recording in no folder is told before the run" out
pass "a run without a case leaves no recording"

# ---- terminals ----
# terminal COLUMNS COMMAND: on a terminal; what it prints goes to `shown`.
terminal()
{
	printf '%s\n' "$2" >line
	script -qec "stty cols $1; sh ./line" typescript >/dev/null 2>&1 </dev/null ||
		fail "'$2' fails on a terminal" typescript
	tr -d '\r' <typescript | sed '/^Script started/d; /^Script done/d' >shown
}
mkdir bin
ln -s "$perf" bin/mew-perf
PATH=$PWD/bin:$PATH
export PATH
for columns in 80 120 160; do
	terminal $columns 'mew-perf mem --color never --no-db -n 2 ./bench 2>/dev/null'
	awk -v max="$columns" 'length > max' shown >long
	[ ! -s long ] || fail "lines fit a terminal of $columns columns" long
	head -n 1 shown >"head.$columns"
done
cmp -s head.80 head.120 && fail "a wider terminal shows more columns" head.80 head.120
terminal 80 'mew-perf mem -w --color never --no-db -n 2 ./bench 2>/dev/null'
run 0 "$perf" mem --no-db -n 2 ./bench
[ "$(head -n 1 shown)" = "$(head -n 1 out)" ] || fail "-w shows what a pipe shows" shown out
pass "tables are as wide as the terminal"

# colour WANT COMMAND: whether there are escapes.
colour()
{
	terminal 80 "$2"
	got=no
	if grep -q "$esc" shown; then
		got=yes
	fi
	[ $got = "$1" ] || fail "'$2': colour: $got, not $1" shown
}
colour yes 'mew-perf mem --no-db -n 2 ./bench 2>/dev/null'
colour no 'NO_COLOR=1 mew-perf mem --no-db -n 2 ./bench 2>/dev/null'
colour yes 'NO_COLOR= mew-perf mem --no-db -n 2 ./bench 2>/dev/null'
colour yes 'NO_COLOR=1 mew-perf mem --color=always --no-db -n 2 ./bench 2>/dev/null'
colour no 'mew-perf mem --color=never --no-db -n 2 ./bench 2>/dev/null'
colour no 'mew-perf mem --no-db -n 2 ./bench 2>/dev/null | cat'
colour yes 'mew-perf mem --color always --no-db -n 2 ./bench 2>/dev/null | cat'
colour no 'mew-perf mem --color always --no-db -n 2 -o x.csv ./bench 2>/dev/null; cat x.csv'
pass "colour is for terminals, or as --color says"

# The limit is in blocks of 512 or of 1024 bytes; what it says itself is below both.
# shellcheck disable=SC2016
run 125 sh -c 'ulimit -f 8; exec "$0" mem -d limited.db -n 2 ./bench' "$perf"
grep -q "^mew-perf: cannot .*write recording 'limited.db'" err || fail "a file size limit is not told" err
[ ! -e limited.db ] || fail "a recording that could not be written is left"
pass "a file size limit is an error of writing, no end by a signal"

terminal 80 'mew-perf mem --no-db -n 2 ./bench >/dev/null'
grep -q '2 of 3: qsort_ints/case:1 n=1000' shown || fail "progress is shown on a terminal" shown
terminal 80 'mew-perf mem -q --no-db -n 2 ./bench >/dev/null'
if grep -q ' of 3' shown; then
	fail "-q shows no progress" shown
fi
run 0 "$perf" mem --no-db -n 2 ./bench
if grep -q ' of 3' err; then
	fail "progress is shown in a pipe" err
fi
pass "progress is for terminals"

echo "1..$mew_count"
