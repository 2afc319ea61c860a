#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Addresses of programs built in many ways, as functions and lines; compared with addr2line.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

symbolise=$MEW_BUILDDIR/tests/tools/symbolise
fixtures=$MEW_SRCDIR/tests/fixtures
[ -x "$symbolise" ] || broken "no $symbolise"
need nm objcopy strip readelf

tab=$(printf '\t')

# build CC CXX OPTION...: makes `prog` of the fixtures; 1 when the compiler does not know an option.
build()
{
	build_cc=$1
	build_cxx=$2
	shift 2
	rm -f prog ./*.o ./*.dwo
	"$build_cc" -g -O2 "$@" -c "$fixtures/symbols_c.c" -o c.o 2>err &&
		"$build_cxx" -g -O2 "$@" -c "$fixtures/symbols.cc" -o cxx.o 2>>err &&
		"$build_cxx" -g -O2 "$@" c.o cxx.o -o prog 2>>err
}

# address PATTERN FILE: of the symbol that matches.
address()
{
	nm "$2" | awk -v p="$1" '$3 ~ p { print $1; exit }'
}

# line_of NAME: in symbols.cc.
line_of()
{
	sed -n "/line: $1\$/=" "$fixtures/symbols.cc"
}

# frames FILE ADDRESS: to `out`.
frames()
{
	run 0 "$symbolise" "$@"
}

# expect N LINKAGE-OR-NAME DECLARED LINE WHAT: of the Nth frame in `out`.
expect()
{
	awk -F "$tab" -v n="$1" -v name="$2" -v decl="$3" -v line="$4" '
		NR == n { good = ($2 == name || $3 == name) && $5 == decl && $6 == line &&
			$4 ~ /\/symbols\.cc$/ && $7 == "dwarf" }
		END { exit !good }' out || fail "$5: frame $1 is not $2 $3 $4" out
}

# check_inlined WHAT: two functions inlined into a third, with every line.
check_inlined()
{
	frames prog "$(address 'outer' prog)"
	expect 1 deep::innermost "$(line_of innermost)" "$(line_of 'innermost body')" "$1"
	expect 2 deep::middle "$(line_of middle)" "$(line_of 'middle calls')" "$1"
	expect 3 _ZN4deep5outerEi "$(line_of outer)" "$(line_of 'outer calls')" "$1"
	[ "$(grep -c "${tab}dwarf\$" out)" -eq 3 ] || fail "$1: not three frames" out
}

cxx=c++
command -v g++ >/dev/null && cxx=g++
command -v "$cxx" >/dev/null || skip 'no C++ compiler'

for options in -gdwarf-4 -gdwarf-5 -gz=zlib '-gdwarf-4 -gsplit-dwarf' '-gdwarf-5 -gsplit-dwarf' \
	-flto '-fPIE -pie' '-fno-pie -no-pie' '-ffunction-sections -Wl,--gc-sections'; do
	# shellcheck disable=SC2086
	build "$CC" "$cxx" $options || broken "cannot build with $options"
	check_inlined "$cxx $options"
	pass "inlined functions and lines: $cxx $options"
done

build "$CC" "$cxx" || broken 'cannot build'
for name in '(anonymous namespace)::hidden' '(anonymous namespace)::local::member'; do
	frames prog "$(address "$(echo "${name##*::}" | cut -c 1-6)" prog)"
	cut -f 3 out | grep -qF "$name" || fail "no name '$name'" out
done
frames prog "$(address 'boxIlE3addEl' prog)"
grep -q "${tab}deep::box<long>::add(long)${tab}.*${tab}$(line_of add)${tab}" out ||
	fail 'the name of a template' out
pass 'names of templates and of anonymous namespaces'

cold=$(address '^c_function\.cold' prog)
if [ -n "$cold" ]; then
	frames prog "$(address '^c_function$' prog)" "$cold"
	[ "$(cut -f 3-5 out | grep c_function | sort -u | wc -l)" -eq 1 ] ||
		fail 'a cold part is another function' out
	strip --strip-debug prog -o bare || broken 'strip failed'
	frames bare "$(address '^c_function$' prog)" "$cold"
	[ "$(cut -f 2,3 out | grep c_function | sort -u | wc -l)" -eq 1 ] ||
		fail 'a cold part is another symbol' out
	pass 'a cold part belongs to its function'
	for file in prog bare; do
		run 0 "$symbolise" --split-clones $file "$(address '^c_function$' prog)" "$cold"
		grep -q "${tab}c_function${tab}" out || fail 'the function of a cold part' out
		grep -q "^0x0*$(echo "$cold" | sed 's/^0*//')${tab}c_function\.cold${tab}c_function \[clone \.cold\]${tab}" out ||
			fail 'a cold part is not apart' out
	done
	pass 'a cold part is a function of its own on request'
fi

if command -v addr2line >/dev/null; then
	build "$CC" "$cxx" -gdwarf-4 || broken 'cannot build'
	nm prog | awk '$2 ~ /^[tTwW]$/ { print $1 }' >functions
	readelf -SW prog | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p' >text
	read -r text_lo text_size <text
	awk -v lo=$((0x$text_lo)) -v n=$((0x$text_size)) 'BEGIN {
		for (i = 0; i < n; i += 3) printf "0x%x\n", lo + i }' >addresses
	"$symbolise" prog <addresses >ours || fail 'symbolise fails'
	addr2line -a -i -f -e prog <addresses >theirs 2>err || broken 'addr2line fails'
	# One line an address: the chain of lines. A pc past the end of a symbol has none of ours.
	awk -F "$tab" '$1 ~ /^0x/ { if ($1 != last) printf "%s%s", (last ? "\n" : ""), $1
		last = $1; printf " %s", $7 == "none" ? "none" : $6 } END { print "" }' ours >ours.lines
	awk '/^0x/ { printf "%s0x", (NR > 1 ? "\n" : ""); sub(/^0x0*/, ""); printf "%s", $0; n = 0; next }
		++n % 2 == 0 { sub(/ \(disc.*/, ""); sub(/.*:/, ""); sub(/\?/, 0); printf " %s", $0 }
		END { print "" }' theirs >theirs.lines
	paste -d ' ' ours.lines theirs.lines | awk '{
		if ($2 == "none") { none++; next }
		n++; if (NF % 2) { bad++; print; next }
		for (i = 1; i <= NF / 2; i++) if ($i != $(i + NF / 2)) { bad++; print; break } }
		END { printf "# %d addresses, %d differ, %d between functions\n", n, bad, none
			exit n < 300 || bad }' >differ
	same=$?
	tail -n 20 differ >some
	[ "$same" -eq 0 ] || fail 'lines differ from those of addr2line' some
	tail -n 1 some
	pass 'every line and every chain is as addr2line has it'
