#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The inputs that the fuzz targets begin with, and damaged copies of them, with whatever compiler
# built this tree. Fuzzing proper is tools/dev/fuzz.sh.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

grep -q '^SANITIZE_CFLAGS = .*fuzzer' "$MEW_BUILDDIR/Makefile" &&
	skip 'this tree is built for libFuzzer'
need objcopy strip
sh "$MEW_SRCDIR/tests/fuzz/seeds.sh" seeds >out 2>err || broken "no inputs: $(cat err)"

for source in "$MEW_SRCDIR"/tests/fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	for program in "$MEW_BUILDDIR/tests/fuzz/$target" \
		"$MEW_BUILDDIR/tests/fuzz/${target}_aarch64"; do
		[ -x "$program" ] || continue
		set -- seeds/"$target"/*
		[ -f "$1" ] || broken "no input for $target"
		run 0 "$program" -m 200 "$@"
		pass "$(basename "$program"): $# inputs and damaged copies"
	done
done
[ "$mew_count" -ge 10 ] || broken "only $mew_count targets"

run 99 "$MEW_BUILDDIR/tests/fuzz/fuzz_maps" missing
pass 'a missing input is a failure'

echo "1..$mew_count"
