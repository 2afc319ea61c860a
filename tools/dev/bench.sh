#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench.sh [TOPIC...]: figures of speed for people, never a test. `make bench` builds what it needs.
# The rows of a table run in turns, round by round. The figure is the median over the rounds; ADDED
# and RATIO are against the base row of the same round, then the median; SPREAD is the lowest and
# the highest ratio. That of a base is of its own rounds: the noise of the machine.
#
# shellcheck disable=SC2317 # functions are called by their names

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/lib.sh"
LC_ALL=C
export LC_ALL
unset MEW_PERF_DB MEW_PERF_SOCKET

topics='loop pause heap sampling report'
more_topics='perf large' # minutes
build=${MEW_BUILDDIR:-$dev_top/build}
mew_perf=${MEW_PERF:-$build/mew-perf}
programs=$build/tests/bench
status=0

complain()
{
	echo "${0##*/}: $*" >&2
	status=1
}

for topic; do
	case " $topics $more_topics " in
	*" $topic "*) ;;
	*)
		echo "usage: ${0##*/} [TOPIC...]; the topics are: $topics; and $more_topics" >&2
		exit 2
		;;
	esac
done

# LD_PRELOAD cannot name a path with a blank.
work=$(mktemp -d /tmp/mew-bench.XXXXXX) || die 'no temporary directory'
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# built FILE...: all are there.
built()
{
	for file; do
		[ -e "$file" ] || {
			complain "$topic: no '$file': \`make bench\` builds it"
			return 1
		}
	done
}

# ---- tables ----

# begin TITLE
begin()
{
	title=$1
	n_rows=0
	group=0
	: >"$work/rows"
	: >"$work/values"
}

# base NAME FUNCTION [WORD...]: a row that those after it are measured against. The function prints
# the row's figures, parted by blanks; `-` is none.
base()
{
	group=$((group + 1))
	row "$@"
}

# row NAME FUNCTION [WORD...]
row()
{
	n_rows=$((n_rows + 1))
	name=$1
	shift
	printf '%s\t%s\t%s\t%s\n' "$n_rows" "$group" "$name" "$*" >>"$work/rows"
}

# absent NAME REASON: a row that cannot be measured here.
absent()
{
	n_rows=$((n_rows + 1))
	printf '%s\t%s\t%s\n' "$n_rows" "$group" "$1" >>"$work/rows"
	printf '%s\tabsent\t%s\n' "$n_rows" "$2" >>"$work/values"
}

# measure ROUNDS: a row that fails is tried no more.
measure()
{
	n_rounds=$1
	tab=$(printf '\t')
	for round in $(seq "$n_rounds"); do
		while IFS=$tab read -r number _ name call <&3; do
			grep -q "^$number${tab}absent" "$work/values" && continue
			# shellcheck disable=SC2086 # the words of a call hold no blanks
			if figures=$($call 2>"$work/err" </dev/null) && [ -n "$figures" ]; then
				printf '%s\t%s\t%s\n' "$number" "$round" "$figures"
			else
				complain "$topic: '$name' failed"
				tail -n 5 "$work/err" >&2
				printf '%s\tabsent\tfailed\n' "$number"
			fi >>"$work/values"
		done 3<"$work/rows"
	done
}

# show FIELD UNIT [TITLE]: the table of one of the figures. Rows without it are left out.
show()
{
	awk -F '\t' -v field="$1" -v unit="$2" -v title="${3:-$title}" -v rounds="$n_rounds" '
	function sort(v, n,    i, j, x)
	{
		for (i = 2; i <= n; i++) {
			x = v[i]
			for (j = i - 1; j > 0 && v[j] > x; j--)
				v[j + 1] = v[j]
			v[j + 1] = x
		}
	}
	function middle(v, n)
	{
		return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	}
	function number(x,    a)
	{
		a = x < 0 ? -x : x
		if (a < 0.005)
			return "0.00"
		return sprintf(a >= 1000 ? "%.0f" : a >= 100 ? "%.1f" : "%.2f", x)
	}
	function line(name, figure, added, ratio, spread)
	{
		printf "  %-35s %8s %9s %7s  %s\n", name, figure, added, ratio, spread
	}
	NR == FNR {
		if ($2 == "absent") {
			why[$1] = $3
			next
		}
		split($3, figures, " ")
		if (figures[field] != "-")
			value[$1, $2] = figures[field] + 0
		next
	}
	FNR == 1 {
		print title "; " rounds " rounds"
		line("", unit, "ADDED", "RATIO", "SPREAD")
	}
	$1 in why {
		line($3, "-", "-", "-", why[$1])
		next
	}
	{
		n = 0
		for (r = 1; r <= rounds; r++)
			if (($1, r) in value)
				all[++n] = value[$1, r]
		if (!n)
			next
		sort(all, n)
		figure = middle(all, n)
		if (!($2 in base))
			base[$2] = $1
		b = base[$2]
		m = 0
		for (r = 1; r <= rounds; r++) {
			if (!(($1, r) in value) || !((b, r) in value))
				continue
			ratios[++m] = b == $1 ? value[$1, r] / figure : value[$1, r] / value[b, r]
			more[m] = value[$1, r] - value[b, r]
		}
		sort(ratios, m)
		sort(more, m)
		line($3, number(figure), b == $1 ? "" : number(middle(more, m)),
			number(b == $1 ? 1 : middle(ratios, m)),
			number(ratios[1]) " .. " number(ratios[m]))
	}
	END { print "" }' "$work/values" "$work/rows"
}

