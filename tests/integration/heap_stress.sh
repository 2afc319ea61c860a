#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many threads, forks, libraries that come and go: no deadlock, and the figures are the program's own
# count to the byte. MEW_STRESS: for how many seconds.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/heap_lib.sh
. "$MEW_SRCDIR/tests/integration/heap_lib.sh"

seconds=${MEW_STRESS:-4}
mew_limit=$((seconds * 2 + 60))
# shellcheck disable=SC2086
$CC -O2 -fno-builtin -shared -fPIC -DPLUGIN_FRAME=64 -o heap_plugin.so \
	"$MEW_SRCDIR/tests/fixtures/heap_plugin.c" || broken "cannot build heap_plugin.so"

# same_count TEXT: what the program counts is what the hook counts.
same_count()
{
	[ -s out ] || fail "$1: the program did not end" figures err
	while read -r name value; do
		grep -qx "$name $value" figures || fail "$1: the program counts $name $value" figures
	done <out
	figures "$1" ended 'exit 0' live_bytes 0 live_blocks 0 held_blocks 0 lost 0 broken 0 \
		foreign_frees 0 sums 'add up'
}

under "$fixtures/heap_stress" churn "$seconds"
same_count "16 threads with each other's blocks for $seconds s"
grep -qx 'n_threads 16' figures || fail "other threads allocate" figures
awk '$1 == "total_allocations" && $2 < 10000 { exit 1 } $1 == "forked" && $2 < 1 { exit 1 }' figures ||
	fail "too little was done to tell anything" figures

# Other allocators below, each with locks and fork handlers of its own.
hook_alone=$hook_link
for allocator in jemalloc tcmalloc_minimal mimalloc; do
	so=$($CC -print-file-name=lib$allocator.so)
	[ "$so" != "lib$allocator.so" ] || continue
	hook_link="$hook_alone:$(readlink -f "$so")"
	under "$fixtures/heap_stress" churn 1
	same_count "the same on top of $allocator"
done
hook_link=$hook_alone

# own N: bytes of the tracker's own after N threads, which it must not keep memory for.
own()
{
	under "$fixtures/heap_stress" threads "$1"
	same_count "$1 threads, whose last block a destructor frees"
	own_bytes=$(sed -n 's/^own_bytes //p' figures)
}
own 1000
before=$own_bytes
own 10000
[ "$own_bytes" -le $((before + 65536)) ] ||
	fail "10000 threads cost $own_bytes bytes, 1000 cost $before" figures
pass "memory does not grow with the number of threads that have been"

echo "1..$mew_count"
