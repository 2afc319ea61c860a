#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mew.h under several compilers, languages and levels of optimisation; the note it leaves; what a
# step of the loop costs in instructions; what libmew needs and shows.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

need readelf nm objdump
archive=$MEW_BUILDDIR/.libs/libmew.a
shared=$MEW_BUILDDIR/.libs/libmew.so
[ -f "$archive" ] || broken "no $archive"

# Another name than `state` in each place, two pauses in one function, linux as a name.
cat >user.c <<'END'
#include <mew/mew.h>

MEW_BENCHMARK(empty, s)
{
	MEW_LOOP(s) {
		MEW_CLOBBER();
	}
}

struct both { double x; const char *text; int n; };

MEW_BENCHMARK(known, s)
{
	int n = 0;
	double d = 0.5;
	const char *text = "x";
	struct both b = {0, NULL, 0};

	MEW_HIDE(n);
	MEW_HIDE(d);
	MEW_HIDE(text);
	MEW_HIDE(b);
	MEW_LOOP(s) {
		MEW_KEEP(n + 1);
		MEW_KEEP(d * 2);
		MEW_KEEP(text + 1);
		MEW_KEEP(b);
	}
}

static const struct input { double d; const char *label; } inputs[] = {{1, "one"}};

MEW_BENCHMARK_FAMILY(linux, l, inputs, label)
{
	double d = MEW_PARAM(l, struct input)->d;

	MEW_LOOP(l) {
		MEW_PAUSE(l) {
			MEW_HIDE(d);
		}
		if (d > 2)
			MEW_PAUSE(l) {
				MEW_PAUSE(l) {
					MEW_KEEP(d + 1);
				}
			}
		else
			MEW_KEEP(&d);
	}
	mew_counter(l, "d", d, MEW_AS_IS);
	mew_label(l, "%s", "x");
}

MEW_BENCHMARK_VALUES(values, p, "n", 1, -2)
{
	int64_t left = mew_value(p);

	MEW_LOOP(p) {
		MEW_HIDE(left);
	}
	if (mew_iterations(p) == 0)
		mew_skip(p, "%d", 1);
}
MEW_OPTION(values, min_time_s, 0.001);
MEW_OPTION(values, n_threads, 2);

MEW_MAIN();
END
cp user.c user.cc

# compile COMPILER FLAG...: warnings are errors.
strict="-pedantic -Wall -Wextra -Wshadow -Wconversion -Werror"
compile()
{
	# shellcheck disable=SC2086
	"$@" $strict -I"$MEW_SRCDIR/include" -c -o user.o >err 2>&1 || fail "'$*' does not compile" err
}
n=0
for level in -O0 -Og -O2 -O3; do
	for c in gcc clang; do
		command -v $c >/dev/null || continue
		for std in c99 c11 gnu99 gnu2x; do
			compile $c -std=$std $level user.c
			n=$((n + 1))
		done
	done
	for cxx in g++ clang++; do
		command -v $cxx >/dev/null || continue
		for std in c++11 c++17 c++20; do
			compile $cxx -std=$std $level user.cc
			n=$((n + 1))
		done
	done
done
[ $n -gt 0 ] || skip "neither gcc nor clang"
if command -v clang >/dev/null; then
	compile clang -Weverything -Wno-padded -Wno-declaration-after-statement user.c
fi
if command -v g++ >/dev/null; then
	compile g++ -Weffc++ -Wold-style-cast -Wzero-as-null-pointer-constant user.cc
fi
pass "mew.h compiles without a warning ($n times)"

# link COMPILER FLAG...: the program, which must run. 77: this toolchain cannot.
sanitized=no
nm "$archive" 2>/dev/null | grep -q '__asan\|__ubsan' && sanitized=yes
link()
{
	"$@" -I"$MEW_SRCDIR/include" "$archive" -pthread -o user >err 2>&1 || return 1
	./user -n 3 >out 2>err || fail "what '$*' made does not run" out err
}
# has_note: an allocated note, in a segment, exactly once.
has_note()
{
	readelf -W -n user >notes 2>/dev/null
	[ "$(grep -cE '^ +mew +0x00000004' notes)" -eq 1 ] || fail "no note: $*" notes
	readelf -W -S user | grep -qE ' \.note\.mew +NOTE .* A ' || fail "the note is not loaded: $*"
	readelf -W -l user | grep -E '^ +[0-9]+ ' | grep -q '\.note\.mew' ||
		fail "the note is in no segment: $*"
}
if [ $sanitized = no ]; then
	n=0
	for c in 'gcc -O2 user.c' 'gcc -O0 user.c' 'clang -O2 user.c' 'g++ -O2 user.cc' \
		'clang++ -O2 user.cc' 'gcc -O2 -flto user.c' 'g++ -O2 -flto user.cc' \
		'gcc -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections user.c' \
		'g++ -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections user.cc' \
		'gcc -O2 -Wl,--gc-sections -flto -s user.c' 'gcc -O2 -no-pie user.c' \
		'gcc -O2 -static user.c'; do
		command -v "${c%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		link $c || fail "'$c' does not link" err
		has_note "$c"
		n=$((n + 1))
	done
	command -v clang >/dev/null && link clang -O2 -flto user.c && has_note clang -flto
	pass "the note survives linkers ($n times)"

	link "$CC" -O0 user.c || fail "does not link" err
	grep -q "warning: '[a-z]*' was compiled without optimisation" err ||
		fail "no warning for -O0" err
	link "$CC" -O2 user.c || fail "does not link" err
	! grep -q 'without optimisation' err || fail "a warning for -O2" err
	pass "a build without optimisation is told"