# now: ns
now()
{
	date +%s%N
}

# milliseconds COMMAND...: prints how long it runs.
milliseconds()
{
	begin_ns=$(now)
	"$@" >/dev/null || return 1
	end_ns=$(now)
	awk -v ns="$((end_ns - begin_ns))" 'BEGIN { print ns / 1e6 }'
}

# cell FILE COLUMN: of a CSV's first row, whose cells up to there hold no comma.
cell()
{
	awk -F , -v title="$2" '
	{ sub(/\r$/, "") }
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == title) column = i }
	NR == 2 && column { print $column; found = 1 }
	END { exit !found }' "$1"
}

# ---- loop ----

# loop_case CC CASE ITERATIONS STEPS: an iteration is so many steps.
loop_case()
{
	"$work/loop.$1" --no-fork -n "$3" -k "^$2\$" --csv >"$work/csv" || return 1
	time_s=$(cell "$work/csv" time) || return 1
	awk -v s="$time_s" -v steps="$4" 'BEGIN { print s * 1e9 / steps }'
}

topic_loop()
{
	built "$build/.libs/libmew.a" || return
	begin 'loop: an iteration of MEW_LOOP beside one of a plain for, -O2'
	for cc in gcc clang; do
		if ! command -v "$cc" >/dev/null; then
			group=$((group + 1))
			absent "$cc" 'not installed'
			continue
		fi
		$cc -O2 -I"$dev_top/include" -o "$work/loop.$cc" "$dev_top/tests/bench/loop.c" \
			"$build/.libs/libmew.a" -pthread -lm >&2 || {
			complain "loop: $cc cannot compile loop.c"
			continue
		}
		base "$cc, empty: for" loop_case "$cc" for_empty 100000 1000
		row "$cc, empty: MEW_LOOP" loop_case "$cc" loop_empty 100000000 1
		base "$cc, a call: for" loop_case "$cc" for_call 20000 1000
		row "$cc, a call: MEW_LOOP" loop_case "$cc" loop_call 20000000 1
	done
	measure 15
	show 1 NS
}

# ---- pause ----

pause_kernel()
{
	"$programs/pause" kernel "$1"
}

pause_plainly()
{
	"$programs/pause" -n 1000 --filter '^pairs$' --csv >"$work/csv" && cell "$work/csv" pair_ns
}

# under HOW: one round of 300 iterations of 100 pairs; ticks are rare.
under()
{
	"$mew_perf" cpu --no-db -q -e cpu-clock:u --interval 10ms -n 300 -k '^pairs$' --pause="$1" \
		--csv=- "$programs/pause" >"$work/csv"
}

# What the sampled round took, the insides of its pauses too.
pause_under()
{
	under "$1" && out_s=$(cell "$work/csv" wall_time) &&
		in_s=$(cell "$work/csv" paused_time) && n=$(cell "$work/csv" iterations) &&
		awk -v s="$out_s" -v in_s="$in_s" -v n="$n" \
			'BEGIN { print (s + in_s) * 1e9 / n / 100 }'
}

pause_told()
{
	under "$1" && cost_s=$(cell "$work/csv" pause_cost) &&
		awk -v s="$cost_s" 'BEGIN { print s * 1e9 }'
}

