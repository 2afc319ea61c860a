#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole programs under the heap hook: the figures survive every end, children record nothing, an
# exec'ed image starts anew, and another tool counts the same.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/heap_lib.sh
. "$MEW_SRCDIR/tests/integration/heap_lib.sh"

# whole HOW ENDED FIGURES
whole()
{
	mew_how=$1
	mew_ended=$2
	shift 2
	under -w "$fixtures/heap_whole" "$mew_how"
	figures "a program that ends by $mew_how" ended "$mew_ended" total_allocations 10 \
		allocated_bytes 1000 frees 4 live_bytes 600 live_blocks 6 peak_bytes 1000 \
		total_bytes 1000 held_bytes 600 held_blocks 6 closed 0 lost 0 broken 0 \
		hooked all sums 'add up' sizes '128:10' "$@" \
		'curve 1:' '100 200 300 400 500 600 700 800 900 1000'
}

whole exit 'exit 0' images 1
whole _exit 'exit 0' images 1
whole quick_exit 'exit 0' images 1
whole abort 'signal 6' images 1
whole kill 'signal 9' images 1
whole daemon 'exit 0' images 1 forked 1
whole spawn 'exit 0' images 1 refused 1 forked 1
whole exec 'exit 0' images 2
grep -qx 'allocated_bytes 7' figures || fail "what came before exec is lost" figures
pass "both images of an exec are told"

# What libraries allocate when they are loaded is the program's.
echo '#include <stdlib.h>
static void *volatile kept;
__attribute__((constructor)) static void early(void) { kept = malloc(11); }
void *early_kept(void);
void *early_kept(void) { return kept; }' >early.c
echo 'void *early_kept(void);
int main(void) { return !early_kept(); }' >early_main.c
# shellcheck disable=SC2086
$CC -O1 -fno-builtin -shared -fPIC -o libearly.so early.c || broken "cannot build a library"
# shellcheck disable=SC2086
$CC -O1 -o early early_main.c -L. -learly -Wl,-rpath,"$mew_dir" || broken "cannot build its program"
under -w ./early
figures "a library's constructor" ended 'exit 0' total_allocations 1 allocated_bytes 11 held_bytes 11 lost 0

# pthread_create takes a block for the thread's descriptor.
under -w "$fixtures/heap_whole" late
figures "a thread that outlives main" ended 'exit 0' n_threads 2 lost 0 broken 0 sums 'add up'

if command -v valgrind >/dev/null 2>&1; then
	# shellcheck disable=SC2086
	$CC -O1 -fno-builtin -o churn "$MEW_SRCDIR/tests/fixtures/heap_churn.c" ||
		broken "cannot build churn"
	valgrind --tool=dhat --dhat-out-file=/dev/null ./churn >out 2>dhat ||
		broken "valgrind does not run it"
	sed -n 's/.* Total: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/allocated_bytes \1\
total_allocations \2/p; s/.* At t-gmax: *\([0-9,]*\) bytes.*/peak_bytes \1/p
		s/.* At t-end: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/held_bytes \1\
held_blocks \2/p' dhat | tr -d , >theirs
	[ "$(wc -l <theirs)" -eq 5 ] || broken "valgrind says something else"
	under -w ./churn
	while read -r name value; do
		grep -qx "$name $value" figures || fail "dhat counts $name $value" figures
	done <theirs
	figures "dhat counts the same calls, bytes, peak and rest" ended 'exit 0' lost 0 broken 0 \
		sums 'add up'
else
	echo "# no valgrind: figures are not compared with dhat's"
fi

echo "1..$mew_count"
