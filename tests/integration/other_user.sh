#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of root's that becomes another user: recorded all the same, through an exec too, as a
# benchmark and whole. A process of that user's that root has not started is not let in.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
need python3

# That user reads what it runs and what is preloaded; the rest of the tree may be closed to it.
chmod 711 "$mew_dir"
cp "$MEW_PERF" mew-perf || broken "cannot copy mew-perf"
cp "$MEW_BUILDDIR/.libs/libmew-heap.so" . || broken "cannot copy the hook"
MEW_PERF=$mew_dir/mew-perf

cat >drop.h <<'C'
#define _GNU_SOURCE
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>
static void drop(void)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		_exit(3);
}
C
cat >whole.c <<'C'
#include "drop.h"
static void work(void)
{
	for (int i = 0; i < 1000; i++) {
		void *volatile p = malloc(100);
		free(p);
	}
}
int main(int argc, char **argv)
{
	if (argc < 3) { /* whole, whole exec */
		drop();
		work();
		if (argc > 1)
			execl(argv[0], argv[0], "after", "exec", (char *)0);
	} else if (argv[1][0] == 'w') { /* whole wait FILE */
		while (access(argv[2], F_OK))
			usleep(1000);
		work();
	} else {
		work();
	}
	return 0;
}
C
cat >bench.c <<'C'
#include "drop.h"
#include <mew/mew.h>
MEW_BENCHMARK(each, state)
{
#ifdef IN_SETUP
	drop();
#endif
	MEW_LOOP(state) {
		void *p = malloc(100);
		MEW_KEEP(p);
		free(p);
	}
}
int main(int argc, char **argv)
{
#ifndef IN_SETUP
	drop();
#endif
	return mew_main(argc, argv);
}
C
# Connects and says whether it is left alone: 0, or is answered.
cat >intrude.c <<'C'
#include "drop.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
int main(int argc, char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char c;
	drop();
	snprintf(a.sun_path, sizeof a.sun_path, "%s", argv[argc - 1]);
	if (connect(sock, (struct sockaddr *)&a, sizeof a))
		return 4;
	return read(sock, &c, 1) > 0;
}
C
$CC -O1 -g -fno-builtin -o whole whole.c || broken "cannot build whole"
$CC -O1 -g -o intrude intrude.c || broken "cannot build intrude"
for when in '' -DIN_SETUP; do
	# shellcheck disable=SC2086
	$CC -O1 -g -fno-builtin $when -I"$MEW_SRCDIR/include" -o "bench$when" bench.c \
		"$MEW_BUILDDIR/.libs/libmew.a" -lpthread || broken "cannot build bench"
done

# whole FIGURE ARGUMENT...
whole()
{
	mew_wanted=$1
	shift
	run 0 "$MEW_PERF" mem --no-db -o w.csv ./whole "$@"
	mew_got="$(cell w.csv whole total_allocations) $(cell w.csv whole verdict)"
	[ "$mew_got" = "$mew_wanted ok" ] || fail "whole $*: $mew_got, not $mew_wanted" w.csv err
	pass "a program that becomes another user $*"
}

whole 1000
whole 2000 exec

for when in '' -DIN_SETUP; do
	run 0 "$MEW_PERF" mem --no-db -n 10 -o b.csv "./bench$when"
	mew_got="$(cell b.csv each total_allocations) $(cell b.csv each allocated_bytes) $(cell b.csv each verdict)"
	[ "$mew_got" = '10 1000 ok' ] || fail "a benchmark $when: $mew_got" b.csv err
	[ ! -s err ] || fail "a benchmark $when says something" err
	pass "a benchmark that becomes another user${when:+ in its set-up}"
done

# The path of the socket is no secret.
temporary=$(mktemp -d /tmp/mew-user.XXXXXX) || broken "no temporary directory"
trap 'rm -rf "$mew_dir" "$temporary"' EXIT
chmod 711 "$temporary"
TMPDIR=$temporary timeout 60 "$MEW_PERF" mem --no-db -o w.csv ./whole wait go >out 2>err </dev/null &
pid=$!
socket=
for _ in $(seq 500); do
	socket=$(find "$temporary" -type s)
	[ -n "$socket" ] && break
	sleep 0.02
done
[ -n "$socket" ] || broken "there is no socket"
timeout 30 ./intrude "$socket" || fail "somebody else is let in: $?" err
: >go
wait $pid || fail "somebody who is not let in ends the run" out err
[ "$(cell w.csv whole total_allocations) $(cell w.csv whole verdict)" = '1000 ok' ] ||
	fail "somebody who is not let in changes the figures" w.csv
pass "a process of another user's is not let in"

echo "1..$mew_count"