# A pair of malloc and free inside a pause, under a command: pause_heap COMMAND...
pause_heap()
{
	rm -f "$work/ns"
	MEW_BENCH_FILE=$work/ns "$@" >/dev/null && cat "$work/ns"
}

pause_heap_plainly()
{
	pause_heap "$@" "$programs/pause" -n 300 --filter '^inside$'
}

pause_heap_mem()
{
	pause_heap "$mew_perf" mem --no-db -q -n 300 -k '^inside$' "$programs/pause"
}

topic_pause()
{
	hook=$build/.libs/libmew-heap.so
	built "$programs/pause" "$hook" "$mew_perf" || return
	ln -sf "$hook" "$work/hook.so"
	begin 'pause: a pair of mew_pause and mew_resume'
	base 'two readings of the clock' pause_kernel clock
	row 'mew_pause, plain run' pause_plainly
	row 'mew_pause, cpu --pause=clock' pause_under clock
	row '  the pause_cost that it tells' pause_told clock
	row 'mew_pause, cpu --pause=ioctl' pause_under ioctl
	row '  the pause_cost that it tells' pause_told ioctl
	row 'PAUSE_OUTPUT of cpu-clock alone' pause_kernel output
	row 'DISABLE + ENABLE of cpu-clock alone' pause_kernel disable
	measure 7
	show 1 NS

	begin 'pause: a pair of malloc and free inside of one, while 1000 blocks of the loop live'
	base 'inside a pause, bare' pause_heap_plainly env
	row 'inside a pause, hook, no window open' pause_heap_plainly env LD_PRELOAD="$work/hook.so"
	row 'inside a pause, mew-perf mem' pause_heap_mem
	measure 7
	show 1 NS
}

# ---- heap ----

pairs=480000

# churned THREADS COMMAND...: runs churn as its last arguments and prints the ns of a pair, and the ms
# until it had its blocks.
churned()
{
	n_threads=$1
	shift
	"$@" "$programs/churn" "$work/ns" "$n_threads" "$pairs" >&2 && cat "$work/ns"
}

# held WHAT COMMAND...: the same with hold; bytes for a live block, or for a stack.
held()
{
	what=$1
	shift
	"$@" "$programs/hold" "$work/bytes" "$what" 200000 >&2 && cat "$work/bytes"
}

# ran PROGRAM COMMAND...: the same for the run of another program; ms.
ran()
{
	ran_program=$1
	shift
	case $ran_program in
	python3) milliseconds "$@" "$python" "$work/rows.py" ;;
	sqlite3) milliseconds "$@" sqlite3 -init "$work/script.sql" :memory: .quit ;;
	esac
}

# What runs under nothing, the hook, mew-perf and heaptrack: under_WHAT FUNCTION WORD.
under_nothing()
{
	"$1" "$2" env
}

# Without mew-perf to talk to, no window ever opens.
under_hook()
{
	"$1" "$2" env LD_PRELOAD="$work/hook.so"
}

under_mem()
{
	"$1" "$2" "$mew_perf" mem --no-db -q
}

under_heaptrack()
{
	"$1" "$2" heaptrack -o "$work/heaptrack"
}

# four_rows TEXT FUNCTION WORD
four_rows()
{
	base "$1, bare" under_nothing "$2" "$3"
	row "$1, hook, no window open" under_hook "$2" "$3"
	row "$1, mew-perf mem" under_mem "$2" "$3"
	if command -v heaptrack >/dev/null; then
		row "$1, heaptrack" under_heaptrack "$2" "$3"
	else
		absent "$1, heaptrack" 'not installed'
	fi
}

# rows_by_kind: the rows `N threads, KIND` in the order of their kinds, against those of as many
# threads as there are CPUs (or the next fewer); rows of fewer threads are left out.
rows_by_kind()
{
	awk -F '\t' -v OFS='\t' -v cpus="$(nproc)" '
	{
		kind = $3
		sub(/^[^,]*, /, "", kind)
		if (!(kind in order))
			order[kind] = ++n_kinds
		if ($3 + 0 <= cpus && $3 + 0 > base)
			base = $3 + 0
		$2 = order[kind]
		line[NR] = $0
		threads[NR] = $3 + 0
		of[NR] = order[kind]
	}
	END {
		for (k = 1; k <= n_kinds; k++)
			for (i = 1; i <= NR; i++)
				if (of[i] == k && threads[i] >= base)
					print line[i]
	}' "$work/rows" >"$work/rows.new" && mv "$work/rows.new" "$work/rows"
}

