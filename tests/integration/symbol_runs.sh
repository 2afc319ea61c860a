#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names in whole runs: code made at run time, by its perf map; programs whose files are not what they
# were, or not all there.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

fixtures=$MEW_SRCDIR/tests/fixtures
maps=
trap 'rm -rf "$mew_dir"; [ -z "$maps" ] || rm -f $maps' EXIT

# cpu COMMAND...: its functions, a line each, to `out`.
cpu()
{
	run 0 "$MEW_PERF" cpu --no-db -q --interval 1ms --table=functions --csv=out.csv "$@"
	pid=$(tail -n 1 out)
	mv out.csv out
}

# ---- code made at run time ----

"$CC" -D_GNU_SOURCE -g -O2 "$fixtures/jit.c" -o jit 2>err || broken 'cannot build jit'

for how in map bad old none; do
	cpu ./jit 300000000 $how
	[ $how = none ] || maps="$maps /tmp/perf-$pid.map"
	if [ $how = map ]; then
		grep -qF 'made at run time; <""a"">,b' out || fail 'no name by the perf map' out
		grep -qF '[anon]' out && fail 'code that has a name is anonymous' out
	else
		grep -qF '[anon]' out || fail "code without a name: $how" out
		grep -q 'made at run time\|none' out && fail "a perf map that is $how is believed" out
	fi
done
pass 'code made at run time has the names of its perf map, if that is its own'

# ---- files that are not what they were ----

cat >loop.c <<'END'
#include <stdio.h>
#include <stdlib.h>

int work(unsigned n);

int main(int argc, char **argv)
{
	int x = work(300000000);

	if (argc > 1 && system(argv[1]))
		return 99;
	printf("%d\n", x);
	return 0;
}
END
cat >work.c <<'END'
__attribute__((noinline)) int work(unsigned n)
{
	while (n > 0) {
		n--;
		__asm__ volatile("" : "+r"(n));
	}
	return 1;
}
END
sed 's/work/rest/' work.c >rest.c
for name in work rest; do
	"$CC" -g -O1 -shared -fPIC -o lib$name.so $name.c 2>err || broken "cannot build lib$name.so"
done
"$CC" -g -O1 loop.c -o loop ./libwork.so 2>err || broken 'cannot build'

cpu ./loop
grep -q 'work.*work\.c' out || fail 'no work' out
cpu ./loop 'cp librest.so new && mv new libwork.so'
grep -q 'work.*work\.c' out || fail 'a library that was replaced' out
grep -q rest out && fail 'a library that was replaced gives names of another' out
pass 'a library that was replaced while the program ran has its own names'

# It is gone before anybody but the program can have opened it.
cat >open.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int write_over(const char *from, const char *to)
{
	static char bytes[1 << 20];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY);
	ssize_t n = read(in, bytes, sizeof(bytes));

	return n <= 0 || pwrite(out, bytes, n, 0) != n;
}

/* LIBRARY [OTHER [over]] */
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*work)(unsigned);

	work = library ? (int (*)(unsigned))dlsym(library, "work") : 0;
	/* Longer than the clock of the file system takes to tell two moments apart. */
	usleep(argc > 3 ? 30000 : 0);
	if (argc > 2 && (argc > 3 ? write_over(argv[2], argv[1]) : rename(argv[2], argv[1])))
		return 99;
	printf("%d\n", work ? work(300000000) : 0);
	return !work;
}
END
"$CC" -g -O1 open.c -o open -ldl 2>err || broken 'cannot build'
"$CC" -g -O1 -shared -fPIC -o first.so work.c
cp first.so opened.so
cpu ./open "$PWD/opened.so"
grep -q 'work.*work\.c' out || fail 'no work in a library by dlopen' out
cp librest.so other.so
cpu ./open "$PWD/opened.so" "$PWD/other.so"
grep -q 'rest' out && fail 'a library that was replaced at once gives names of another' out
grep -q 'opened\.so' out || fail 'a library that was replaced at once is not there' out
pass 'a library that was replaced before it was read gives no wrong names'
# proc(5): the links of map_files are not for everyone.
set -- /proc/$$/map_files/*
if head -c 1 "$1" >/dev/null 2>&1 && setpriv --bounding-set=-all true 2>/dev/null; then
	grep -q 'work.*work\.c' out || fail 'a library that was replaced is not found in its process' out
	pass 'whoever may look into the process finds it there'
	unprivileged='setpriv --bounding-set=-all'
fi
cp first.so opened.so
cp librest.so other.so
# shellcheck disable=SC2086 # words, or none
run 0 ${unprivileged:-} "$MEW_PERF" cpu --no-db --interval 1ms ./open "$PWD/opened.so" "$PWD/other.so"
grep -q "opened.so': was replaced or written over" err || fail 'not said that it was replaced' err
pass 'who may not is told that it was replaced'

# Its file is written over before anybody but the program can have opened it.
cp first.so opened.so
run 0 "$MEW_PERF" cpu --no-db --interval 1ms --table=functions --csv=out.csv ./open "$PWD/opened.so" \
	"$PWD/librest.so" over
grep -q rest out.csv && fail 'a library that was written over at once gives names of another' out.csv
grep -q "opened.so': was replaced or written over" err || fail 'not said that it was written over' err
pass 'a library that was written over before it was read is told, and gives no wrong names'

"$CC" -g -O1 -shared -fPIC -o libwork.so work.c
cpu ./loop 'rm libwork.so'
grep -q 'work.*work\.c' out || fail 'a library that was removed' out
pass 'a library that was removed while the program ran has its own names'

"$CC" -g -O1 -shared -fPIC -o libwork.so work.c
run 0 "$MEW_PERF" cpu --no-db --interval 1ms --table=functions --csv=out.csv ./loop 'cat librest.so >>libwork.so; dd if=librest.so of=libwork.so conv=notrunc 2>/dev/null'
grep -q rest out.csv && fail 'a library that was written over gives names of another' out.csv
grep -qF '[libwork.so]' out.csv || fail 'a library that was written over' out.csv
grep -q "warning: '.*/libwork.so': was replaced or written over" err || fail 'it is not said that a library was written over' err
pass 'a library that was written over has no names, which is said'

