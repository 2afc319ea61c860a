#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A benchmark in C++: exceptions, destructors and lambdas in loop and pause.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

: "${CXX:=c++}"
need "$CXX"
library=$MEW_BUILDDIR/.libs/libmew.a
[ -f "$library" ] || broken "no $library"
"$CXX" -O2 -I"$MEW_SRCDIR/include" "$MEW_SRCDIR/tests/fixtures/loops.cc" "$library" -pthread \
	-o loops 2>err || { grep -q '__asan\|__ubsan' err && skip "libmew is sanitized"; fail "does not build" err; }

run 1 ./loops --min-time 1ms
for name in thrown_and_caught_outside thrown_out_of_pause; do
	grep -q "^! $name .*left early" out || fail "'$name' is not marked as left early" out err
done
pass "an exception that leaves the loop ends it"
for name in thrown_and_caught_inside helper_throws_from_pause; do
	grep -q "^[ !] $name " out || fail "'$name' has no row" out err
	! grep -q "case '$name' failed" err || fail "'$name' failed" err
done
pass "an exception that is caught in the iteration changes nothing"
grep -q "case 'uncaught' failed: its process died of signal 6" err ||
	fail "an uncaught exception is not told" err
grep -q '^[ !] strings/case:1 ' out || fail "the cases after it did not run" out
grep -q '^  lambda_loop/case:1 ' out || fail "a loop in a lambda has no row" out
pass "an uncaught exception fails its case alone"

echo "1..$mew_count"