heap_programs()
{
	cat >"$work/rows.py" <<-'END'
		import json
		rows = [{"id": i, "name": "n%d" % i, "of": [i * j for j in range(8)]} for i in range(5000)]
		for _ in range(60):
		    text = json.dumps(rows)
		    rows = json.loads(text)
	END
	cat >"$work/script.sql" <<-'END'
		CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
		INSERT INTO t SELECT i, i * 7919 % 1009, printf('text %d', i) FROM n;
		CREATE INDEX t_b ON t(b);
		SELECT b, count(*), max(c) FROM t GROUP BY b ORDER BY 2, 1 LIMIT 3;
		UPDATE t SET c = c || '.' WHERE b < 300;
		SELECT count(DISTINCT substr(c, 1, 7)) FROM t;
	END
}

topic_heap()
{
	hook=$build/.libs/libmew-heap.so
	built "$programs/churn" "$programs/hold" "$hook" "$mew_perf" || return
	ln -sf "$hook" "$work/hook.so"
	begin 'heap: a pair of free and malloc, stacks of 19.5 frames'
	for threads in 1 2 4 8; do
		text="$threads threads"
		[ "$threads" -gt 1 ] || text='1 thread'
		four_rows "$text" churned "$threads"
	done
	measure 9
	show 1 NS
	show 2 MS 'heap: from the start until each thread has its 4096 blocks, 20,480 pairs a thread'
	rows_by_kind
	show 1 NS 'heap: a pair, as threads are added beyond the CPUs'

	begin 'heap: resident memory for each live block of 16 bytes, or stack known'
	four_rows 'live block' held blocks
	four_rows 'stack' held stacks
	measure 1
	show 1 BYTES

	begin 'heap: a whole run'
	heap_programs
	python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) &&
		four_rows 'python3, JSON' ran python3
	command -v sqlite3 >/dev/null && four_rows 'sqlite3, an SQL script' ran sqlite3
	measure 3
	show 1 MS
}

# ---- sampling ----

steps=200000

# spun [RECORDING]: ms of the run; and with a recording, ms from its end until now, and KiB. Then ms
# of the program's CPU time, where it tells.
spun()
{
	end_ns=$(now)
	bytes=
	[ $# -eq 0 ] || bytes=$(cat "$1"* | wc -c)
	awk -v now_ns="$end_ns" -v bytes="$bytes" '{
		cpu = NF > 2 ? $3 * 1e3 : "-"
		if (bytes == "")
			print $1 * 1e3, "-", "-", cpu
		else
			print $1 * 1e3, (now_ns / 1e9 - $2) * 1e3, bytes / 1024, cpu
	}' "$work/spun"
}

sample_nothing()
{
	"$programs/spin" "$work/spun" "$steps" && spun
}

sample_mew_perf()
{
	rm -f "$work/db"*
	"$mew_perf" cpu -q -d "$work/db" -e cpu-clock:u --interval "$1" "$programs/spin" \
		"$work/spun" "$steps" >&2 && spun "$work/db"
}

sample_perf()
{
	rm -f "$work/perf.data"*
	perf record -q -o "$work/perf.data" -e cpu-clock:u -F 1000 --call-graph dwarf,8192 \
		"$programs/spin" "$work/spun" "$steps" >&2 &&
		perf report -i "$work/perf.data" --stdio >/dev/null && spun "$work/perf.data"
}

topic_sampling()
{
	built "$programs/spin" "$mew_perf" || return
	begin 'sampling: a program that computes'
	base 'no profiler' sample_nothing
	row 'mew-perf cpu --interval 1ms' sample_mew_perf 1ms
	row 'mew-perf cpu --interval 100us' sample_mew_perf 100us
	if command -v perf >/dev/null; then
		row 'perf -F 1000 --call-graph dwarf' sample_perf
	else
		absent 'perf -F 1000 --call-graph dwarf' 'not installed'
	fi
	measure 7
	show 1 MS
	show 2 MS 'sampling: from the end of the run to the end of the report'
	show 3 KIB 'sampling: the recording'
}

# ---- perf, large ----

side_samples=30000
side_period_ns=250000

# The program of these topics, called with the words before the number and those after it, writes
# the seconds that it took and when they ended to the file "$work/spun".
side_run()
{
	# shellcheck disable=SC2086 # words
	"$@" $side_before "$side_n" $side_after >&2
}