# ---- split debug info whose files are gone ----

"$CC" -g -gsplit-dwarf -O1 -shared -fPIC -o libwork.so work.c && rm -f ./*.dwo
run 0 "$MEW_PERF" cpu --no-db -v --interval 1ms --table=functions --csv=out.csv ./loop
grep -q work out.csv || fail 'no work' out.csv
[ "$(grep -c "warning: '.*/libwork.so': its debug info is split" err)" -eq 1 ] ||
	fail 'missing .dwo files are not said once' err
grep -q "libwork.so' has no debug info" err && fail 'split debug info is none' err
pass 'missing .dwo files are said, once'

# ---- pieces of functions ----

cat >piece.c <<'END'
__attribute__((noinline)) int work(unsigned n) __asm__("work.part.0");
END
cat work.c >>piece.c
cat >>piece.c <<'END'
int main(void)
{
	return work(300000000) - 1;
}
END
for options in -g -g0; do
	"$CC" $options -O1 -o piece piece.c 2>err || broken 'cannot build piece'
	cpu ./piece
	grep -q ',work,' out || fail "$options: a piece is not its function" out
	cpu --split-clones ./piece
	grep -qF ',work [clone .part.0],' out || fail "$options: a piece is not apart" out
done
pass 'a piece belongs to its function, or is apart on request'

# ---- files without debug info ----

"$CC" -O1 -s -Wl,--build-id -o bare work.c -x c - <<'C' 2>err || broken 'cannot build bare'
int work(unsigned n);
int main(void) { return work(300000000) - 1; }
C
id=$(readelf -n bare | sed -n 's/.*Build ID: *//p')
# bare HINT OPTION...: is told with the hint, once.
bare()
{
	mew_hint=$1
	shift
	run 0 "$MEW_PERF" cpu --no-db --interval 1ms "$@" ./bare
	[ "$(grep -cF "bare' has no debug info: " err)" -eq 1 ] || fail "not told once" err
	grep -qxF "mew-perf: hint: $mew_hint" err || fail "not told: $mew_hint" err
}
unset DEBUGINFOD_URLS
bare 'build it with -g, or --debuginfod=URL'
share=$(sed -n 's/.*info: \([0-9]*\)% of the time$/\1/p' err)
[ "$share" -ge 90 ] || fail "bare has $share % of the time" err
bare 'build it with -g, or --debuginfod=URL' -v
grep -q "'$PWD/bare' has no debug info: .*, build-id $id\$" err || fail 'no build-id' err
DEBUGINFOD_URLS=http://127.0.0.1:1 bare 'build it with -g, or --debuginfod'
pass 'a file without names is told once, with what would help'

library=$(ldd "$(command -v sqlite3)" 2>/dev/null | sed -n 's/.*libsqlite3.* => \(.*\) (.*/\1/p')
library=$(readlink -f "${library:-none}")
package=$(dpkg-query -S "$library" 2>/dev/null | sed -n '1s/:.*//p')
if [ -n "$package" ]; then
	run 0 "$MEW_PERF" cpu --no-db -v --interval 1ms sqlite3 :memory: "with recursive n(i) as
		(select 1 union all select i + 1 from n where i < 1000000) select sum(i) from n"
	if grep -qF "'$library' has no debug info" err; then
		grep -qF "hint: the -dbgsym or -dbg package of $package, or --debuginfod=URL" err ||
			fail "the package of $library is not told" err
		pass 'and with its package'
	else
		echo "# $library has debug info"
	fi
fi

echo "1..$mew_count"
