#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that bring jemalloc, tcmalloc or mimalloc: as a library, preloaded by the user, or as an
# archive in the program, seen by its libraries or not; in C and in C++; as a benchmark and whole. Right figures or one error.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need g++ python3

# 4 calls an iteration in C, of 10, 20, 30 (from 20) and 64 bytes; 9 more in C++.
cat >bench.c <<'C'
#include <mew/mew.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <new>
struct alignas(64) wide {
	char bytes[128];
};
static void take(void *p)
{
	MEW_KEEP(p);
}
#endif

MEW_BENCHMARK(each, state)
{
	MEW_LOOP(state) {
		void *p = malloc(10), *q = calloc(4, 5), *r;

		MEW_KEEP(p);
		free(p);
		MEW_HIDE(q);
		q = realloc(q, 30);
		MEW_KEEP(q);
		free(q);
		if (posix_memalign(&r, 64, 64) == 0)
			free(r);
#ifdef __cplusplus
		int *one = new int; /* 4 */
		take(one);
		delete one;
		char *many = new char[100]; /* 100 */
		take(many);
		delete[] many;
		one = new (std::nothrow) int; /* 4 */
		take(one);
		delete one;
		many = new (std::nothrow) char[7]; /* 7 */
		take(many);
		delete[] many;
		wide *w = new wide; /* 128 */
		take(w);
		delete w;
		w = new wide[2]; /* 256 */
		take(w);
		delete[] w;
		w = new (std::nothrow) wide; /* 128 */
		take(w);
		delete w;
		w = new (std::nothrow) wide[1]; /* 128 */
		take(w);
		delete[] w;
		void *v = operator new(1); /* 1 */
		take(v);
		operator delete(v);
#endif
	}
}
MEW_MAIN();
C
cp bench.c bench.cc
# A whole program: the same figures whatever lies below.
cat >whole.c <<'C'
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 1000; i++) {
#ifdef __cplusplus
		char *volatile p = new char[i + 1];
		delete[] p;
#else
		void *volatile p = malloc(i + 1);
		free(p);
#endif
	}
	_exit(0);
}
C
cp whole.c whole.cc

# build OUT SOURCE LIBRARIES...
build()
{
	mew_out=$1
	mew_source=$2
	shift 2
	case $mew_source in
	*.cc) mew_compiler='g++ -std=c++17' ;;
	*) mew_compiler=$CC ;;
	esac
	# The program itself is never sanitized, and no call of malloc is left out.
	$mew_compiler -O1 -g -fno-builtin -I"$MEW_SRCDIR/include" "$mew_source" \
		"$MEW_BUILDDIR/.libs/libmew.a" "$@" -lpthread -o "$mew_out" 2>log ||
		broken "cannot build $mew_out: $(cat log)"
}

# right TEXT PROGRAM [VARIABLE=VALUE]: the benchmark's figures are right. is_cxx says which.
right()
{
	mew_text=$1
	mew_program=$2
	shift 2
	run 0 timeout 60 env "$@" "$MEW_PERF" mem -n 10 --no-db -o x.csv "$mew_program"
	if [ "$is_cxx" = yes ]; then
		mew_wanted='130 120 0 0 8800'
	else
		mew_wanted='40 30 0 0 1240'
	fi
	mew_got="$(cell x.csv each total_allocations) $(cell x.csv each frees)"
	mew_got="$mew_got $(cell x.csv each foreign_frees) $(cell x.csv each leaked_bytes)"
	mew_got="$mew_got $(cell x.csv each allocated_bytes)"
	[ "$mew_got" = "$mew_wanted" ] || fail "$mew_text: $mew_got, not $mew_wanted" x.csv err
	[ "$(cell x.csv each verdict)" = ok ] || fail "$mew_text: doubted" x.csv
	pass "$mew_text: the figures are right"
}

# right_whole TEXT PROGRAM: what main, or $root, allocates by an entry point: libraries have their own
# at the start, and exceptions theirs.
right_whole()
{
	run 0 timeout 60 "$MEW_PERF" mem --no-db --table=stacks -o s.csv "$2"
	mew_got=$(python3 - <<PY
import csv, re
rows = [r for r in csv.DictReader(open("s.csv", newline=""))]
rows = [r for r in rows if re.search(r"(^|;)${root-main}(\(.*?\))?(;operator new[^;]*)*(;[mc]alloc)?$", r["stack"])]
print(sum(int(r["allocations"]) for r in rows), sum(int(r["bytes"]) for r in rows))
PY
)
	[ "$mew_got" = '1000 500500' ] || fail "$1: main has $mew_got, not 1000 500500" s.csv err
	pass "$1: the whole program's figures are right"
}

# refused TEXT COMMAND...: one error, no figures.
refused()
{
	mew_text=$1
	shift
	run 1 timeout 60 "$MEW_PERF" mem -n 10 --no-db "$@"
	grep -q 'allocator not hooked' out err || fail "$mew_text: another error" out err
	pass "$mew_text: one error"
}