side_nothing()
{
	side_run && spun
}

side_mew_perf()
{
	rm -f "$work/db"*
	side_run "$mew_perf" cpu -q -d "$work/db" -e cpu-clock:u -c "$side_period_ns" &&
		spun "$work/db"
}

# side_perf CALL-GRAPH COMMAND...: the command of perf reads what was recorded.
side_perf()
{
	graph=$1
	shift
	rm -f "$work/perf.data"*
	side_run perf record -q -o "$work/perf.data" -e cpu-clock:u -c "$side_period_ns" \
		--call-graph "$graph" && perf "$@" -i "$work/perf.data" >/dev/null && spun "$work/perf.data"
}

# side_count: the samples of a short run.
side_count()
{
	# shellcheck disable=SC2086 # words
	"$mew_perf" cpu --no-db -q -e cpu-clock:u -c "$side_period_ns" --csv="$work/csv" \
		$side_before "$side_trial" $side_after >&2 && cell "$work/csv" sample_count
}

# side_by_side ROUNDS: the program for as long as it takes for so many samples.
side_by_side()
{
	n_samples=$(side_count)
	if [ "${n_samples:-0}" -eq 0 ]; then
		complain "$topic: no samples"
		return
	fi
	side_n=$((side_trial * side_samples / n_samples))
	begin "$topic: $side_samples samples, one each $((side_period_ns / 1000)) us of CPU time"
	base 'no profiler' side_nothing
	row 'mew-perf cpu' side_mew_perf
	if command -v perf >/dev/null; then
		row 'perf fp, report --stdio' side_perf fp report --stdio
		row 'perf dwarf, report --stdio' side_perf dwarf,8192 report --stdio
		row 'perf dwarf, script' side_perf dwarf,8192 script
	else
		absent 'perf' 'not installed'
	fi
	measure "$1"
	show 1 MS "$title; the run"
	show 4 MS "$topic: the run, CPU time of the program"
	show 2 MS "$topic: from the end of the run to the end of the report"
	show 3 KIB "$topic: bytes written"
}

tables()
{
	built "$programs/walk" || return
	begin "$topic: a frame of a walk by the tables"
	base 'walk, 20 frames of a copied stack' walk_frame
	measure 7
	show 1 NS
	begin "$topic: making the unwind table of a module"
	for file; do
		base "${file##*/}" walk_table "$file"
	done
	measure 7
	show 1 MS
}

walk_frame()
{
	"$programs/walk" frame
}

walk_table()
{
	"$programs/walk" table "$1"
}

topic_perf()
{
	built "$programs/spin" "$mew_perf" || return
	side_before="$programs/spin $work/spun"
	side_after=
	side_trial=50000
	side_by_side 7
	libc=$(ldd "$programs/spin" | awk '$1 ~ /^libc\./ { print $3 }')
	tables "$libc" "$programs/spin" "$mew_perf"
}

# A C++ program with 120 MB of debug info; kept for the next time.
topic_large()
{
	built "$mew_perf" || return
	large=$build/tests/bench/large-program
	[ -e "$large/Makefile" ] || sh "$dev_top/tests/bench/large.sh" "$large" 80 || return
	make -s -C "$large" -j"$dev_jobs" large >&2 || {
		complain 'large: cannot build the program'
		return
	}
	echo "large: the program has $(wc -c <"$large/large") bytes"
	side_before=$large/large
	side_after=$work/spun
	side_trial=500
	side_by_side 3
	tables "$large/large"
}

# ---- report ----

report_start()
{
	milliseconds "$mew_perf" --version
}

report_of()
{
	milliseconds "$mew_perf" report -q -d "$work/report.db" "$@"
}

topic_report()
{
	program=$build/examples/bench_sqlite
	built "$program" "$mew_perf" || return
	for command in cpu mem; do
		"$mew_perf" "$command" -q -n 100 -d "$work/report.db" "$program" >"$work/out" \
			2>"$work/err" </dev/null || {
			complain "report: '$command' of bench_sqlite failed"
			tail -n 5 "$work/err" >&2
			return
		}
	done
	begin "report: on a CPU and a heap session of bench_sqlite"
	base 'mew-perf --version' report_start
	row 'report' report_of
	row 'report --csv' report_of --csv=-
	measure 11
	show 1 MS
}

# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $topics
for topic; do
	"topic_$topic"
done
exit $status
