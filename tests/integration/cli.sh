#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wrong use of the command line: each has its message, its hint and its exit status, and runs nothing.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

[ -x "$MEW_PERF" ] || broken "no '$MEW_PERF'"
cp "$MEW_BUILDDIR/tests/fixtures/odd_names" bench || broken "no fixture odd_names"
perf=$MEW_PERF

# says STATUS TEXT ARG...: mew-perf ARG... prints nothing to stdout, TEXT to stderr. An @ in TEXT
# begins each line, as the prefix.
says()
{
	says_status=$1
	printf '%s\n' "$2" | sed 's/^@ /mew-perf: /' >want
	shift 2
	run "$says_status" "$perf" "$@"
	[ ! -s out ] || fail "mew-perf $*: nothing belongs to stdout" out
	diff want err >differ || fail "mew-perf $*: another message" differ
}

# ---- commands ----
says 2 "@ no command
@ hint: 'mew-perf -h' lists the commands"
says 2 "@ unknown command 'foo'
@ hint: 'mew-perf -h' lists the commands" foo
says 2 "@ unknown command './bench'
@ hint: 'mew-perf run ./bench' profiles that program" ./bench
says 2 "@ unknown command 'record'
@ hint: 'mew-perf cpu' samples a program, 'mew-perf run' does all" record ./bench
for word in top annotate script stat diff compare help version; do
	run 2 "$perf" "$word"
	grep -q "^mew-perf: unknown command '$word'$" err || fail "$word: the message" err
	grep -q '^mew-perf: hint: ' err || fail "$word: the hint" err
done
says 2 "@ unknown option '--filter'
@ hint: options stand behind the command: mew-perf COMMAND [options]" --filter x
pass "a wrong command is named, with a hint"

# ---- options ----
for command in cpu mem run heap; do
	says 2 "@ no program to run
@ hint: mew-perf COMMAND [options] [--] PROGRAM [ARG...]" $command
	says 2 "@ no program to run
@ hint: mew-perf COMMAND [options] [--] PROGRAM [ARG...]" $command -n 3 --
done
says 2 "@ unknown option '--bogus'
@ hint: 'mew-perf cpu -h' lists the options" cpu --bogus=3 ./bench
says 2 "@ unknown option '-X'
@ hint: 'mew-perf mem -h' lists the options" heap -qX ./bench
says 2 "@ unknown option '--interval'
@ hint: 'mew-perf mem -h' lists the options" mem --interval 1ms ./bench
says 2 "@ option '--i' is ambiguous
@ hint: 'mew-perf cpu -h' lists the options" cpu --i 3 ./bench
says 2 "@ option '--iterations' needs a value" cpu --iterations
says 2 "@ option '-n' needs a value" cpu -n
says 2 "@ option '--no-db' takes no value" cpu --no-db=x ./bench
says 2 "@ -n: '0' is no whole number from 1" cpu -n 0 ./bench
says 2 "@ -n: '-3' is no whole number from 1" cpu -n -3 ./bench
says 2 "@ --iterations: '1e3' is no whole number from 1" cpu --inner-iterations=1e3 ./bench
says 2 "@ -n: '99999999999999999999' is too large" mem -n 99999999999999999999 ./bench
says 2 "@ -r: 'x' is no whole number from 1" run -r x ./bench
says 2 "@ --warmup: '-1' is no whole number" mem --warmup=-1 ./bench
says 2 "@ --timeout: '3 parsecs' is no time such as 100us, 2ms or 1.5s" mem --timeout '3 parsecs' ./bench
says 2 "@ --interval: '0' is no time such as 100us, 2ms or 1.5s" cpu --interval 0 ./bench
says 2 "@ --interval: '10ns' is below 1us" cpu --interval 10ns ./bench
says 2 "@ --interval: '2h' is too long" cpu --interval 2h ./bench
says 2 "@ --stack-size: '1001' is no multiple of 8 up to 65528" cpu --stack-size 1001 ./bench
says 2 "@ --stack-size: '64k' is no multiple of 8 up to 65528" cpu --stack-size 64k ./bench
says 2 "@ --pause: 'maybe' is none of: ioctl clock auto" cpu --pause maybe ./bench
says 2 "@ --color: 'red' is none of: auto always never" cpu --color red ./bench
says 2 "@ --table: 'rows' is none of: cases functions stacks curve sizes" cpu --csv --table rows ./bench
says 2 "@ -e: an event has a name" cpu -e '' ./bench
says 2 "@ no event is called 'cylces'; did you mean 'cycles'?
@ hint: 'mew-perf list --events' lists those of this machine" cpu -e cylces ./bench
says 2 "@ no event is called 'nonsense'
@ hint: 'mew-perf list --events' lists those of this machine" cpu --no-db -e nonsense ./bench
says 2 "@ options '--count' and '--interval' exclude each other" cpu -c 1000 -F 99 ./bench
says 2 "@ -k: '(' is no regular expression: Unmatched ( or \\(" cpu -k '(' ./bench
says 2 "@ --format: there is no format 'yaml'
@ hint: 'mew-perf list --formats' lists them" cpu --format yaml ./bench
pass "a wrong option or value is named"

