#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs whose memory is not malloc's, and whose allocator has no name: the row says so, and of no other
# program.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

# build OUT SOURCE LIBRARIES...
build()
{
	mew_out=$1
	mew_source=$2
	shift 2
	# The program itself is never sanitized, and no call of malloc is left out.
	$CC -O1 -g -fno-builtin -I"$MEW_SRCDIR/include" "$mew_source" \
		"$MEW_BUILDDIR/.libs/libmew.a" "$@" -lpthread -o "$mew_out" 2>log ||
		broken "cannot build $mew_out: $(cat log)"
}

# Memory that came not from malloc, where nothing has the allocator's name: 20 MB of it. unseen TEXT
# PROGRAM [ARGUMENT]: that is told; seen TEXT PROGRAM [ARGUMENT]: nothing is.
cat >grows.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef BENCH
#include <mew/mew.h>
#endif
#ifndef OTHER
#define OTHER malloc
#endif
void *OTHER(size_t n);

static char zeroed[20000000];
static void *volatile block;

static void grow(void)
{
	for (int i = 0; i < 2000; i++) {
		block = OTHER(10000);
		memset(block, 1, 10000);
	}
}

static void *deep(void *arg)
{
	char frame[20000000];

	memset(frame, 1, sizeof frame);
	block = frame;
	return arg;
}

#ifdef BENCH
MEW_BENCHMARK(grows, state)
{
#ifdef RESERVE
	block = malloc(20000000);
#endif
	MEW_LOOP(state) {
#ifdef RESERVE
		memset(block, 1, 20000000);
#endif
		free(malloc(1));
#ifdef PAUSE
		MEW_PAUSE(state)
#endif
		if (!block)
			grow();
	}
}
MEW_MAIN();
#else
/* grows [small | aligned]: by what malloc does not give, and is no allocator's; by a page a block. */
int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (argc == 1) {
		grow();
		return 0;
	}
	if (!strcmp(argv[1], "aligned")) {
		for (int i = 0; i < 5000; i++) {
			block = aligned_alloc(4096, 64);
			memset(block, 1, 64);
		}
		return 0;
	}
	memset(zeroed, 1, sizeof zeroed);
	block = zeroed;
	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, 24 << 20) ||
	    pthread_create(&thread, &attributes, deep, NULL) || pthread_join(thread, NULL))
		return 1;
	return !argv[1];
}
#endif
C
cat >pool.c <<'C'
#include <stddef.h>
#include <sys/mman.h>
void *je_malloc(size_t n);
void *je_malloc(size_t n)
{
	static char *at, *end;

	if (!at || (size_t)(end - at) < n) {
		at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = at + (1 << 20);
	}
	return (at += n) - n;
}
C
unseen()
{
	mew_text=$1
	shift
	run 0 timeout 60 "$MEW_PERF" mem --no-db -n 1 --warmup 0 -o x.csv "$@"
	case $(cell x.csv grows verdict) in
	*1[3-9].?" MB or more came not from malloc (an allocator of its own?)"*) ;;
	*) fail "$mew_text: it is not told" x.csv err ;;
	esac
	pass "$mew_text: it is told"
}
seen()
{
	mew_text=$1
	shift
	run 0 timeout 60 "$MEW_PERF" mem --no-db -n 1 --warmup 0 -o x.csv "$@"
	case $(cell x.csv grows verdict) in
	ok | "ok; the program's own file calls no malloc of a library") ;;
	*) fail "$mew_text: doubted" x.csv err ;;
	esac
	pass "$mew_text: it is not doubted"
}
mkdir bare bench plain
build grows grows.c pool.c -DOTHER=je_malloc
strip grows -o bare/grows || broken "cannot strip"
unseen "a stripped allocator of another name" bare/grows
seen "zeroed data and a thread's stack" bare/grows small
build grows grows.c pool.c -DOTHER=je_malloc -DBENCH
strip grows -o bench/grows || broken "cannot strip"
unseen "the same in a loop" bench/grows
build grows grows.c -DBENCH -DPAUSE
seen "as much by malloc in a pause" ./grows
build grows grows.c -DBENCH
seen "in a loop" ./grows
build grows grows.c -DBENCH -DRESERVE
seen "reserved in the set-up, and touched in the loop" ./grows
build plain/grows grows.c
seen "as much by malloc" plain/grows
seen "small blocks a page apart" plain/grows aligned

for allocator in jemalloc tcmalloc_minimal mimalloc; do
	so=$($CC -print-file-name=lib$allocator.so)
	archive=$($CC -print-file-name=lib$allocator.a)
	if [ "$so" = "lib$allocator.so" ]; then
		echo "# no lib$allocator: not tested"
		continue
	fi
	build plain/grows grows.c -Wl,--no-as-needed "$(readlink -f "$so")"
	seen "$allocator, linked" plain/grows
	[ -f "$archive" ] || continue
	build grows grows.c -Wl,--exclude-libs,ALL -Wl,--whole-archive "$archive" \
		-Wl,--no-whole-archive -lstdc++ -lm -ldl
	strip grows -o bare/grows || broken "cannot strip"
	unseen "$allocator, hidden in a stripped program" bare/grows
done

echo "1..$mew_count"
