#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole programs that have different code at the same place: in a parent and its child, before and
# after exec, before and after dlclose. Names are those of the process and the time.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
if is_sanitized; then
	skip "sanitizers move what is mapped"
fi

# work.inc: NAME_work(), that takes the CPU's time and allocates by turns, and go() which calls it.
# FRAME bytes are on its stack: what walks it by the rules of another one goes astray.
cat >work.inc <<'C'
#include <stdlib.h>
#include <string.h>
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
static void *volatile block;
static volatile unsigned turns = TURNS;
__attribute__((noinline)) static void JOIN(NAME, _work)(void)
{
	volatile char frame[FRAME];

	frame[0] = 1;
	for (unsigned i = 0; i < turns * 10; i++) {
		for (volatile unsigned k = 0; k < 300000; k++)
			;
		block = malloc(100);
		free(block);
	}
	frame[FRAME - 1] = 1;
}
#ifdef LIBRARY
void go(void);
void go(void) { JOIN(NAME, _work)(); block = 0; }
#endif
C

# build NAME TURNS FRAME ARGUMENTS...
build()
{
	mew_name=$1 mew_turns=$2 mew_frame=$3
	shift 3
	"$CC" -O1 -g -fno-builtin -fomit-frame-pointer -I. -DNAME="$mew_name" -DTURNS="$mew_turns" \
		-DFRAME="$mew_frame" "$@" 2>err || broken "cannot build $mew_name" err
}
echo '#include "work.inc"' >library.c
for library in 'first 30 24' 'second 10 4000'; do
	# shellcheck disable=SC2086 # words
	build $library -DLIBRARY -shared -fPIC -o "${library%% *}.so" library.c
done

# sum FILE COLUMN FUNCTION...: over the stacks that have all these functions.
sum()
{
	python3 - "$@" <<'PY'
import csv, sys
path, column, *functions = sys.argv[1:]
print(int(sum(float(r[column]) for r in csv.DictReader(open(path, newline=""))
              if set(functions) <= set(r["stack"].split(";")))))
PY
}

# share FILE COLUMN A B: what A has of what both have.
share()
{
	echo "$(sum "$1" "$2" "$3") / ($(sum "$1" "$2" "$3") + $(sum "$1" "$2" "$4"))"
}

# both_named LABEL PROGRAM A B KNOWN: the libraries were at one place, the first one called by A, the
# second one by B alone; both have their shares, and so much of all samples has its stack.
both_named()
{
	[ "$(grep '^place' said | sort -u | wc -l)" -eq 1 ] || fail "libraries at different places" said
	apart c.csv samples "$3" second_work
	apart c.csv samples "$4" first_work
	holds "$1: each function has its name" \
		"0.65 <= $(share c.csv samples first_work second_work) <= 0.85"
	known="$(sum c.csv samples "$3" first_work) + $(sum c.csv samples "$4" second_work)"
	holds "$1: and its stacks" "$known >= $5 * $(cell row.csv "$2" sample_count) >= 100"
}

# apart FILE COLUMN A B: no stack has both.
apart()
{
	holds "no stack has $3 and $4" "$(sum "$1" "$2" "$3" "$4") == 0"
}

# cpu COMMAND...: its stacks to c.csv, its row to row.csv, what it says to `said`.
cpu()
{
	rm -f x.db
	run 0 "$MEW_PERF" cpu --interval 1ms -d x.db -o row.csv "$@"
	cat out err >said
	run 0 "$MEW_PERF" report -q -d x.db --table=stacks --csv=c.csv
}

# mem COMMAND...: likewise, its stacks to m.csv.
mem()
{
	run 0 "$MEW_PERF" mem --no-db --table=stacks --csv=m.csv "$@"
	cat out err >said
}

# ---- a child that loads another library to where its parent has one ----

cat >forks.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*load(const char *path))(void)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*go)(void);

	if (!library)
		_exit(9);
	*(void **)&go = dlsym(library, "go");
	dprintf(1, "place %lx\n", *(unsigned long *)&go / 4096);
	return go;
}

__attribute__((noinline)) static void parent_side(void (*go)(void))
{
	for (int i = 0; i < 8; i++)
		go();
	__asm__ volatile("");
}

__attribute__((noinline)) static void child_side(void (*go)(void))
{
	for (int i = 0; i < 8; i++)
		go();
	__asm__ volatile("");
}

