#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Under the heap hook a program does what it does without it, and the hook exports its entry points,
# the gate and dlclose.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/heap_lib.sh
. "$MEW_SRCDIR/tests/integration/heap_lib.sh"

need nm readelf c++

sed -n 's/^MEW_HOOK(\([A-Za-z0-9_]*\),.*/\1/p' "$MEW_SRCDIR/src/channel/hooks.def" >wanted_entries
[ "$(wc -l <wanted_entries)" -ge 33 ] || broken "hooks.def is written in another way"
nm -D --defined-only "$hook" | awk '{ print $3 }' | sort >exported || broken "nm cannot read it"
{
	printf "%s\n" execl execle execlp execv execve execvp execvpe execveat fexecve
	printf "%s\n" dlclose posix_spawn posix_spawnp system popen vfork _Fork mmap mmap64 munmap mremap
	echo mew_heap_gate
	cat wanted_entries
} | sort >wanted
cmp -s exported wanted || fail "the hook exports something else than hooks.def" exported wanted
pass "the hook exports hooks.def, the gate, dlclose, what makes children or execs, and mmap with its relatives"

readelf -d "$hook" >dynamic || broken "readelf cannot read it"
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' dynamic)
[ "$needed" = libc.so.6 ] || fail "the hook needs more than libc" dynamic
grep -q 'NOW' dynamic || fail "the hook is bound lazily" dynamic
pass "the hook needs libc alone and is bound at once"

# same TEXT COMMAND...: the same output and status plainly, under a hook that is loaded and not
# connected, and recorded as a whole program.
same()
{
	mew_text=$1
	shift
	"$@" >plain 2>plain.err </dev/null
	status=$?
	LD_PRELOAD=$hook_link "$@" >idle 2>idle.err </dev/null
	[ $? -eq $status ] || fail "$mew_text: another status under the idle hook" idle.err
	cmp -s plain idle || fail "$mew_text: another output under the idle hook" plain idle
	cmp -s plain.err idle.err || fail "$mew_text: other messages" plain.err idle.err
	under -w "$@"
	cmp -s plain out || fail "$mew_text: another output when recorded" plain out
	cmp -s plain.err err || fail "$mew_text: other messages when recorded" plain.err err
	figures "$mew_text" ended "exit $status" lost 0 hooked all sums 'add up'
	grep -qx 'total_allocations 0' figures && fail "$mew_text: nothing was recorded" figures
}

c++ -std=c++17 -O1 -fno-builtin -I"$MEW_SRCDIR/src" -o heap_entries \
	"$MEW_SRCDIR/tests/fixtures/heap_entries.cc" -lpthread -ldl || broken "cannot build heap_entries"
same 'errno, sizes and alignments of every entry point' ./heap_entries
cp plain edges
while read -r name; do
	grep -q "^$name(.*block" edges || fail "$name is not tested" edges
done <wanted_entries
if command -v python3 >/dev/null 2>&1; then
	same 'python3' env PYTHONMALLOC=malloc python3 -c '
import json, re, threading
def f(n):
    out.append(sum(len(json.dumps(list(range(i)))) for i in range(n)))
out = []
ts = [threading.Thread(target=f, args=(300,)) for _ in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(out, len(re.findall("a+", "aab" * 1000)))'
fi
if command -v sqlite3 >/dev/null 2>&1; then
	same 'sqlite3' sqlite3 :memory: 'create table t(a, b); insert into t
		select value, hex(value) from generate_series(1, 5000); create index i on t(b);
		select count(*), sum(a), max(b) from t; select sqlite_version();'
fi
if command -v git >/dev/null 2>&1; then
	same 'git' git -c init.defaultBranch=main init --quiet --bare repository
	same 'git, with children' git --git-dir=repository -c alias.two='!git version; git version' two
fi

echo "1..$mew_count"
