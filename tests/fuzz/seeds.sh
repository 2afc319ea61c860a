#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# seeds.sh DIR: makes DIR/TARGET/ for each fuzz target, with inputs to begin with: those of corpus/,
# decoded, and files that compiler and linker make. CC: the compiler.
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
: "${CC:=cc}"

# decode FILE: the bytes that its digits stand for.
decode()
{
	# shellcheck disable=SC2059 # the format is the text
	printf "$(sed 's/#.*//' "$1" | tr -cd '0-9a-f' | awk '{
		digits = "0123456789abcdef"
		for (i = 1; i < length($0); i += 2)
			printf "\\%03o", 16 * (index(digits, substr($0, i, 1)) - 1) \
				+ index(digits, substr($0, i + 1, 1)) - 1
	}')"
}

for target in "$here"/fuzz_*.c; do
	mkdir -p "$(basename "$target" .c)"
done
mkdir -p fuzz_walk_aarch64

for file in "$here"/corpus/*; do
	name=${file##*/}
	target=fuzz_${name%%-*}
	case $name in
	*.hex) decode "$file" >"$target/${name%.hex}" ;;
	*) cp "$file" "$target/" ;;
	esac
done
cp fuzz_walk/* fuzz_walk_aarch64/

# Names and lines of maps: one input a line.
n=0
while read -r line; do
	n=$((n + 1))
	printf '%s' "$line" >"fuzz_demangle/line-$n"
done <"$here/corpus/demangle-names.txt"
rm fuzz_demangle/demangle-names.txt

cat >seed.c <<'EOT'
#include <stddef.h>
extern void *malloc(size_t);
extern int other(int, ...);
static int helper(int n) { char room[64]; return other(n, room) + n; }
int called(int n) { char *p = __builtin_alloca((size_t)n); return helper(n) + *(char *)malloc(7) + other(n, p); }
int aligned(int n) { int a[8] __attribute__((aligned(64))); return other(n, a); }
void _start(void) { called(1); aligned(2); }
EOT
flags='-O1 -nostdlib -ffreestanding -w -Wl,-z,noseparate-code -Wl,--build-id=sha1'
# shellcheck disable=SC2086 # the flags are words
{
	$CC $flags -shared -fPIC seed.c -o shared.so
	$CC $flags -shared -fPIC -g -fno-asynchronous-unwind-tables -Wl,-z,lazy seed.c -o debug.so
	$CC $flags -shared -fPIC -g -gz=zlib seed.c -o zlib.so
	$CC $flags -c seed.c -o object.o
}
cp shared.so stripped.so
strip -s stripped.so
cp shared.so linked.so
objcopy --add-gnu-debuglink=debug.so linked.so
for file in shared.so debug.so zlib.so object.o stripped.so linked.so; do
	cp $file fuzz_elf/
	{
		printf '\377\377'
		cat $file
	} >fuzz_alloc/all-$file
	{
		printf '\011\000'
		cat $file
	} >fuzz_alloc/some-$file
done
objcopy --dump-section .eh_frame=frames shared.so copy.so
{
	printf '\000'
	cat frames
} >fuzz_cfi/eh
objcopy --dump-section .debug_frame=frames debug.so copy.so
{
	printf '\001'
	cat frames
} >fuzz_cfi/debug
# Their code begins at or after 0x280: two bytes say where look-ups begin and how far apart they are.
for version in 4 5; do
	# shellcheck disable=SC2086
	$CC $flags -g -gdwarf-$version -shared -fPIC -x c++ -fno-exceptions \
		-fno-asynchronous-unwind-tables "$here/corpus/dwarf-inlined.cc" -o inlined.so
	{
		printf '\050\000'
		cat inlined.so
	} >fuzz_dwarf/inlined-$version
done
rm fuzz_dwarf/dwarf-inlined.cc
rm -f ./*.so seed.c object.o frames
