# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What every integration test starts with:  . "$MEW_SRCDIR/tests/integration/lib.sh"
# It makes a directory of its own, goes there, and removes it at the end. A test ends with 0
# (passed), 1 (`fail`), 77 (`skip`) or 99 (`broken`: the set-up failed, nothing was tested).
# `pass NAME` prints a TAP line, so that a script with several checks counts each of them.

set -u
LC_ALL=C
export LC_ALL
unset MEW_PERF_DB NO_COLOR

: "${MEW_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${MEW_BUILDDIR:=$MEW_SRCDIR/build}"
: "${MEW_PERF:=$MEW_BUILDDIR/mew-perf}"
: "${CC:=cc}"
export MEW_SRCDIR MEW_BUILDDIR MEW_PERF CC

mew_test=$(basename "$0" .sh)
mew_count=0

# broken TEXT: the set-up failed.
broken()
{
	echo "Bail out! $mew_test: $*"
	exit 99
}

# The path holds a space on purpose: users have such directories.
mew_dir=$(mktemp -d "${TMPDIR:-/tmp}/mew $mew_test.XXXXXX") || broken "no temporary directory"
trap 'rm -rf "$mew_dir"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$mew_dir" || broken "cannot enter $mew_dir"

# skip REASON: this machine cannot run the test.
skip()
{
	echo "# SKIP $*"
	exit 77
}

# need COMMAND...: skip unless each can be run.
need()
{
	for mew_command in "$@"; do
		command -v "$mew_command" >/dev/null 2>&1 || skip "no command '$mew_command'"
	done
}

# is_sanitized: the build under test is one with sanitizers.
is_sanitized()
{
	grep -q '^SANITIZE_CFLAGS = -f' "$MEW_BUILDDIR/Makefile"
}

# fail TEXT [FILE...]: the test failed; the files are shown.
fail()
{
	mew_count=$((mew_count + 1))
	echo "not ok $mew_count - $1"
	shift
	for mew_file in "$@"; do
		echo "# $mew_file:"
		sed 's/^/#   /' "$mew_file" 2>&1
	done
	exit 1
}

# pass TEXT: one check of the script is done.
pass()
{
	mew_count=$((mew_count + 1))
	echo "ok $mew_count - $1"
}

# run STATUS COMMAND...: runs it with stdout to `out`, stderr to `err`; fails on another status.
run()
{
	mew_want=$1
	shift
	mew_got=0
	"$@" >out 2>err </dev/null || mew_got=$?
	[ "$mew_got" -eq "$mew_want" ] ||
		fail "'$*' exits with $mew_got, not $mew_want" out err
}
