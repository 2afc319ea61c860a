#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A whole program that becomes another one by each of the C library's functions: recorded on, or
# told when the new image has no hook. An exec that fails changes nothing.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need python3

cat >becomes.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEN "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"
#define HUNDRED TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN

static char *none[] = {NULL};
static char *arguments[] = {"becomes", "work", "A", "B", NULL};

static int become(const char *how, const char *path, char **env)
{
	if (!strcmp(how, "execve"))
		return execve(path, arguments, env);
	if (!strcmp(how, "execle"))
		return execle(path, "becomes", "work", "A", "B", NULL, env);
	if (!strcmp(how, "execvpe"))
		return execvpe(path, arguments, env);
	if (!strcmp(how, "fexecve"))
		return fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, env);
	if (!strcmp(how, "execveat"))
		return execveat(AT_FDCWD, path, arguments, env, 0);
	environ = env;
	if (!strcmp(how, "execv"))
		return execv(path, arguments);
	if (!strcmp(how, "execvp"))
		return execvp(path, arguments);
	if (!strcmp(how, "execl"))
		return execl(path, "becomes", "work", "A", "B", NULL);
	if (!strcmp(how, "execlp"))
		return execlp(path, "becomes", "work", "A", "B", NULL);
	return execl(path, "becomes", "work", "A", "B", HUNDRED, HUNDRED, HUNDRED, NULL);
}

/* becomes work A B [300 more]: allocates. becomes HOW with|without|fails|child */
int main(int argc, char **argv)
{
	void *volatile p = malloc(100);

	free(p);
	if (argc < 3)
		return 4;
	if (!strcmp(argv[1], "work"))
		return strcmp(argv[2], "A") || strcmp(argv[3], "B") ||
		       (argc != 4 && (argc != 304 || strcmp(argv[303], "10")));
	if (!strcmp(argv[2], "with"))
		become(argv[1], "./becomes", environ);
	if (!strcmp(argv[2], "without"))
		become(argv[1], "./becomes", none);
	if (!strcmp(argv[2], "fails")) {
		char **old = environ;

		if (become(argv[1], "./nowhere", none) != -1 ||
		    errno != (strcmp(argv[1], "fexecve") ? ENOENT : EINVAL))
			return 5;
		environ = old;
		return 0;
	}
	if (!strcmp(argv[2], "child")) {
		pid_t pid = vfork();

		if (!pid) {
			become(argv[1], "./becomes", none);
			_exit(6);
		}
		waitpid(pid, NULL, 0);
		return 0;
	}
	return 3;
}
C
$CC -O1 -g -w -fno-builtin -o becomes becomes.c || broken "cannot build becomes"

# becomes ALLOCATIONS VERDICT HOW WHAT
becomes()
{
	run 0 "$MEW_PERF" mem --no-db -o w.csv ./becomes "$3" "$4"
	mew_got="$(cell w.csv becomes total_allocations) $(cell w.csv becomes verdict)"
	[ "$mew_got" = "$1 $2" ] || fail "$3 $4: $mew_got, not $1 $2" w.csv err
}

for how in execve execle execvpe fexecve execveat execv execvp execl execlp long; do
	becomes 2 ok $how with
	becomes 1 "1 of the program's execs not recorded" $how without
	becomes 1 ok $how fails
	becomes 1 '1 child process not recorded' $how child
	pass "$how"
done

# What the shell held is gone with it.
rm -f held.db
# shellcheck disable=SC2016 # the shell that is profiled expands it
run 0 "$MEW_PERF" mem -d held.db -o held.csv sh -c 'x=$(seq 1 1000); exec cat /dev/null'
python3 - <<'PY' || fail "what is held by stack is not what the row holds" held.csv
import csv, sqlite3
row = next(csv.DictReader(open("held.csv", newline="")))
held = sqlite3.connect("held.db").execute("SELECT sum(held_bytes) FROM heap_stack").fetchone()[0]
exit(held != int(row["leaked_bytes"]))
PY
pass "what the replaced program held is held no more"

echo "1..$mew_count"
