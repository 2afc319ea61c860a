#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that crash, are killed, hang, skip and fail: one clear line each, the right exit status, and no finished case is lost.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
# At a path of our own: what is left of it is found by that.
bench=$PWD/acceptance
cp "$MEW_BUILDDIR/tests/fixtures/acceptance" "$bench" || broken "no fixture acceptance"

said()
{
	grep -q "$1" err out || fail "nobody said '$1'" out err
	pass "said: $1"
}

for engine in cpu mem; do
	rm -f x.db
	run 1 "$MEW_PERF" $engine -n 20 -k '^(family/case:0|crash|family/case:3)$' -d x.db -o x.csv "$bench"
	said 'killed by signal 11'
	n=$(sqlite3 x.db "select count(*) from case_ where result = 'ok'")
	holds "$engine: the cases around the crash are recorded" "$n == 2"
	run 1 "$MEW_PERF" $engine -n 20 -k '^killed$' --no-db "$bench"
	said 'killed by signal 9'
	run 0 "$MEW_PERF" $engine -n 20 -k '^skipped$' --no-db "$bench"
	said 'not on a Monday'
	run 1 "$MEW_PERF" $engine -n 20 -k '^failed$' --no-db "$bench"
	said 'the answer is 41'
	run 1 "$MEW_PERF" $engine -n 20 -k '^hangs$' --timeout 1s --no-db "$bench"
	said 'time limit'
	grep -q 'is gone' err && fail "$engine: a program at its time limit says that we are gone" err
done

# Ctrl-C: what was finished is there.
rm -f x.db
env --default-signal=INT timeout --foreground 60 "$MEW_PERF" cpu -n 20 -k '^(family/case:0|hangs)$' -d x.db -o x.csv "$bench" >out 2>err &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.5
	[ "$(sqlite3 x.db 'select count(*) from case_' 2>/dev/null)" = 1 ] && break
done
sleep 0.5
kill -INT $pid
status=0
wait $pid || status=$?
holds "interrupted after try $i" "$status == 130"
holds "the finished case is in the recording" "$(sqlite3 x.db 'select count(*) from case_') == 1"
holds "and in the file" "$(cell x.csv family/case:0 iterations) == 20"
pgrep -f "$bench" >left && fail "a target was left behind" left
pass "no process is left"

# What is found but cannot be run is 126, whatever the kernel calls it; a place for the socket is ours.
printf '#!/nonexistent\n' >no_interpreter
: >empty
chmod +x no_interpreter empty
for program in no_interpreter empty; do
	for engine in cpu mem; do
		run 126 "$MEW_PERF" $engine --no-db ./$program
		said "cannot run '.*$program': "
	done
done
run 125 env TMPDIR=/nonexistent "$MEW_PERF" mem --no-db -k '^failed$' "$bench"
said "cannot make a directory in '/nonexistent': No such file"

# Little address space, a place for the socket that is full, no home: one line, or nothing to say.
for command in mem run; do
	# shellcheck disable=SC2016 # a sanitized mew-perf needs more to start
	if sh -c 'ulimit -v 300000; exec "$0" --version' "$MEW_PERF" >log 2>&1; then
		run 1 sh -c 'ulimit -v 300000; exec "$@"' - "$MEW_PERF" $command --no-db -n 20 \
			-k '^family/case:0$' "$bench"
		said 'failed: cannot make [0-9]* bytes of shared memory: Cannot allocate memory'
	fi
	# shellcheck disable=SC2016
	if unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
		run 125 unshare -m sh -c 'mount -t tmpfs -o size=4k,nr_inodes=1 none /mnt && exec "$@"' - env TMPDIR=/mnt \
			"$MEW_PERF" $command --no-db -n 20 -k '^family/case:0$' "$bench"
		said "cannot make a directory in '.*': No space left on device"
	else
		echo '# no mounts here: a full TMPDIR is not tested'
	fi
	run 0 env -u HOME "$MEW_PERF" $command --no-db -n 20 -k '^family/case:0$' "$bench"
done
pass "without a home"

# A benchmark that took its own connection away.
run 1 "$MEW_PERF" mem -n 20 --no-db -k '^closes$' "$bench"
said 'libmew could not go on'

# One that speaks our protocol is believed nothing.
liar=$MEW_BUILDDIR/tests/fixtures/liar
run 125 "$MEW_PERF" cpu --no-db "$liar" threads
said '100000 threads'
run 1 "$MEW_PERF" cpu --no-db "$liar" sampled
said 'another round than it was to run'
run 1 "$MEW_PERF" cpu --no-db "$liar" slot
said 'thread 7 of a case of 1'

# What the program prints is kept apart from results.
cat >noisy.sh <<'SH'
#!/bin/sh
echo to stdout
echo to stderr >&2
SH
chmod +x noisy.sh
run 0 "$MEW_PERF" cpu --no-db --csv ./noisy.sh
grep -q 'to stdout' out && fail "the program's output is among the results" out
grep -q 'to stdout' err || fail "the program's output is gone" err
pass "standard output of the program goes to standard error"

run 1 "$MEW_PERF" cpu --no-db sh -c 'exit 3'
said 'status 3'
for end in 'kill -9 $$' 'exit 4'; do
	run 1 "$MEW_PERF" mem --no-db sh -c "$end"
done

# Trackers need malloc to come by.
"$CC" -static -O2 -x c - -o static_program <<'C' 2>log || broken "no static program: $(cat log)"
#include <stdlib.h>
int main(void) { free(malloc(10)); return 0; }
C
run 125 "$MEW_PERF" mem --no-db ./static_program
said 'linked statically'
if "$CC" -fsanitize=address -O1 -x c - -o asan_program <<'C' 2>log; then
#include <stdlib.h>
int main(void) { free(malloc(10)); return 0; }
C
	run 125 "$MEW_PERF" mem --no-db ./asan_program
	said 'sanitizer'
fi
