#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real programs: calls, bytes, peak and rest are those of valgrind's DHAT to the byte, and calls and
# peak those of heaptrack up to its own block of 72704 bytes.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/heap_lib.sh
. "$MEW_SRCDIR/tests/integration/heap_lib.sh"

need valgrind gcc

# What each tool puts into the environment is a part of what python3 and others allocate: it is taken
# out before main().
cat >strip.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void strip(void)
{
	static const char *const names[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "MEW_PERF_SOCKET",
					    "GLIBCPP_FORCE_NEW", "GLIBCXX_FORCE_NEW",
					    "DUMP_HEAPTRACK_OUTPUT", "_", "SHLVL", "OLDPWD"};
	const char *name = program_invocation_short_name;

	if (strstr(name, "valgrind") || !strcmp(name, "sh") || !strcmp(name, "bash") ||
	    !strcmp(name, "dash"))
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}
C
gcc -O1 -shared -fPIC -o strip.so strip.c 2>log || broken "cannot build strip.so: $(cat log)"

# gcc's own collector keeps a table of 32768 bytes for each 16 MiB of address space that it has pages
# in, and a node of 2064 for each 4 GiB. Valgrind maps elsewhere than the kernel, and the kernel each
# time: for cc1 what it maps goes to the same place in each run.
cat >place.c <<'C'
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t off)
{
	static uintptr_t next = (uintptr_t)1 << 37;

	if (!at && flags & MAP_ANONYMOUS) {
		at = (void *)next;
		next += (bytes + 65535) & ~(uintptr_t)65535;
		flags |= MAP_FIXED;
	}
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, off);
}
C
gcc -O1 -shared -fPIC -o place.so place.c 2>log || broken "cannot build place.so: $(cat log)"
preloaded=./strip.so

# clean COMMAND...: with an environment of our own.
clean()
{
	env -i PATH="$PATH" HOME=/nonexistent PWD="$PWD" LC_ALL=C PYTHONHASHSEED=0 \
		PYTHONDONTWRITEBYTECODE=1 "$@" </dev/null
}

ours()
{
	clean timeout 100 "$server" -w -o figures "$hook_link:$preloaded" "$@" >out 2>err ||
		fail "'$*' does not run under the hook" out err
	grep -qx 'ended exit 0' figures || fail "'$*' fails under the hook" figures out err
}

# dhat COMMAND...: its figures in our words, without what valgrind frees at the end.
dhat()
{
	clean timeout 200 env LD_PRELOAD="$preloaded" valgrind --tool=dhat --dhat-out-file=/dev/null \
		--run-libc-freeres=no --run-cxx-freeres=no "$@" >out.dhat 2>err.dhat ||
		broken "valgrind does not run '$*': $(cat err.dhat)"
	sed -n 's/.* Total: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/allocated_bytes \1\
total_allocations \2/p; s/.* At t-gmax: *\([0-9,]*\) bytes.*/peak_bytes \1/p
		s/.* At t-end: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/held_bytes \1\
held_blocks \2/p' err.dhat | tr -d , >theirs
	[ "$(wc -l <theirs)" -eq 5 ] || broken "valgrind says something else"
}

of()
{
	sed -n "s/^$2 //p" "$1"
}

# equal TEXT COMMAND...
equal()
{
	mew_text=$1
	shift
	dhat "$@"
	ours "$@"
	cmp -s out out.dhat || fail "$mew_text: another output" out out.dhat
	while read -r name value; do
		[ "$(of figures "$name")" -eq "$value" ] ||
			fail "$mew_text: DHAT counts $name $value" figures
	done <theirs
	figures "$mew_text: $(of figures total_allocations) calls, as DHAT" lost 0 sums 'add up'
}

# alike TEXT COMMAND...: heaptrack counts as many calls and one more, and rounds the peak.
alike()
{
	mew_text=$1
	shift
	rm -f heaptrack.out*
	clean timeout 200 heaptrack -o heaptrack.out "$@" >out.ht 2>err.ht ||
		broken "heaptrack does not run '$*': $(cat out.ht err.ht)"
	heaptrack_print -f heaptrack.out* >printed 2>&1 || broken "heaptrack_print: $(cat printed)"
	ours "$@"
	calls=$(sed -n 's/^calls to allocation functions: \([0-9]*\) .*/\1/p' printed)
	[ "$calls" -eq $(($(of figures total_allocations) + 1)) ] ||
		fail "$mew_text: heaptrack counts $calls calls" figures
	peak=$(sed -n 's/^peak heap memory consumption: //p' printed)
	wanted=$(awk -v n=$(($(of figures peak_bytes) + 72704)) 'BEGIN {
		if (n < 1000000) printf "%.2fK", n / 1000; else printf "%.2fM", n / 1000000 }')
	[ "$peak" = "$wanted" ] || fail "$mew_text: heaptrack has a peak of $peak, not $wanted" figures
	pass "$mew_text: $calls calls and a peak of $peak, as heaptrack"
}

awk 'BEGIN { for (i = 1; i <= 2000; i++) printf "{\"a\":%d,\"b\":[1,2,%d]}\n", i, i }' >in.json
awk 'BEGIN { for (i = 1; i <= 20000; i++) print i }' >in.txt
cat >in.c <<'C'
int f(int x)
{
	for (int i = 0; i < x; i++)
		x += i;
	return x;
}
C
cat >in.py <<'PY'
import json
for i in range(100):
    json.loads(json.dumps(list(range(i))))
PY
sql='create table t(a, b);
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
	insert into t select i, hex(i) from n; create index i on t(b); select count(*), sum(a) from t;'

if command -v sqlite3 >/dev/null; then
	equal 'sqlite3' sqlite3 :memory: "$sql"
fi
if command -v xz >/dev/null; then
	equal 'xz' xz -T1 -0 -kc in.txt
fi
if command -v jq >/dev/null; then
	equal 'jq' jq -c '.b | length' in.json
fi
if command -v python3 >/dev/null; then
	# not what a version manager puts in its place
	equal 'python3' "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" -S -s in.py
	cc1=$(gcc -print-prog-name=cc1)
	preloaded=./strip.so:./place.so
	equal 'cc1 -E' "$cc1" -quiet -E in.c -o in.i
	# It keeps the real path of its output where that exists already, else the name that it was given:
	# the first of two runs would allocate fewer bytes by the length of the folder's path.
	: >in.s
	equal 'cc1 -O1' "$cc1" -quiet -O1 in.c -o in.s
	preloaded=./strip.so
	equal 'as' as -o in.o in.s
fi
if command -v heaptrack >/dev/null; then
	alike 'jq' jq -c '.b | length' in.json
	alike 'xz' xz -T1 -0 -kc in.txt
	alike 'sqlite3' sqlite3 :memory: "$sql"
fi

echo "1..$mew_count"
