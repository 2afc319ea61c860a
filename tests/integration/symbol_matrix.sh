#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One program built in every way that compilers and tools pack debug information: each has the right
# functions, files, lines and chains, or the fallback that is documented for it (mew-perf(1)).

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

symbolise=$MEW_BUILDDIR/tests/tools/symbolise
source_cc=$MEW_SRCDIR/tests/fixtures/matrix.cc
source_rs=$MEW_SRCDIR/tests/fixtures/matrix.rs
[ -x "$symbolise" ] || broken "no $symbolise"
need nm objcopy strip
tab=$(printf '\t')

gxx=
for name in g++ c++; do
	command -v "$name" >/dev/null && gxx=$name && break
done
clangxx=
for name in clang++-14 clang++; do
	command -v "$name" >/dev/null && clangxx=$name && break
done
[ -n "$gxx$clangxx" ] || skip 'no C++ compiler'
llvm_dwp=
for name in llvm-dwp-14 llvm-dwp; do
	command -v "$name" >/dev/null && llvm_dwp=$name && break
done

# ---- the variants: name, compiler, what is done to it, what is known then, options ----
#
# Known: `all`; `bare`, all but namespaces of inlined functions; `lines`, chains of names without where
# they are declared, and where nothing is inlined symbols; `line`, symbols and the line of the pc; `symbols`; `some`, symbols of those that
# were kept; `part`, symbols and the line of the pc; `none`.

: >variants
variant()
{
	for word in $2; do
		printf '%s\t%s\t%s\t%s\t%s\n' "$(echo "$word $1" | tr -c 'a-zA-Z0-9\n' _)" "$word" "$3" "$4" "$1" >>variants
	done
}

both="$gxx $clangxx"
variant '-gdwarf-4' "$both" plain all
variant '-gdwarf-5' "$both" plain all
variant '-g1' "$gxx" plain bare
variant '-g1' "$clangxx" plain lines
variant '-g3 -O3' "$both" plain all
variant '-gz=zlib' "$both" plain all
variant '-gdwarf-5 -DZSTD' "$both" zstd all
variant '-gdwarf-4 -DZLIBGNU' "$gxx" zlibgnu all
variant '-gdwarf-4 -gsplit-dwarf' "$both" plain all
variant '-gdwarf-5 -gsplit-dwarf' "$both" plain all
variant '-gdwarf-5 -gsplit-dwarf -DGONE' "$both" gone line
variant '-flto' "$both" plain all
variant '-flto -gdwarf-4 -fno-pie -no-pie' "$gxx" plain all
variant '-ffunction-sections -Wl,--gc-sections' "$both" plain all
variant '-fPIE -pie' "$both" plain all
variant '-fno-pie -no-pie' "$both" plain all
variant '-static' "$gxx" plain all
variant '-g0' "$both" plain symbols
variant '-DSTRIP' "$both" strip none
variant '-DSTRIPDEBUG' "$both" strip_debug symbols
variant '-DLINK' "$both" link all
variant '-DBUILDID -Wl,--build-id' "$both" build_id all
variant '-DBUILDIDZSTD -Wl,--build-id' "$gxx" build_id_zstd all
if command -v xz >/dev/null; then
	variant '-DMINI' "$gxx" mini some
fi
if command -v dwz >/dev/null; then
	variant '-gdwarf-4 -DDWZ' "$gxx" dwz all
	variant '-gdwarf-5 -DDWZ' "$gxx" dwz all
	variant '-gdwarf-5 -DALT' "$gxx" alt all
	variant '-gdwarf-5 -DALTZLIB' "$gxx" alt_zlib all
	variant '-gdwarf-5 -DALTZSTD' "$gxx" alt_zstd all
	variant '-gdwarf-5 -DALTGONE' "$gxx" alt_gone part
fi
# That of binutils 2.40 knows no DWARF 5, that of LLVM 14 does not end on gcc's.
if command -v dwp >/dev/null; then
	variant '-gdwarf-4 -gsplit-dwarf -DDWP' "$both" dwp line
fi
if [ -n "$llvm_dwp" ]; then
	variant '-gdwarf-5 -gsplit-dwarf -DDWP' "$clangxx" llvm_dwp line
fi
if command -v ld.lld >/dev/null; then
	variant '-fuse-ld=lld' "$clangxx" plain all
	variant '-flto=thin -fuse-ld=lld' "$clangxx" plain all
fi
if command -v ld.gold >/dev/null; then
	variant '-fuse-ld=gold' "$gxx" plain all
