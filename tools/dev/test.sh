#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds in ./build, runs every test and ends with `N passed, N failed` (and `, N skipped`). Each
# test of a unit program and each TAP line of an integration script counts. A skip of a test that is
# not in may-skip.txt is a failure.

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$dev_top" || exit 1

install_packages build test
build=$dev_top/build
echo "building in $build"
configure_in "$build" || die "configure failed"
build_in "$build" || die "the build failed"
build_in "$build" check TESTS= || die "the tests do not build"

# One after the other: several tests look at what the CPUs do. One that hangs is ended, so that its log is seen.
echo "running the tests"
limit='timeout -k 30 900'
make -C "$build" -k check LOG_COMPILER="$limit" SH_LOG_COMPILER="$limit sh" >"$build/check.log" 2>&1 </dev/null
make -s -C "$build" list-tests >"$build/tests.txt" </dev/null || die "no list of tests"

passed=0
failed=0
skipped=0

# skip TEST REASON
skip()
{
	if grep -q "^$1\([[:space:]]\|\$\)" tools/dev/may-skip.txt; then
		skipped=$((skipped + 1))
		echo "skipped: $1: $2"
	else
		failed=$((failed + 1))
		echo "FAILED: $1 must run here, but was skipped: $2"
	fi
}

# count_script TEST LOG RESULT: a script counts its TAP lines, or itself when it has none.
count_script()
{
	ok=$(grep '^ok ' "$2" | grep -vc '# SKIP')
	not_ok=$(grep -c '^not ok ' "$2")
	case $3 in
	SKIP)
		skip "$1" "$(sed -n 's/^# SKIP //p' "$2" | tail -n 1)"
		return
		;;
	PASS) [ $((ok + not_ok)) -gt 0 ] || ok=1 ;;
	*) [ "$not_ok" -gt 0 ] || not_ok=1 ;;
	esac
	sed -n 's/^ok .*# SKIP //p' "$2" >"$build/skips.txt"
	while read -r reason; do
		skip "$1" "$reason"
	done <"$build/skips.txt"
	passed=$((passed + ok))
	failed=$((failed + not_ok))
	if [ "$not_ok" -gt 0 ]; then
		echo "FAILED: $1"
		show_log "$2"
	fi
}

# count_unit TEST LOG TRS: the TAP driver leaves one result line a test.
count_unit()
{
	bad=$(grep -cE '^:test-result: *(FAIL|ERROR|XPASS|SKIP)' "$3")
	passed=$((passed + $(grep -cE '^:test-result: *(PASS|XFAIL)' "$3")))
	failed=$((failed + bad))
	if [ "$bad" -gt 0 ]; then
		echo "FAILED: $1"
		show_log "$2"
	fi
}

while read -r test; do
	base=$build/${test%.sh}
	if [ ! -f "$base.trs" ]; then
		failed=$((failed + 1))
		echo "FAILED: $test did not run"
		continue
	fi
	case $test in
	*.sh)
		result=$(sed -n 's/^:test-result: *\([A-Z]*\).*/\1/p' "$base.trs")
		count_script "$test" "$base.log" "$result"
		;;
	*) count_unit "$test" "$base.log" "$base.trs" ;;
	esac
done <"$build/tests.txt"

[ $((passed + failed)) -gt 0 ] || die "no test ran: see $build/check.log"
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
