#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds mew-perf and shows it on a benchmark of SQLite, with the commands that a user types.

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/lib.sh"

install_packages build demo
build=$dev_top/build
echo "building in $build"
configure_in "$build" || die "configure failed"
# One after the other: side by side both would make libmew.
build_in "$build" all || die "the build failed"
build_in "$build" examples || die "the examples do not build"

PATH=$build:$PATH
export PATH
cd "$build/examples" || exit 1
rm -f mew-perf.db

# show COMMAND...: prints it as typed, then runs it.
show()
{
	printf '\n$ %s\n' "$*"
	"$@" </dev/null || die "'$*' failed with status $?"
}

show mew-perf cpu ./bench_sqlite
show mew-perf mem ./bench_sqlite
show mew-perf report
