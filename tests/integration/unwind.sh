#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unwind tables of real libraries, and walks by them, compared with what libc itself finds.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

tools=$MEW_BUILDDIR/tests/tools
[ -x "$tools/cfi_table" ] || broken "no $tools/cfi_table"

if is_sanitized; then
	echo '# a sanitized build compares no walks'
else
	for mode in recursion realigned rows qsort signal thread; do
		run 0 "$tools/walk_self" $mode
		pass "a walk agrees with libc: $mode"
	done

	$CC -shared -fPIC -O2 -fomit-frame-pointer "$MEW_SRCDIR/tests/fixtures/plugin.c" -o plugin.so \
		2>err || broken "cannot build the plugin"
	run 0 "$tools/walk_self" plugin "$mew_dir/plugin.so"
	pass 'a library that comes by dlopen has a table until it goes'

	# A timer strikes in libc, the vDSO, PLT stubs, prologues and epilogues, and where the dynamic
	# linker binds a symbol: its frame is at rbx, which its callees save.
	run 0 "$tools/walk_self" sample 400
	cat out
	read -r samples differ <<-EOF
		$(sed -n 's/^samples=\([0-9]*\) differ=\([0-9]*\) .*/\1 \2/p' out)
	EOF
	[ "${samples:-0}" -ge 400 ] || broken "only ${samples:-no} samples"
	[ "$differ" -eq 0 ] || fail 'samples differ from libc' out err
	pass 'a sample anywhere is unwound as libc does it'
fi

# field NAME LINE: its value in a line of cfi_table.
field()
{
	printf '%s\n' "$2" | sed -n "s/.* $1=\([0-9]*\).*/\1/p"
}

# The libraries of a program that is here.
ldd "$tools/cfi_table" | sed -n 's/.*=> \(\/.*\) (.*/\1/p; s/^[[:space:]]*\(\/.*\) (.*/\1/p' |
	sort -u >libraries
grep -q libc.so libraries || broken 'no libc in the output of ldd'
cat libraries - >files <<EOF
$tools/cfi_table
[vdso]
EOF
while read -r file; do
	"$tools/cfi_table" "$file" >out 2>err || fail "no unwind table for $file" out err
	cat out
	line=$(cat out)
	[ "$(field bad "$line")" -eq 0 ] || fail "an FDE of $file gave no rules" out
	[ "$(field unsaid "$line")" -eq 0 ] || fail "rules of $file are beyond the table" out
	[ "$(field uncovered "$line")" -eq 0 ] || fail "an FDE of $file is not covered" out
	if command -v readelf >/dev/null && [ "$file" != '[vdso]' ]; then
		want=$(readelf --debug-dump=frames "$file" 2>/dev/null | grep -c ' FDE ')
		[ "$(field fdes "$line")" -eq "$want" ] || fail "not the $want FDEs of $file" out
	fi
done <files
pass 'every FDE of every library has rules'

libc=$(grep libc.so libraries)
line=$("$tools/cfi_table" "$libc")
[ "$(field signal "$line")" -ge 1 ] || fail "no signal frame in $libc: $line"
[ "$(field end "$line")" -ge 1 ] || fail "no outermost frame in $libc: $line"
[ "$(field plt "$line")" -ge 1 ] || fail "no PLT in $libc: $line"
pass 'signal frames, outermost frames and PLT stubs are known in libc'

# The same rules from .debug_frame.
cat >small.c <<'EOF'
int main(int argc, char **argv) { (void)argv; return argc - 1; }
#define TEN(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define F(n) int f##n(int (*f)(int)) { return f(n) + f(n + 1) + 1; }
TEN(1) TEN(2) TEN(3)
EOF
$CC -g -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -nostartfiles -Wl,-e,main small.c \
	-o small 2>err || broken "cannot build without .eh_frame"
run 0 "$tools/cfi_table" small
pass '.debug_frame serves where there is no .eh_frame'


# So they are from a compressed one, unless it cannot be unpacked.
run 0 "$tools/cfi_table" small
sed 's|^[^ ]* ||; s| ms=.*||' out >plain
objcopy --compress-debug-sections=zlib-gabi small small.gz 2>err || broken "objcopy cannot compress"
readelf -SW small.gz | grep -q '\.debug_frame.* C ' || broken 'its .debug_frame is not compressed'
run 0 "$tools/cfi_table" small.gz
sed 's|^[^ ]* ||; s| ms=.*||' out >unpacked
cmp -s plain unpacked || fail 'a compressed .debug_frame has other rules' plain unpacked
python3 - small.gz >offset <<'EOF' || broken 'no compressed .debug_frame found'
import struct, sys
elf = open(sys.argv[1], "rb").read()
shoff, = struct.unpack_from("<Q", elf, 40)
n, names = struct.unpack_from("<HH", elf, 60)
section = lambda i: struct.unpack_from("<IIQQQQ", elf, shoff + 64 * i)
strings = section(names)[4]
for i in range(n):
    name, kind, flags, addr, off, size = section(i)
    if elf[strings + name:].startswith(b".debug_frame\0"):
        print(off)
EOF
cp small.gz huge
printf '\377\377\377\377\377' | dd of=huge bs=1 seek=$(($(cat offset) + 8)) conv=notrunc 2>/dev/null
cp small.gz other
printf '\002' | dd of=other bs=1 seek="$(cat offset)" conv=notrunc 2>/dev/null
for file in huge other; do
	run 1 "$tools/cfi_table" $file
	grep -q 'error=its call frame information cannot be unpacked' out || fail "$file: not said" out
done
pass 'a compressed .debug_frame is unpacked, or said not to be'

strip -s small -o stripped || broken 'strip failed'
run 1 "$tools/cfi_table" stripped
grep -q 'error=no call frame information' out || fail 'not said that there is no CFI' out
: >empty
echo 'no program' >text
for file in empty text missing .; do
	run 1 "$tools/cfi_table" $file
	grep -q 'error=' out || fail "no error for $file" out
done
pass 'a file without CFI is an error'

run 0 "$tools/cfi_table" --mangle 400 "$tools/cfi_table"
cat out
pass 'damaged files are read without a fault'

echo "1..$mew_count"
