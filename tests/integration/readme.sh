#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# README.md is true: installed under a path with a blank, every command it shows works, and tables have
# the columns it shows. A command is an indented line that begins with "$ ".

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need script make
readme=$MEW_SRCDIR/README.md
esc=$(printf '\033')

# ---- an installation of its own ----
root=$mew_dir/root
make -s -C "$MEW_BUILDDIR" install DESTDIR="$root" >install.log 2>&1 </dev/null ||
	broken "make install: $(tail -n 3 install.log)"
bin=$(find "$root" -name mew-perf -path '*/bin/*')
header=$(find "$root" -name mew.h)
lib=$(find "$root" -name libmew.so)
if [ ! -x "$bin" ] || [ ! -f "$header" ] || [ ! -e "$lib" ]; then
	fail "the installation lacks a part" install.log
fi
PATH=${bin%/*}:$PATH
C_INCLUDE_PATH=${header%/mew/mew.h}
LIBRARY_PATH=${lib%/*}
LD_LIBRARY_PATH=${lib%/*}
export PATH C_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH
# mew.pc knows the place by itself; the shell reads the flags again, for their blanks.
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=${lib%/*}/pkgconfig pkg-config --cflags --libs mew) ||
		fail "pkg-config finds no mew"
	(
		unset C_INCLUDE_PATH LIBRARY_PATH
		eval "${CC:-cc} '$MEW_SRCDIR/examples/bench_qsort.c' $flags -o by_pkg_config"
	) 2>log || fail "the flags of pkg-config do not build a benchmark: $flags" log
	./by_pkg_config --list >log || fail "what was built by pkg-config's flags does not run" log
fi
pass "make install gives a tree that may be moved"

mkdir work
cp "$MEW_SRCDIR"/examples/*.c work/
cd work || broken "no folder"

# ---- code ----
# The block of C is a part of an example, line by line.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme" >../block
[ -s ../block ] || fail "README shows no code"
python3 - ../block bench_qsort.c <<'END' || fail "README's code is not in examples/bench_qsort.c" ../block
import sys
block, example = (open(name).read().expandtabs(8) for name in sys.argv[1:])
sys.exit(block not in example)
END
pass "README's code is that of the example"

# ---- commands ----
# Each command with the lines shown behind it, up to the next command or the end of the block.
awk -v dir="$mew_dir" '
	/^    \$ / { n++; file = sprintf("%s/step.%03d", dir, n); sub(/^    \$ /, ""); print > file; next }
	/^    / && file { sub(/^    /, ""); print > file; next }
	/./ { file = "" }' "$readme"

# columns: heads of tables, without what depends on the figures and on the room they leave.
columns()
{
	sed -E ':again
		s/ (KERNEL|OFF-CPU|[+]-|SLOWDOWN|SELF TIME|SELF\/ITER|TAX\/ITER|ITERATIONS|SHARE|TEMP|FIRST|LOST|FOREIGN|HELD)( |$)/\2/
		t again
		s/ +/ /g'
}

for step in "$mew_dir"/step.*; do
	[ -f "$step" ] || fail "README shows no commands"
	command=$(head -n 1 "$step")
	sed 1d "$step" >../shown
	# On a terminal of 80 columns, as the reader has it. The status is the command's.
	printf '%s\n' "$command" >../line
	NO_COLOR=1 script -qec "stty cols 80; sh ../line" ../typescript >/dev/null 2>&1 </dev/null
	got=$?
	# The line of progress ends where it is taken away.
	tr -d '\r' <../typescript |
		sed "/^Script started/d; /^Script done/d; s/^.*$esc\[K//" >../printed
	[ $got -eq 0 ] || fail "'$command' exits with $got" ../printed
	# A line of capitals is a table's head. Some columns come and go with what was measured.
	grep -E '^[! ] *[A-Z/][A-Z/ +-]*$' ../shown | columns | sort -u >../heads
	columns <../printed >../squeezed
	while IFS= read -r head; do
		grep -qxF -- "$head" ../squeezed || fail "'$command' prints no line '$head'" ../printed
	done <../heads
	# So is the head of a CSV table, up to where README cuts it.
	grep '^name,' ../shown | sed 's/,\.\.\..*//' | while IFS= read -r head; do
		grep -qF -- "$head" ../printed || fail "'$command' prints no '$head'" ../printed
	done || exit 1
	pass "$command"
done
[ "$mew_count" -gt 6 ] || fail "README shows only $mew_count commands"

echo "1..$mew_count"
