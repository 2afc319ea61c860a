#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS [TARGET...]: runs libFuzzer on each target of tests/fuzz (cfi, walk, ...: all of
# them), two at a time. In build/fuzz: TARGET/corpus grows from run to run, TARGET/log is what was
# said, TARGET/found is what to look at. The last line is `N passed, N failed`.

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$dev_top" || exit 1

[ $# -gt 0 ] || die "how many seconds a target?"
seconds=$1
shift
install_packages build test ci
build=$dev_top/build/fuzz
configure_in "$build" CC=clang CXX=clang++ --enable-fuzzing || die "configure failed"
targets=$(make -s -C "$build" --no-print-directory list-fuzz | grep '^tests/fuzz/fuzz_')
# shellcheck disable=SC2086 # the names hold no blanks
build_in "$build" $targets || die "the targets do not build"
rm -rf "$build/seeds"
CC=clang quiet "$build/seeds.log" sh tests/fuzz/seeds.sh "$build/seeds" || die "no inputs"
# shellcheck disable=SC2046 # nor do these
[ $# -gt 0 ] || set -- $(echo "$targets" | sed 's|.*/fuzz_||')

# fuzz NAME: its last line says how it ended.
fuzz()
{
	dir=$build/$1
	mkdir -p "$dir/corpus" "$dir/found"
	cp "$build/seeds/fuzz_$1"/* "$dir/corpus/"
	(cd "$dir" && ASAN_OPTIONS=allocator_may_return_null=1 \
		timeout $((seconds + 120)) "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" \
		-max_len=16384 -timeout=20 -rss_limit_mb=2048 -artifact_prefix=found/ \
		-print_final_stats=1 corpus >log 2>&1 </dev/null)
	echo "status $?" >>"$dir/log"
}

passed=0
failed=0

# show NAME
show()
{
	log=$build/$1/log
	if [ "$(tail -n 1 "$log")" = 'status 0' ]; then
		passed=$((passed + 1))
		echo "ok - $1: $(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) .*/\1 runs in \2 s/p' "$log")"
	else
		failed=$((failed + 1))
		echo "not ok - $1: see $log"
		grep -E 'not so|ERROR|SUMMARY|runtime error|Test unit' "$log" | sed 's/^/    /'
	fi
}

while [ $# -gt 0 ]; do
	fuzz "$1" &
	if [ $# -gt 1 ]; then
		fuzz "$2"
		wait
		show "$1"
		shift
	else
		wait
	fi
	show "$1"
	shift
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