/* parent or child: who loads first. */
int main(int argc, char **argv)
{
	int turn[2], parent_first = argc > 1 && !strcmp(argv[1], "parent"), status;
	void (*go)(void);
	pid_t pid;
	char c = 0;

	if (pipe(turn) || (pid = fork()) < 0)
		return 8;
	if ((pid != 0) != parent_first && read(turn[0], &c, 1) != 1)
		return 7;
	go = load(pid ? "./first.so" : "./second.so");
	if ((pid != 0) == parent_first && write(turn[1], &c, 1) != 1)
		return 6;
	if (!pid) {
		child_side(go);
		_exit(0);
	}
	parent_side(go);
	waitpid(pid, &status, 0);
	return status;
}
C
"$CC" -O1 -g -fomit-frame-pointer -o forks forks.c -ldl 2>err || broken "cannot build forks"

for first in parent child; do
	cpu ./forks $first
	both_named "$first first" forks parent_side child_side 0.95
	grep -q '1 child process included' row.csv || fail "the child is not told" row.csv
	mem ./forks $first
	holds "$first first: the heap is the parent's" \
		"$(sum m.csv allocations parent_side first_work) == 2400 and
		$(sum m.csv allocations second_work) == 0"
	grep -q '1 child process not recorded' said || fail "mem: the child is not told" said
done

# ---- programs that lie at the same addresses, and become each other ----

cat >program.c <<'C'
#include "work.inc"
#include <sys/wait.h>
#include <unistd.h>

#ifdef LOADS
void go(void);
#else
#define go()
#endif

/* [PROGRAM-OF-A-CHILD PROGRAM-TO-BECOME] */
int main(int argc, char **argv)
{
	int status = 0;

	if (argc > 1 && !fork()) {
		execl(argv[1], argv[1], (char *)0);
		_exit(9);
	}
	for (int i = 0; i < 6; i++) {
		JOIN(NAME, _work)();
		go();
	}
	if (argc > 1)
		wait(&status);
	if (argc > 1 && !status)
		execl(argv[2], argv[2], (char *)0);
	return argc > 1;
}
C
build third 10 4000 -DLIBRARY -shared -fPIC -o third.so library.c
build alpha 30 1000 -no-pie -fno-pie -o alpha program.c
build beta 20 3000 -no-pie -fno-pie -o beta program.c
build gamma 10 2000 -no-pie -fno-pie -DLOADS -o gamma program.c ./third.so
[ "$(nm alpha beta | sed -n 's/ .*_work$//p' | sort -u | wc -l)" -eq 1 ] ||
	fail "alpha and beta are at different addresses"

cpu ./alpha ./gamma ./beta
for pair in 'alpha_work beta_work' 'alpha_work gamma_work' 'beta_work gamma_work' \
	'alpha_work third_work' 'beta_work third_work'; do
	# shellcheck disable=SC2086 # words
	apart c.csv samples $pair
done
holds "exec: the first image has its share" \
	"0.45 <= $(share c.csv samples alpha_work beta_work) <= 0.75"
holds "exec: of a child" "0.3 <= $(share c.csv samples gamma_work third_work) <= 0.7"
known=0
for name in alpha beta gamma third; do
	known="$known + $(sum c.csv samples main ${name}_work)"
done
holds "exec: all stacks are named whole" "$known >= 0.9 * $(cell row.csv alpha sample_count) >= 100"

mem ./alpha ./gamma ./beta
apart m.csv allocations alpha_work beta_work
holds "exec: the heap of both images" "$(sum m.csv allocations main alpha_work) == 1800 and
	$(sum m.csv allocations main beta_work) == 1200 and
	$(sum m.csv allocations gamma_work) + $(sum m.csv allocations third_work) == 0"

# ---- libraries that take turns at one place ----

cat >turns.c <<'C'
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) static void turn(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*go)(void);

	*(void **)&go = library ? dlsym(library, "go") : NULL;
	if (go) {
		dprintf(1, "place %lx\n", *(unsigned long *)&go / 4096);
		go();
		dlclose(library);
	}
	__asm__ volatile("");
}

__attribute__((noinline)) static void turn_first(void)
{
	turn("./first.so");
	__asm__ volatile("");
}

__attribute__((noinline)) static void turn_second(void)
{
	turn("./second.so");
	__asm__ volatile("");
}

int main(void)
{
	for (int i = 0; i < 8; i++) {
		turn_first();
		turn_second();
	}
	return 0;
}
C
"$CC" -O1 -g -fomit-frame-pointer -o turns turns.c -ldl 2>err || broken "cannot build turns"

cpu ./turns
both_named turns turns turn_first turn_second 0.9

mem ./turns
apart m.csv allocations turn_first second_work
apart m.csv allocations turn_second first_work
holds "turns: the heap of each" "$(sum m.csv allocations turn_first first_work) == 2400 and
	$(sum m.csv allocations turn_second second_work) == 800"

echo "1..$mew_count"