fi
if command -v rustc >/dev/null; then
	for mangling in legacy v0; do
		for options in '-O' '-O -Csplit-debuginfo=off -Clto=fat'; do
			variant "$options -Csymbol-mangling-version=$mangling" rustc plain rust
		done
	done
fi

# ---- what is done to a program, in its own directory ----

make_zstd()
{
	objcopy --compress-debug-sections=zstd prog
}

make_zlibgnu()
{
	objcopy --compress-debug-sections=zlib-gnu prog
}

make_gone()
{
	rm -f ./*.dwo
}

make_dwp()
{
	dwp -e prog -o prog.dwp && rm -f ./*.dwo
}

make_llvm_dwp()
{
	timeout 20 "$llvm_dwp" -e prog -o prog.dwp && rm -f ./*.dwo
}

make_strip()
{
	strip -s prog
}

make_strip_debug()
{
	strip --strip-debug prog
}

make_link()
{
	mkdir .debug && objcopy --only-keep-debug prog .debug/prog.debug && strip -s prog &&
		(cd .debug && objcopy --add-gnu-debuglink=prog.debug ../prog)
}

make_build_id()
{
	id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
	mkdir -p "debug/.build-id/${id%"${id#??}"}" &&
		objcopy --only-keep-debug prog "debug/.build-id/${id%"${id#??}"}/${id#??}.debug" &&
		strip -s prog
}

make_build_id_zstd()
{
	make_build_id && objcopy --compress-debug-sections=zstd debug/.build-id/*/*.debug
}

make_mini()
{
	objcopy -S -K _ZN4deep3hotEj prog mini && xz mini && strip -s prog &&
		objcopy --add-section .gnu_debugdata=mini.xz prog
}

make_dwz()
{
	dwz prog
}

make_alt()
{
	cp prog other && dwz -m common -M "$PWD/common" prog other
}

make_alt_zlib()
{
	cp prog other && dwz -m common -M common prog other && objcopy --compress-debug-sections=zlib prog
}

make_alt_zstd()
{
	cp prog other && dwz -m common -M common prog other && objcopy --compress-debug-sections=zstd prog
}

make_alt_gone()
{
	make_alt && rm common
}

make_plain()
{
	:
}

# make_variant NAME COMPILER DO KNOWN OPTIONS
make_variant()
{
	mkdir "$1" && cd "$1" || return 1
	if [ "$2" = rustc ]; then
		# shellcheck disable=SC2086 # words
		RUSTC_BOOTSTRAP=1 rustc -g $5 -Zunstable-options -o prog "$source_rs" || return 1
	else
		# The options of a variant come last and may take the others back.
		# shellcheck disable=SC2086
		"$2" -g -O2 $5 -c "$source_cc" -o prog.o && "$2" -g -O2 $5 prog.o -o prog || return 1
	fi
	nm prog | sed -n 's/^\([0-9a-f]*\) . \(probe_[a-z]*\)_.*/\2 \1/p' >probes
	"make_$3"
}

worker()
{
	while IFS=$tab read -r name cxx how known options; do
		(make_variant "$name" "$cxx" "$how" "$known" "$options") >"$name.log" 2>&1 </dev/null ||
			echo "$name" >>unmade
	done
}

: >unmade
awk 'NR % 2' variants >odd
awk 'NR % 2 == 0' variants >even
worker <odd &
worker <even
wait $!

# ---- what is expected ----

# line_of SOURCE NAME
line_of()
{
	sed -n "/line: $2\$/=" "$1"
}

# expect WHAT N NAME DECLARED LINE SOURCE KIND: of the Nth frame of the address in `frames`; NAME is
# a pattern, - of DECLARED or LINE stands for none.
expect()
{
	awk -F "$tab" -v n="$2" -v name="$3" -v decl="$4" -v line="$5" -v file="$6" -v kind="$7" '
		NR == n { good = $3 ~ "^(" name ")$" && $7 == kind &&
			$5 == (decl == "-" ? 0 : decl) && $6 == (line == "-" ? 0 : line) &&
			(decl == "-" || substr($4, length($4) - length(file) + 1) == file) }
		END { exit !good }' frames ||
		fail "$1: frame $2 is not $3 $4 $5 $7" frames lacks
}

# frames_are WHAT N
frames_are()
{
	[ "$(wc -l <frames)" -eq "$2" ] || fail "$1: not $2 frames" frames lacks
}

