#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The walk runs inside malloc: it calls nothing, and it keeps nothing between calls.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need nm size
# As they are in the malloc hook.
objects=$MEW_BUILDDIR/src/unwind/.libs/libmew_heap_la-
for noun in walk table evaluate trail; do
	[ -f "$objects$noun.o" ] || broken "no $objects$noun.o"
done
set -- "${objects}walk.o" "${objects}table.o" "${objects}evaluate.o" "${objects}trail.o"

nm -u "$@" >undefined || broken "nm cannot read $*"
grep -wE 'U|w' undefined | grep -vwE 'mew_unwind_table_[a-z]*|mew_evaluate|mew_walk_[a-z_]*|_GLOBAL_OFFSET_TABLE_' >calls
[ ! -s calls ] || fail "the walk calls a library" calls
pass "the walk calls no library"

size "$@" >sizes || broken "size cannot read $*"
awk 'NR > 1 { n++; writable += $2 + $3 } END { exit !(n == 4 && writable == 0) }' sizes ||
	fail "the walk has writable data" sizes
pass "the walk has no writable data"

echo "1..$mew_count"
