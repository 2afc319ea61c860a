#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stacks of the heap hook are whole and exact from every entry point, whichever compiler and
# level made the hook, and whatever the program's functions do with the frame pointer.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/heap_lib.sh
. "$MEW_SRCDIR/tests/integration/heap_lib.sh"

need addr2line

chain='leaf aligned_frame growing_frame recurse recurse recurse recurse main'
for entry in malloc:64 calloc:128 realloc:64 reallocarray:128 posix_memalign:64 aligned_alloc:64 \
	memalign:64 valloc:64 pvalloc:64; do
	echo "${entry%:*} 1 ${entry#*:} ${entry#*:} ${entry#*:}: $chain"
done >wanted

# stacks TEXT: of ./chain, by function, from main inwards; libc's are cut off.
stacks()
{
	under -s -w ./chain
	sed -n 's/^stack //p' figures | while IFS=: read -r head pcs; do
		# shellcheck disable=SC2086
		echo "$head: $(addr2line -f -e chain $pcs | awk 'NR % 2 { printf "%s%s", sep, $0
			sep = " " } $0 == "main" { exit }')"
	done >got
	cmp -s got wanted || fail "$1: the stacks are others" got wanted figures
	figures "$1" broken 0 lost 0 total_allocations 9
}

compilers=
for cc in "$CC" gcc clang; do
	command -v "${cc%% *}" >/dev/null 2>&1 || continue
	case " $compilers " in *" ${cc%% *} "*) ;; *) compilers="$compilers ${cc%% *}" ;; esac
done
for cc in $compilers; do
	for flags in -O0 '-O2 -fomit-frame-pointer' '-O2 -fno-omit-frame-pointer'; do
		# shellcheck disable=SC2086
		"$cc" -g $flags -no-pie -fno-builtin -o chain \
			"$MEW_SRCDIR/tests/fixtures/heap_chain.c" || broken "cannot build chain"
		stacks "program by $cc $flags"
	done
done

# The hook again, by each compiler. The program is the last one from above.
for cc in $compilers; do
	for level in -O0 -O2 -O3; do
		# shellcheck disable=SC2086
		"$cc" -std=gnu11 $level -fPIC -shared -fvisibility=hidden \
			-ftls-model=initial-exec -fno-builtin -I"$MEW_BUILDDIR" \
			-I"$MEW_SRCDIR/src" -Wl,-z,now -o "$mew_dir/other.so" \
			"$MEW_SRCDIR"/src/heap/*.c "$MEW_SRCDIR"/src/channel/curve.c \
			"$MEW_SRCDIR"/src/channel/forkmark.c \
			"$MEW_SRCDIR"/src/channel/iterations.c \
			"$MEW_SRCDIR"/src/channel/message.c "$MEW_SRCDIR"/src/unwind/evaluate.c \
			"$MEW_SRCDIR"/src/unwind/recall.c "$MEW_SRCDIR"/src/unwind/table.c \
			"$MEW_SRCDIR"/src/unwind/trail.c \
			"$MEW_SRCDIR"/src/unwind/walk.c ||
			broken "cannot build the hook by $cc"
		ln -sf "$mew_dir/other.so" "$hook_link"
		stacks "hook by $cc $level"
	done
done

echo "1..$mew_count"