# A C program that loads a C++ library for itself: libstdc++ is out of the hook's sight there.
cat >plugin.cc <<'C'
#include <new>
extern "C" int plug(void)
{
	volatile std::size_t huge = std::size_t(1) << 62;
	int caught = 0;

	for (int i = 0; i < 1000; i++) {
		char *volatile p = new char[i + 1];
		delete[] p;
	}
	try {
		caught = operator new(huge) == nullptr;
	} catch (const std::bad_alloc &) {
		caught++;
	}
	return caught == 1 && !operator new(huge, std::nothrow) ? 0 : 1;
}
C
cat >host.c <<'C'
#include <dlfcn.h>
int main(void)
{
	void *handle = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	int (*plug)(void) = handle ? (int (*)(void))dlsym(handle, "plug") : 0;

	return !plug || plug() || dlclose(handle);
}
C
g++ -std=c++17 -O1 -g -shared -fPIC -o plugin.so plugin.cc || broken "cannot build a plugin"
$CC -O1 -g -o host host.c -ldl || broken "cannot build its host"
root=plug right_whole "a C++ plugin of a C program" ./host

# A malloc for the program's file alone, which its libraries do not call and nothing can stand in for.
cat >hidden.c <<'C'
#include <stddef.h>
static char pool[1 << 24];
static size_t used;
__attribute__((visibility("hidden"))) void *malloc(size_t n)
{
	char *p = pool + used;
	used = (used + n + 15) % sizeof pool & ~(size_t)15;
	return p;
}
__attribute__((visibility("hidden"))) void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}
__attribute__((visibility("hidden"))) void *realloc(void *p, size_t n)
{
	return n ? malloc(n) : p;
}
__attribute__((visibility("hidden"))) int posix_memalign(void **p, size_t alignment, size_t n)
{
	return (*p = malloc(n + alignment)) == NULL;
}
__attribute__((visibility("hidden"))) void free(void *p)
{
	(void)p;
}
C
cat >library.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char *volatile p = strdup("libraries allocate");
	return !p;
}
C
$CC -O1 -fno-builtin -c hidden.c || broken "cannot build hidden.o"
build whole-hidden whole.c hidden.o
refused "a hidden malloc" ./whole-hidden
refused "a hidden malloc behind an exec" sh -c 'exec ./whole-hidden'
build bench-hidden bench.c hidden.o
refused "a hidden malloc, a benchmark" ./bench-hidden
$CC -O1 -fno-builtin -I"$MEW_SRCDIR/include" -o bench-hidden-so bench.c hidden.o \
	-L"$MEW_BUILDDIR/.libs" -lmew -Wl,-rpath,"$MEW_BUILDDIR/.libs" || broken "cannot build bench-hidden-so"
refused "a hidden malloc, a benchmark of the shared libmew" ./bench-hidden-so

# Stripped it cannot be told from a program whose libraries allocate, which is right as it is.
$CC -O1 -fno-builtin -o library library.c hidden.o -s || broken "cannot build library"
run 0 timeout 60 "$MEW_PERF" mem --no-db -o x.csv ./library
[ "$(cell x.csv library verdict)" = "ok; the program's own file calls no malloc of a library" ] ||
	fail "a hidden malloc, stripped: nothing is said" x.csv err
pass "a hidden malloc, stripped: what may be is said"
build whole-own whole.c
run 0 timeout 60 "$MEW_PERF" mem --no-db -o x.csv ./whole-own
[ "$(cell x.csv whole-own verdict)" = ok ] || fail "a program that calls malloc is doubted" x.csv

