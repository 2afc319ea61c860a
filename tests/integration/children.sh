#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A whole program of many short children, each with code of its own: all that they do has its names,
# for no more memory than few of them take.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
if is_sanitized; then
	skip "sanitizers map too much"
fi

cat >library.c <<'C'
void go(void);
__attribute__((noinline)) static void go_work(void)
{
	for (volatile unsigned k = 0; k < 4000000; k++)
		;
	__asm__ volatile("");
}
void go(void)
{
	go_work();
	__asm__ volatile("");
}
C
cat >many.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void executed(void)
{
	for (volatile unsigned k = 0; k < 4000000; k++)
		;
	__asm__ volatile("");
}

__attribute__((noinline)) static void loaded(void)
{
	void *library = dlopen("./library.so", RTLD_NOW);
	void (*go)(void);

	*(void **)&go = library ? dlsym(library, "go") : NULL;
	if (!go)
		_exit(9);
	go();
	__asm__ volatile("");
}

/* many CHILDREN: two at a time, one loads the library, the next one runs this program again. */
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, status, bad = 0;

	if (argc == 1)
		executed();
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid && i % 2)
			execl(argv[0], argv[0], (char *)0);
		if (!pid) {
			loaded();
			_exit(0);
		}
		bad += pid < 0;
		if (i)
			bad += wait(&status) < 0 || status != 0;
	}
	while (wait(&status) > 0)
		bad += status != 0;
	return bad != 0;
}
C
"$CC" -O1 -g -fomit-frame-pointer -shared -fPIC -o library.so library.c || broken "cannot build a library"
"$CC" -O1 -g -fomit-frame-pointer -o many many.c -ldl || broken "cannot build many"

# samples FUNCTION...: of the stacks that have all these functions.
samples()
{
	python3 - "$@" <<'PY'
import csv, sys
print(int(sum(float(r["samples"]) for r in csv.DictReader(open("c.csv", newline=""))
              if set(sys.argv[1:]) <= set(r["stack"].split(";")))))
PY
}

run 0 timeout 100 "$MEW_PERF" cpu --interval 1ms -d x.db -o row.csv ./many 600
grep -q '600 child processes included' row.csv || fail "not all children are there" row.csv err
if grep -q 'could not be told' row.csv; then
	fail "samples without a process" row.csv err
fi
run 0 "$MEW_PERF" report -q -d x.db --table=stacks --csv=c.csv
all=$(cell row.csv many sample_count)
loads=$(samples main loaded go go_work)
execs=$(samples main executed)
holds "most samples have their stacks" "$loads + $execs >= 0.9 * $all >= 200"
holds "of either half of the children" "0.1 <= $loads / ($loads + $execs) <= 0.9"

echo "1..$mew_count"