# ---- results ----
says 2 "@ 'x.db' is a recording's name, no format of results
@ hint: -d x.db" cpu -o x.db ./bench
says 2 "@ no format has the extension of 'x.yaml'
@ hint: extensions are .csv; --format NAME names the format of any file" cpu -o x.yaml ./bench
says 2 "@ --table chooses the rows of CSV, and nothing here is CSV
@ hint: --csv" mem --table=stacks ./bench
says 125 "@ cannot write 'no/such/x.csv': No such file or directory" cpu -o no/such/x.csv ./bench
says 2 "@ 'out.csv' is the name of a file of results, no program
@ hint: --csv=out.csv" cpu --csv out.csv ./bench
pass "a file that cannot hold results is named before anything runs"

# ---- programs ----
says 127 "@ cannot run './missing': No such file or directory" cpu --no-db ./missing
says 127 "@ cannot run 'no-such-program-here': No such file or directory" mem --no-db no-such-program-here
echo 'no program' >text
says 126 "@ cannot run './text': Permission denied" cpu --no-db ./text
mkdir folder
says 126 "@ cannot run './folder': Permission denied" run --no-db ./folder
says 127 "@ cannot run './missing': No such file or directory" list ./missing
pass "a program that is missing is 127, one that cannot run 126"

# ---- filters ----
for command in cpu mem run; do
	run 2 "$perf" $command --no-db -k nothing_is_called_so ./bench
	grep -q '^mew-perf: ' err || fail "$command: no case is left: no message" err
	for key in 'split line' 'parse/json:fast' 'sort_ints/case:0' 'sort_ints/case:1'; do
		grep -qF "$key" err || fail "$command: no case is left: '$key' is not listed" err
	done
	[ ! -s out ] || fail "$command: no case is left: nothing belongs to stdout" out
done
pass "a filter that matches nothing lists the keys"

# ---- recordings ----
echo 'no database, and longer than the header of one would be: 0123456789 0123456789 0123456789' >bad.db
echo 0123456789 0123456789 0123456789 0123456789 >>bad.db
for command in cpu mem run; do
	run 125 "$perf" $command -d bad.db ./bench
	grep -q "^mew-perf: .*'bad.db'" err || fail "$command: the recording is not named" err
	run 125 "$perf" $command -d no/such/x.db ./bench
	grep -q "^mew-perf: .*'no/such/x.db'" err || fail "$command: the recording is not named" err
	[ ! -s out ] || fail "$command: nothing belongs to stdout" out
done
pass "a recording that cannot be opened stops before anything runs"

# ---- results that cannot be written ----
for args in -h 'cpu -h' 'list ./bench' 'list --formats' 'mem --no-db -k split ./bench'; do
	got=0
	# shellcheck disable=SC2086 # words
	"$perf" $args >/dev/full 2>err || got=$?
	[ $got -eq 125 ] || fail "mew-perf $args >/dev/full: exit $got, not 125" err
	grep -q '^mew-perf: .*No space left on device$' err || fail "$args: no space: the message" err
	got=0
	# shellcheck disable=SC2086
	"$perf" $args >&- 2>err || got=$?
	[ $got -eq 125 ] || fail "mew-perf $args >&-: exit $got, not 125" err
	grep -q '^mew-perf: .*Bad file descriptor$' err || fail "$args: closed: the message" err
done
pass "a full or closed standard output is 125"

# ---- help ----
run 0 "$perf" -h
mv out help
run 0 "$perf" --help
cmp -s out help || fail "-h and --help differ" out help
[ ! -s err ] || fail "-h: nothing belongs to stderr" err
for command in run cpu mem report list; do
	grep -q "^  $command " help || fail "-h does not list '$command'" help
	run 0 "$perf" $command -h
	head -n 1 out | grep -q "^usage: mew-perf $command " || fail "$command -h: the usage" out
	awk 'length > 80' out >long
	[ ! -s long ] || fail "$command -h: lines beyond 80 columns" long
	[ ! -s err ] || fail "$command -h: nothing belongs to stderr" err
	mv out "$command.help"
	run 0 "$perf" $command --version
	grep -qE '^mew-perf [0-9]+\.[0-9]+\.[0-9]+$' out || fail "$command --version" out
done
for word in doctor compare 'mew-perf sessions' json html flamegraph; do
	if grep -qi -- "$word" help ./*.help; then
		fail "help names '$word', which is not there" help
	fi
done
run 0 "$perf" heap -h
cmp -s out mem.help || fail "heap is not mem" out
pass "every command has its help on stdout"

# Nothing of all this has recorded anything.
[ ! -e mew-perf.db ] || fail "wrong use has made a recording"
pass "wrong use makes no recording"

echo "1..$mew_count"