# An allocator under a name of its own is never seen: the row has malloc's 10 calls, and says so.
cat >prefixed.c <<'C'
#include <stddef.h>
#include <sys/mman.h>
void *je_malloc(size_t n);
void *je_malloc(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
C
cat >both.c <<'C'
#include <stdlib.h>
#include <unistd.h>
#ifndef OTHER
#define OTHER je_malloc
#endif
void *OTHER(size_t n);
int main(void)
{
	for (int i = 0; i < 10; i++) {
		*(char *volatile *)malloc(sizeof(char *)) = OTHER(1000000);
	}
	_exit(0);
}
C
$CC -O1 -c prefixed.c || broken "cannot build prefixed.o"
$CC -O1 -fPIC -shared -o libprefixed.so prefixed.c || broken "cannot build libprefixed.so"
cat >front.c <<'C'
#include <stddef.h>
void *je_malloc(size_t n);
void *front(size_t n);
void *front(size_t n)
{
	return je_malloc(n);
}
C
$CC -O1 -fPIC -shared -fvisibility=default -Wl,--version-script=/dev/stdin -o libfront.so front.c prefixed.c \
	<<'V' || broken "cannot build libfront.so"
{ global: front; local: *; };
V
cp libprefixed.so libstripped.so
strip libstripped.so || broken "cannot strip"

# noted TEXT NAME PROGRAM: its row has malloc's calls, and a note that NAME has others.
noted()
{
	run 0 timeout 60 "$MEW_PERF" mem --no-db --mmap -o x.csv "$3"
	[ "$(cell x.csv "${3##*/}" total_allocations)" -ge 10 ] || fail "$1: other figures" x.csv
	[ "$(cell x.csv "${3##*/}" verdict)" = "$2" ] || fail "$1: not '$2'" x.csv err
	# What it maps is no block, but is seen apart.
	[ "$(cell x.csv "${3##*/}" mapped_held_bytes)" -ge 10000000 ] || fail "$1: not mapped" x.csv
	pass "$1: what is not counted is said"
}
only='ok; of je_malloc only what it takes from malloc is counted'
build both-own both.c prefixed.o
noted "je_malloc in the program" "$only" ./both-own
build both-library both.c ./libprefixed.so
noted "je_malloc in a library" "$only" ./both-library
build both-stripped both.c ./libstripped.so
noted "je_malloc in a stripped library" "$only" ./both-stripped
build both-front both.c -DOTHER=front ./libfront.so
noted "je_malloc, hidden in a library" "$only" ./both-front
strip both-own -o both-bare || broken "cannot strip"
noted "je_malloc in a stripped program, which only --mmap shows" ok ./both-bare

# Loaded later, when it asks for no tables: there at the end, gone before it, where nothing runs at the
# end, in a loop.
cat >late.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BENCH
#include <mew/mew.h>
#endif

static void *load(void)
{
	void *library = dlopen("./libprefixed.so", RTLD_NOW);
	void *(*give)(size_t) = NULL;

	if (library)
		*(void **)&give = dlsym(library, "je_malloc");
	if (!give || !give(100))
		_exit(9);
	return library;
}
static void *volatile block;
#ifdef BENCH
MEW_BENCHMARK(late, state)
{
	MEW_LOOP(state) {
		static void *library;

		if (!library)
			library = load();
		block = malloc(1);
		free(block);
	}
}
MEW_MAIN();
#else
int main(int argc, char **argv)
{
	void *library;

	for (int i = 0; i < 10; i++)
		block = malloc(1);
	library = load();
	if (argc > 1 && !strcmp(argv[1], "closes"))
		dlclose(library);
	if (argc > 1 && !strcmp(argv[1], "quits")) {
		usleep(800000);
		_exit(0);
	}
	return 0;
}
#endif
C
# late TEXT COMMAND...: the row has the name.
late()
{
	mew_text=$1
	shift
	run 0 timeout 60 "$MEW_PERF" mem --no-db -o x.csv "$@"
	case $(cell x.csv late verdict) in
	*"of je_malloc only what it takes from malloc is counted"*) pass "$mew_text: it is named" ;;
	*) fail "$mew_text: it is not named" x.csv err ;;
	esac
}
build late late.c -ldl
for how in stays closes quits; do
	late "loaded late, $how" ./late $how
done
build late-bench late.c -DBENCH -ldl
late "loaded in a loop" ./late-bench

so=$($CC -print-file-name=libmimalloc.so)
if [ "$so" != libmimalloc.so ]; then
	build both-mi both.c -DOTHER=mi_malloc "$so"
	run 0 timeout 60 "$MEW_PERF" mem --no-db -o x.csv ./both-mi
	[ "$(cell x.csv both-mi verdict)" = 'ok; of mi_malloc only what it takes from malloc is counted' ] ||
		fail "mi_malloc by its own name: nothing is said" x.csv err
	pass "mi_malloc by its own name: what is not counted is said"
fi

n=0
for allocator in jemalloc tcmalloc_minimal mimalloc; do
	so=$($CC -print-file-name=lib$allocator.so)
	if [ "$so" = "lib$allocator.so" ]; then
		echo "# no lib$allocator: not tested"
		continue
	fi
	n=$((n + 1))
	so=$(readlink -f "$so")
	archive=$($CC -print-file-name=lib$allocator.a)
	for source in bench.c bench.cc whole.c whole.cc; do
		is_cxx=no
		[ "$source" = "${source%.cc}" ] || is_cxx=yes
		kind=${source%.*}
		suffix=${source#*.}
		[ $n -gt 1 ] || build "$kind-plain-$suffix" "$source"
		build "$kind-linked" "$source" -Wl,--no-as-needed "$so"
		if [ "$kind" = bench ]; then
			right "$allocator, linked, $suffix" ./bench-linked
			right "$allocator, preloaded, $suffix" "./bench-plain-$suffix" LD_PRELOAD="$so"
		else
			right_whole "$allocator, linked, $suffix" ./whole-linked
		fi
		[ -f "$archive" ] || continue
		build "$kind-archive" "$source" -Wl,--whole-archive "$archive" \
			-Wl,--no-whole-archive -lstdc++ -lm -ldl
		refused "$allocator, in the program, $suffix" "./$kind-archive"
		# A benchmark would free what strdup() has given it.
		[ "$source" = whole.c ] || continue
		build "$kind-archive" "$source" -Wl,--exclude-libs,ALL -Wl,--whole-archive "$archive" \
			-Wl,--no-whole-archive -lstdc++ -lm -ldl
		refused "$allocator, hidden in the program" "./$kind-archive"
	done
done
[ $n -gt 0 ] || skip "no allocator to test with"

echo "1..$mew_count"