fi

if command -v clang++-14 >/dev/null && command -v clang-14 >/dev/null; then
	for options in -gdwarf-4 -gdwarf-5 '-gdwarf-5 -gsplit-dwarf'; do
		# shellcheck disable=SC2086
		build clang-14 clang++-14 $options || broken "clang cannot build with $options"
		frames prog "$(address 'outer' prog)"
		expect 1 _ZN4deepL9innermostEi "$(line_of innermost)" "$(line_of 'innermost body')" clang
		expect 3 _ZN4deep5outerEi "$(line_of outer)" "$(line_of 'outer calls')" clang
		pass "inlined functions and lines: clang $options"
	done
fi

build "$CC" "$cxx" -g1 || broken 'cannot build with -g1'
frames prog "$(address outer prog)"
sed -n 3p out | grep -q "_ZN4deep5outerEi${tab}deep::outer(int)${tab}" ||
	fail 'no whole name with -g1' out
pass 'names are whole with -g1'

# A split unit whose file is gone: the symbol table, the line, and word of it.
build "$CC" "$cxx" -gsplit-dwarf || broken 'cannot build with -gsplit-dwarf'
outer=$(address outer prog)
rm -f ./*.dwo
frames prog "$outer"
grep -q "deep::outer(int)${tab}-${tab}0${tab}$(line_of 'innermost body')${tab}elf" out ||
	fail 'without .dwo files' out
grep -q "^poor${tab}.*/prog${tab}1${tab}split\$" out || fail 'missing .dwo files are not said' out
pass 'missing .dwo files are said'