fi

# The step of an empty loop, the shortest stretch from a backward branch's target to the branch that
# has no call: nothing stored, one decrement of a register, few instructions (gcc 5, clang 8).
for c in gcc clang; do
	command -v $c >/dev/null || continue
	[ "$(uname -m)" = x86_64 ] || continue
	compile $c -O2 user.c
	objdump -d --no-show-raw-insn user.o | awk '
		/^[0-9a-f]+ <mew_run_empty>:/ { inside = 1; next }
		/^$/ { inside = 0 }
		inside { sub(/:/, "", $1); n++; at[$1] = n; line[n] = $0; op[n] = $2; to[n] = $3 }
		END {
			for (i = 1; i <= n; i++)
				if (op[i] ~ /^j/ && (to[i] in at) && at[to[i]] <= i) {
					calls = 0
					for (j = at[to[i]]; j <= i; j++)
						calls += op[j] ~ /^call/
					if (calls || (best && i - at[to[i]] >= best))
						continue
					best = i - at[to[i]]; first = at[to[i]]; last = i
				}
			for (i = first; best && i <= last; i++)
				print line[i]
		}' >step
	[ -s step ] || fail "$c: no loop without a call"
	[ "$(wc -l <step)" -le 8 ] || fail "$c: a step is too long" step
	! grep -qE 'mov[a-z]* +%[a-z0-9]+,.*\(' step || fail "$c: a store in the step" step
	[ "$(grep -cE '[[:space:]](sub|add|dec)[lq]? ' step)" -eq 1 ] ||
		fail "$c: not one decrement" step
	! grep -E '[[:space:]](sub|add|dec)[lq]? ' step | grep -q '(' ||
		fail "$c: the counter is in memory" step
	pass "$c: a step is a decrement, a look at the attention word, and branches"
done

# The example of the page is a program.
sed -n '/^\.Sh EXAMPLES/,/^\.Sh/p' "$MEW_SRCDIR/doc/man/mew.3" |
	sed -n '/^\.Bd/,/^\.Ed/p' | sed '/^\./d; s/\\e/\\/g; s/\\-/-/g; s/\\&//g' >example.c
compile "$CC" -std=c11 -O2 example.c
if [ $sanitized = no ]; then
	link "$CC" -O2 example.c || fail "the example of mew(3) does not link" err
	grep -q '^  sum/case:1 ' out || fail "the example of mew(3) shows another table" out
fi
pass "the example of mew(3) works"
for name in $(grep -ohE '\bmew_[a-z_]+\(' "$MEW_SRCDIR/include/mew/mew.h" | tr -d '(' | grep -v '_$') \
	MEW_BENCHMARK MEW_BENCHMARK_VALUES MEW_BENCHMARK_FAMILY MEW_OPTION MEW_MAIN MEW_NOTE \
	MEW_LOOP MEW_PAUSE MEW_PARAM MEW_KEEP MEW_HIDE MEW_CLOBBER; do
	grep -qE "^\.F[no] \"?$name( |\$|\")" "$MEW_SRCDIR/doc/man/mew.3" ||
		grep -qE "^\.F[no] \".*[ *]$name\"" "$MEW_SRCDIR/doc/man/mew.3" ||
		fail "mew(3) does not describe $name"
done
pass "mew(3) describes all of mew.h"

if [ -f "$shared" ] && [ $sanitized = no ]; then
	readelf -d "$shared" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >needed
	printf 'libc.so.6\n' >want
	cmp -s want needed || fail "libmew needs more than libc" needed
	pass "libmew needs libc alone"
	nm -D --defined-only "$shared" | sed 's/.* [A-Z] //; s/@.*//' | sort >shown
	grep -ohE '\bmew_[a-z_]+\(' "$MEW_SRCDIR/include/mew/mew.h" | tr -d '(' | sort -u >named
	comm -23 shown named >unnamed
	[ ! -s unnamed ] || fail "libmew shows what mew.h does not have" unnamed
	for name in mew_main mew_register mew_pause mew_loop_next_; do
		grep -qx $name shown || fail "libmew does not show $name" shown
	done
	pass "libmew shows mew.h alone"
fi

echo "1..$mew_count"
