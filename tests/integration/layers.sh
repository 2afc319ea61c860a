#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tree is the dependency rule: a part includes only the parts below it, and each outside
# library is named in the parts that own it.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

src=$MEW_SRCDIR/src
bad=$mew_dir/bad

# below PART ALLOWED...: the includes of src/PART name only itself and ALLOWED.
below()
{
	part=$1
	shift
	allowed=$part
	for name in "$@"; do
		allowed="$allowed|$name"
	done
	[ -d "$src/$part" ] || broken "no src/$part"
	: >"$bad"
	find "$src/$part" -name '*.[ch]' | sort | while read -r file; do
		grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[a-z_]+/' "$file" |
			grep -vE "\"($allowed)/" | sed "s|^|${file#"$MEW_SRCDIR"/}:|" >>"$bad"
	done
	[ ! -s "$bad" ] || fail "src/$part includes a part that is not below it" "$bad"
	pass "src/$part includes only: $part $*"
}

# only PATTERN FOLDER...: the extended pattern occurs only in sources of these folders.
only()
{
	pattern=$1
	shift
	find "$src" "$MEW_SRCDIR/tools" "$MEW_SRCDIR/include" -name '*.[ch]' | sort >files
	for name in "$@"; do
		grep -v "^$MEW_SRCDIR/$name/" files >rest
		mv rest files
	done
	: >"$bad"
	while read -r file; do
		grep -nE "$pattern" "$file" | sed "s|^|${file#"$MEW_SRCDIR"/}:|" >>"$bad"
	done <files
	[ ! -s "$bad" ] || fail "'$pattern' belongs to $*" "$bad"
	pass "'$pattern' only in $*"
}

below base
below channel base
below bench base channel
below heap base channel unwind

# What makes the tables needs libdw and runs in mew-perf: the hook only walks them.
: >"$bad"
grep -nE '^#[[:space:]]*include[[:space:]]*"unwind/' "$src"/heap/*.[ch] 2>/dev/null |
	grep -vE '"unwind/(walk|table|trail|recall)\.h"' >"$bad"
[ ! -s "$bad" ] || fail "src/heap includes more of unwind than the walk" "$bad"
pass "src/heap includes only the walk of unwind"

below unwind base channel
below kernel base channel
# A module's mapping and its tables are unwind's; symbol reads the same modules.
below symbol base channel unwind
below profile base channel
below store base channel kernel unwind symbol profile
below output base channel kernel unwind symbol profile
below session base channel kernel unwind symbol profile store output

only '^#[[:space:]]*include[[:space:]]*<(perfmon|traceevent|event-parse|tracefs)' src/kernel
only '^#[[:space:]]*include[[:space:]]*<(elfutils|dwarf\.h|libdw)' src/unwind src/symbol
only '^#[[:space:]]*include[[:space:]]*<sqlite3' src/store
only '^#[[:space:]]*include[[:space:]]*<zlib' src/output
only '(SYS|__NR)_perf_event_open' src/kernel src/bench

# Inside a target there is no library but libc.
: >"$bad"
find "$src/base" "$src/channel" "$src/bench" "$src/heap" -name '*.[ch]' | sort |
	while read -r file; do
		grep -nE '^#[[:space:]]*include[[:space:]]*<(gelf|libelf|sqlite3|zlib)' "$file" |
			sed "s|^|${file#"$MEW_SRCDIR"/}:|" >>"$bad"
	done
[ ! -s "$bad" ] || fail "the target's side needs libc alone" "$bad"
pass "the target's side includes libc alone"

# Feature macros come from config.h, so it is the first include of every source.
: >"$bad"
find "$src" "$MEW_SRCDIR/tools" -name '*.c' | sort | while read -r file; do
	first=$(grep -m1 -E '^#[[:space:]]*include' "$file")
	[ "$first" = '#include "config.h"' ] || echo "${file#"$MEW_SRCDIR"/}: $first" >>"$bad"
done
[ ! -s "$bad" ] || fail 'a source does not include "config.h" first' "$bad"
pass 'every source includes "config.h" first'

: >"$bad"
find "$src" "$MEW_SRCDIR/tools" "$MEW_SRCDIR/include" "$MEW_SRCDIR/tests" "$MEW_SRCDIR/examples" \
	-name '*.[ch]' -o -name '*.am' -o -name '*.sh' | sort | while read -r file; do
	grep -q 'SPDX-License-Identifier: Apache-2.0' "$file" || echo "$file" >>"$bad"
done
[ ! -s "$bad" ] || fail "a file has no licence line" "$bad"
pass "every source has its licence line"

echo "1..$mew_count"