# The program is built anew while it runs: what ran is what was mapped.
build "$CC" "$cxx" -Wl,--build-id || broken 'cannot build'
outer=$(address outer prog)
cp prog first
"$CC" -g -Wl,--build-id -shared -nostdlib "$fixtures/labels.S" -o other 2>err || broken 'cannot build'
cp other new
run 0 "$symbolise" --after 'mv new prog' prog "$outer"
expect 3 _ZN4deep5outerEi "$(line_of outer)" "$(line_of 'outer calls')" 'a replaced program'
cp first prog
run 0 "$symbolise" --after 'cat other >prog' prog "$outer"
grep -q "${tab}\\[prog\\]${tab}.*${tab}none" out || fail 'a program that was written over' out
grep -q "^poor${tab}.*/prog${tab}1${tab}replaced\$" out ||
	fail 'a program that was written over is not said' out
# Nothing but its time tells one program without a build-id from another.
build "$CC" "$cxx" -Wl,--build-id=none || broken 'cannot build'
outer=$(address outer prog)
"$CC" -g -Wl,--build-id=none -shared -nostdlib "$fixtures/labels.S" -o other 2>err ||
	broken 'cannot build'
run 0 "$symbolise" --after 'cat other >prog' prog "$outer"
grep -q "${tab}\\[prog\\]${tab}.*${tab}none" out || fail 'a program without a build-id' out
grep -q "^poor${tab}.*/prog${tab}1${tab}replaced\$" out ||
	fail 'a program without a build-id that was written over is not said' out
pass 'a program that is replaced or written over keeps its names, or has none'

# Separate debug files.
build "$CC" "$cxx" -Wl,--build-id=none || broken 'cannot build'
outer=$(address outer prog)
mkdir -p .debug
objcopy --only-keep-debug prog .debug/prog.debug || broken 'objcopy failed'
cp prog whole
(cd .debug && strip -g -o ../stripped ../prog && objcopy --add-gnu-debuglink=prog.debug ../stripped ../prog) ||
	broken 'objcopy failed'
check_inlined 'a debug link'
grep -q ^poor out && fail 'a module with a debug file is said to have none' out
echo damaged >>.debug/prog.debug
frames prog "$outer"
grep -q "${tab}elf\$" out || fail 'a debug file of another build is used' out
grep -q "^poor${tab}.*/prog${tab}1${tab}debug\$" out || fail 'a missing debug file is not said' out
pass 'a debug file is found by its link, and only the right one'

strip -s whole -o prog || broken 'strip failed'
frames prog "$outer" 0
grep -q "${tab}\\[prog\\]${tab}-${tab}0${tab}0${tab}none" out || fail 'a stripped program' out
grep -q "${tab}\\[unknown\\]${tab}" out || fail 'an address outside of the code' out
pass 'a stripped program is named by its module'

