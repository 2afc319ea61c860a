#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that know nothing of us, as one case: threads, children, every way to end.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
threads=$MEW_BUILDDIR/tests/fixtures/threads
run 0 "$MEW_PERF" cpu -d x.db -o x.csv "$threads"
share=$(sqlite3 x.db "select sum(cs.weight) filter (where f.name = 'three') / sum(cs.weight)
	from cpu_stack cs join stack s on s.id = cs.stack join function f on f.id = s.function
	where f.name in ('three', 'one')")
holds "three has three quarters" "abs($share - 0.75) <= 0.04"
holds "both threads are there" "$(sqlite3 x.db "select count(distinct f.name) from cpu_stack cs
	join stack s on s.id = cs.stack join function f on f.id = s.function
	where f.name in ('three', 'one')") == 2"
holds "stacks are whole" "$(cell x.csv threads truncated) <= 0.01 * $(cell x.csv threads sample_count)"

run 0 "$MEW_PERF" mem --no-db -o x.csv "$threads"
holds "all blocks of the program" "$(cell x.csv threads total_allocations) >= 2001"
holds "what main kept" "$(cell x.csv threads leaked_bytes) >= 5000"
for end in _exit abort; do
	status=0
	"$MEW_PERF" mem --no-db -o "$end.csv" "$threads" $end >out 2>err || status=$?
	holds "$end: the figures are there" "$(cell $end.csv threads total_allocations) >= 2001 and
		$(cell $end.csv threads peak_bytes) >= 5000"
done
holds "abort is a failure" "$status == 1"

if command -v sqlite3 >/dev/null; then
	run 0 "$MEW_PERF" cpu --no-db -o s.csv sqlite3 :memory: \
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000) select sum(i) from n"
	holds "sqlite3 is sampled" "$(cell s.csv sqlite3 sample_count) >= 50"
	holds "its stacks are whole" "$(cell s.csv sqlite3 truncated) <= 0.02 * $(cell s.csv sqlite3 sample_count)"
	grep -q 2000001000000 err || fail "the program's own output is gone" err
fi
run 0 "$MEW_PERF" mem --no-db -o p.csv python3 -c 'import json; json.loads("[1, 2, 3]" )'
holds "python3 is tracked" "$(python3 - <<'PY'
import csv
print(list(csv.DictReader(open("p.csv", newline="")))[0]["total_allocations"])
PY
) >= 500"

# Named by the word that was typed, and chosen by it.
ln -s /bin/true "short name"
for engine in cpu mem; do
	run 0 "$MEW_PERF" $engine --no-db -k 'short n' -o named.csv "./short name"
	holds "$engine: named as it was typed" "$(cell named.csv "short name" iterations) == 1"
	run 2 "$MEW_PERF" $engine -k true "./short name"
	grep -q "^mew-perf: no case matches: 'short name' is no benchmark" err ||
		fail "$engine: a filter that does not match" err
	run 2 "$MEW_PERF" $engine -k '-name' "./short name"
	[ ! -e mew-perf.db ] || fail "$engine: a filter that does not match makes a recording"
	pass "$engine: -k chooses or excludes a whole program"
done

# A child that no fork() made: only its exec is seen.
"$CC" -O1 -x c - -o spawns <<'C' 2>log || broken "cannot build spawns: $(cat log)"
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
extern char **environ;
int main(void)
{
	char *argv[] = {"true", NULL};
	pid_t pid;

	free(malloc(10));
	return posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) || waitpid(pid, NULL, 0) < 0;
}
C
for engine in cpu mem; do
	run 0 "$MEW_PERF" $engine --no-db ./spawns
	grep -q '1 child process [in]' err || fail "$engine: a spawned child is not told" out err
	pass "$engine: a spawned child is told"
done

# So are those of a case, whose environment has nothing of ours.
cat >children.c <<'C'
#include <mew/mew.h>
#include <stdlib.h>

MEW_BENCHMARK(children, state)
{
	MEW_LOOP(state) {
		if (system("exit 0"))
			mew_fail(state, "no shell");
	}
}
MEW_MAIN();
C
"$CC" -O1 -I"$MEW_SRCDIR/include" children.c "$MEW_BUILDDIR/.libs/libmew.a" -lpthread -o children 2>log ||
	broken "cannot build children: $(cat log)"
run 0 "$MEW_PERF" mem --no-db -n 7 -o children.csv ./children
grep -q '7 child processes not recorded' children.csv || fail "children of a case are not told" children.csv
pass "mem: children of a case are told"

# Under another mew-perf: its hook is none of the inner one's affair.
run 0 "$MEW_PERF" mem --no-db -o outer.csv -- "$MEW_PERF" mem --no-db -n 7 -k '^family/case:1$' \
	-o inner.csv "$MEW_BUILDDIR/tests/fixtures/acceptance"
holds "the inner figures" "$(cell inner.csv family/case:1 iterations) == 7"
pass "mem: a mew-perf under mew-perf"

# A program with the note that a wrapper starts is still a benchmark.
cat >wrapper.sh <<SH
#!/bin/sh
exec "$MEW_BUILDDIR/tests/fixtures/acceptance" "\$@"
SH
chmod +x wrapper.sh
for engine in cpu mem; do
	run 0 "$MEW_PERF" $engine --no-db -n 20 -k '^family/case:1$' -o w.csv ./wrapper.sh
	holds "$engine: a case through a wrapper" "$(cell w.csv family/case:1 iterations) == 20"
done

# More images than are told apart: what they did is in no figure, and the row says so.
cat >again.sh <<'SH'
#!/bin/sh
[ "$1" -gt 0 ] && exec "$0" $(($1 - 1))
exec true
SH
chmod +x again.sh
run 0 "$MEW_PERF" mem --no-db -o again.csv ./again.sh 80
grep -q "execs not recorded" again.csv || fail "80 execs are all recorded" again.csv err
pass "mem: execs beyond the limit are told"
# Each image has 256 MiB of address space for its tables: few fit in this.
if ! is_sanitized; then
	# shellcheck disable=SC2016 # the shell that is profiled expands it
	run 0 sh -c 'ulimit -v 2000000 && exec "$@"' sh "$MEW_PERF" cpu --no-db -o again.csv sh -c 'i=0
		while [ $i -lt 20 ]; do
			awk "BEGIN { for (i = 0; i < 1000000; i++) s += i }" &
			i=$((i + 1))
		done
		wait'
	grep -q "that could not be told" again.csv || fail "20 images are all told apart" again.csv err
	pass "cpu: samples of images beyond the limit are told"
fi

# Short programs are mostly their start in ld.so, whose first function has no call frame information.
# shellcheck disable=SC2016 # the shell that is profiled expands it
run 0 "$MEW_PERF" cpu --no-db -o short.csv sh -c 'i=0
	while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
holds "stacks of a program's start are whole" "$(cell short.csv sh truncated) <=
	0.1 * $(cell short.csv sh sample_count)"