# gcc says only of a lambda's closure where it is, which -g1 leaves out.
declared()
{
	case $known,$1 in
	lines,* | bare,lambda) echo - ;;
	*) line_of "$source" "$1" ;;
	esac
}

# check_chain WHAT NAMESPACE-OF-INLINED NAME-OF-HOT [PARAMETERS-OF-INLINED]
check_chain()
{
	frames_are "$1" 3
	expect "$1" 1 "$2leaf$4" "$(declared leaf)" "$(line_of "$source" 'leaf body')" "${source##*/}" dwarf
	expect "$1" 2 "$2middle$4" "$(declared middle)" "$(line_of "$source" 'middle calls')" "${source##*/}" dwarf
	expect "$1" 3 "$3" "$(declared hot)" "$(line_of "$source" 'hot calls')" "${source##*/}" dwarf
}

# check_one WHAT PROBE NAME
check_one()
{
	frames_are "$1" 1
	case $known in
	lines) expect "$1" 1 "$3" - "$(line_of "$source" "$2 body")" "" elf ;;
	all | bare | rust)
		expect "$1" 1 "$3" "$(declared "$2")" "$(line_of "$source" "$2 body")" "${source##*/}" dwarf
		;;
	line | part) expect "$1" 1 "$3" - "$(line_of "$source" "$2 body")" "" elf ;;
	symbols) expect "$1" 1 "$3" - - "" elf ;;
	some | none) expect "$1" 1 '\\[prog\\]' - - "" none ;;
	esac
}

# check_leaf WHAT
check_leaf()
{
	hot='deep::hot\\(unsigned int\\)'
	case $known in
	all) check_chain "$1" 'deep::' "$hot" '(\\(unsigned int\\))?' ;;
	bare | lines) check_chain "$1" '(deep::)?' "$hot" '' ;;
	rust) check_chain "$1" 'matrix::deep::' 'matrix::deep::hot' '' ;;
	*)
		frames_are "$1" 1
		case $known in
		line | part) expect "$1" 1 "$hot" - "$(line_of "$source" 'leaf body')" "" elf ;;
		symbols | some) expect "$1" 1 "$hot" - - "" elf ;;
		none) expect "$1" 1 '\\[prog\\]' - - "" none ;;
		esac
		;;
	esac
}

# check_probe WHAT PROBE
check_probe()
{
	case $2 in
	leaf) check_leaf "$1" ;;
	add) check_one "$1" add 'deep::box<long>::add\\(long\\)' ;;
	plus) check_one "$1" plus 'deep::pair::operator\\+\\(deep::pair const&\\) const' ;;
	tagged) check_one "$1" tagged 'deep::tagged\\[abi:v2\\]\\(unsigned int\\)' ;;
	hidden) check_one "$1" hidden '\\(anonymous namespace\\)::hidden(\\(unsigned int\\))?' ;;
	lambda) check_one "$1" lambda \
		'main::([$]_0|\\{lambda(\\(unsigned int\\)#1)?\\})::operator\\(\\)(\\(unsigned int\\) const)?' ;;
	show) check_one "$1" show 'matrix::deep::Cell<(T|u32)>::show|<matrix::deep::Cell<u32>>::show' ;;
	*) fail "$1: what is $2?" ;;
	esac
}

# What a module of which not all is known is said to lack.
lack_of()
{
	case $known in
	line) echo split ;;
	part) echo part ;;
	symbols | some | none) echo debug ;;
	esac
}

# ---- each variant ----

while IFS=$tab read -r name cxx how known options; do
	what="$cxx $options"
	source=$source_cc
	[ "$known" != rust ] || source=$source_rs
	if grep -qx "$name" unmade; then
		fail "cannot make: $what" "$name.log"
	fi
	n=$(cut -d ' ' -f 1 "$name/probes" | sort -u | wc -l)
	want=6
	[ "$known" != rust ] || want=2
	[ "$n" -eq "$want" ] || fail "$what: $n probes" "$name/probes"
	while read -r probe address; do
		MEW_DEBUG_DIR=$name/debug "$symbolise" "$name/prog" "$address" >out || fail "$what: symbolise fails" out
		grep "^0x" out >frames
		grep "^poor" out >lacks
		check_probe "$what" "${probe#probe_}"
		[ "$(cut -f 4 lacks)" = "$(lack_of)" ] || fail "$what: lacks not '$(lack_of)'" frames lacks
	done <"$name/probes"
	pass "$what $([ "$how" = plain ] || echo "($how)"): $known"
done <variants

echo "1..$mew_count"