build "$CC" "$cxx" || broken 'cannot build'
outer=$(address outer prog)
if objcopy --compress-debug-sections=zstd prog zstd 2>err; then
	frames zstd "$outer"
	grep -q "${tab}_ZN4deep5outerEi${tab}.*${tab}dwarf\$" out || fail 'sections compressed by zstd' out
	grep -q ^poor out && fail 'sections compressed by zstd lack something' out
	size=$(stat -c %s zstd)
	readelf -SW zstd >zstd.sections
	off=$(sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p' zstd.sections)
	# Its compressed bytes, and its size before, which begins at byte 8 of the header.
	for at in 30 9 15; do
		cp zstd damaged
		printf '\377\377' | dd of=damaged bs=1 seek=$((0x$off + at)) conv=notrunc 2>/dev/null
		[ "$(stat -c %s damaged)" -eq "$size" ] || broken 'dd'
		frames damaged "$outer"
		grep -q "${tab}deep::outer(int)${tab}.*${tab}elf\$" out || fail 'a damaged zstd section' out
		grep -q "^poor${tab}.*${tab}unreadable\$" out || fail 'a damaged zstd section is not said' out
	done
	pass 'zstd sections are read, and that damaged ones cannot be is said'
fi

# The functions of a stripped program, as distributions keep them.
if command -v xz >/dev/null; then
	objcopy -S -K _ZN4deep5outerEi prog mini || broken 'objcopy failed'
	xz -f -k mini || broken 'xz failed'
	strip -s prog -o bare || broken 'strip failed'
	objcopy --add-section .gnu_debugdata=mini.xz bare packed || broken 'objcopy failed'
	frames bare "$outer"
	grep -q "${tab}none\$" out || broken 'a stripped program has names'
	frames packed "$outer"
	grep -q "_ZN4deep5outerEi${tab}deep::outer(int)${tab}-${tab}0${tab}0${tab}elf\$" out ||
		fail 'the names in .gnu_debugdata' out
	head -c 200 mini.xz >cut.xz
	objcopy --add-section .gnu_debugdata=cut.xz bare packed || broken 'objcopy failed'
	frames packed "$outer"
	grep -q "${tab}none\$" out || fail 'a cut .gnu_debugdata' out
	pass 'the names in .gnu_debugdata are read'
fi

"$CC" -shared -nostdlib "$fixtures/labels.S" -o labels.so 2>err || broken 'cannot build labels.so'
at()
{
	printf '%x' $((0x$(address "^$1\$" labels.so) + $2))
}
# named ADDRESS NAME: by the symbol table.
named()
{
	frames labels.so "$1"
	[ "$(sed -n 1p out | cut -f 3)" = "$2" ] || fail "not $2" out
}
named "$(at sized_function 2)" sized_function
named "$(at sized_function 3)" '[labels.so]'
named "$(at sized_function 15)" '[labels.so]'
named "$(at bare_label 0)" bare_label
named "$(at bare_label 15)" bare_label
named "$(at global_alias 0)" global_alias
named "$(at global_alias 2)" global_alias
named "$(at 'piece.cold.3' 0)" piece
pass 'symbols: sizes, labels without one, aliases, pieces'

# The stubs of calls into other modules, both layouts.
echo 'int main(int n, char **v) { return puts(v[0]) + atoi(v[0]) + n; }' >calls.c
for way in '-Wl,-z,lazy' '-fcf-protection -Wl,-z,ibtplt'; do
	# shellcheck disable=SC2086 # a list
	"$CC" -w -fno-builtin $way calls.c -o calls 2>err || broken 'cannot build calls'
	for name in puts atoi; do
		stub=$(objdump -d -j .plt -j .plt.sec calls 2>/dev/null | sed -n "s/^0*\([0-9a-f]*\) <$name@plt>:/\1/p" | tail -n 1)
		[ -n "$stub" ] || broken "no stub of $name"
		frames calls "$stub"
		[ "$(sed -n 1p out | cut -f 3)" = $name ] || fail "the stub of $name, $way" out
	done
done
pass 'a stub of the PLT is the function that it calls'

run 0 "$symbolise" --described labels.so "$(at sized_function 0)"
[ "$(cat out)" = 'sized_function (labels.so)' ] || fail 'the description of a symbol' out
pass 'a function without debug info is described by its module'

nm -u "$symbolise" | grep dwfl_ >network && fail 'libdwfl would ask debuginfod servers' network
pass 'nothing asks the network'

echo "1..$mew_count"
