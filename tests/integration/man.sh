#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual pages: clean to mandoc, one for each command, every option described, and each line of
# EXAMPLES that begins with "$ " does what it shows.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

[ -x "$MEW_PERF" ] || broken "no '$MEW_PERF'"
# By a short name: lists of pages are parted by blanks.
ln -s "$MEW_SRCDIR/doc/man" pages
pages=pages

# ---- form ----
if command -v mandoc >/dev/null 2>&1; then
	for page in "$pages"/*.[1-8]; do
		# Pages are looked up among those installed, which says nothing of ours.
		mandoc -Tlint -Wstyle "$page" 2>&1 | grep -vE 'referenced manual not found|outdated mandoc.db' >lint
		[ ! -s lint ] || fail "${page##*/} is not clean" lint
		pass "${page##*/} is clean"
	done
else
	echo "ok $((mew_count + 1)) - pages are clean # SKIP no command 'mandoc'"
	mew_count=$((mew_count + 1))
fi
for page in "$pages"/*.[1-8]; do
	sed -n 's/^\.Xr \([^ ]*\) \([1-8]\).*/\1.\2/p' "$page" | grep '^mew' | sort -u >named
	while read -r name; do
		[ -f "$pages/$name" ] || fail "${page##*/} refers to '$name', which is not there"
	done <named
done
pass "pages refer to pages that are there"

# ---- options ----
# A long option is ".Fl -name" at a line's begin or after others, as in ".It Fl k , -filter Ar regex".
run 0 "$MEW_PERF" --complete 0 ''
grep -v '^-' out >commands
[ -s commands ] || fail "no commands"
while read -r command; do
	page=$pages/mew-perf-$command.1
	[ -f "$page" ] || fail "'mew-perf $command' has no manual page"
	described=$pages/mew-perf.1
	# The page of run refers to those of what it runs.
	[ "$command" != run ] || described="$described $pages/mew-perf-cpu.1 $pages/mew-perf-mem.1"
	run 0 "$MEW_PERF" --complete 1 "$command" --
	[ -s out ] || fail "'mew-perf $command' offers no options"
	while read -r option; do
		# shellcheck disable=SC2086 # a list
		cat "$page" $described | grep -qE -- "^\.(It )?Fl (.* )?${option#-}( |\$)" ||
			fail "no page of 'mew-perf $command' describes '$option'"
	done <out
	pass "every option of 'mew-perf $command' is described"
done <commands

# ---- examples ----
for name in bench_qsort bench_split bench_sqlite bench_zlib; do
	cp "$MEW_BUILDDIR/examples/$name" . || broken "no example $name"
done
mkdir bin
ln -s "$MEW_PERF" bin/mew-perf
PATH=$PWD/bin:$PATH
export PATH
count=0
: >already
for name in mew-perf.1 mew-perf-cpu.1 mew-perf-mem.1 mew-perf-run.1 mew-perf-report.1 \
	mew-perf-list.1 mew-perf-recording.5; do
	[ -f "$pages/$name" ] || continue
	# An escape is a backslash, as in the page: \e, \(aq, \-, \&.
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^\.Dl \$ //p' "$pages/$name" |
		sed 's/\\e/\\/g; s/\\(aq/'\''/g; s/\\-/-/g; s/\\&//g' >lines
	while IFS= read -r line; do
		grep -qxF -- "$line" already && continue
		printf '%s\n' "$line" >>already
		sh -c "$line" >out 2>err </dev/null || fail "$name: '$line' exits with $?" out err
		case $line in
		*' -o '* | *--csv=*) ;; # goes to a file
		*) [ -s out ] || fail "$name: '$line' prints nothing" err ;;
		esac
		count=$((count + 1))
	done <lines
done
[ "$count" -gt 8 ] || fail "only $count examples were found"
pass "the $count examples of the pages work"

echo "1..$mew_count"
