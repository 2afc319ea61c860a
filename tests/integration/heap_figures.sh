#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The figures of the heap hook, computed by hand for each scenario of heap_window.c: the window is
# opened and closed by the program, as libmew does it.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
# shellcheck source=tests/integration/heap_lib.sh
. "$MEW_SRCDIR/tests/integration/heap_lib.sh"

# scenario [-fFLAGS] NAME FIGURES: runs it, and what is so in all of them.
scenario()
{
	mew_flags=
	if [ "${1#-f}" != "$1" ]; then
		mew_flags=$1
		shift
	fi
	mew_name=$1
	shift
	# shellcheck disable=SC2086
	under $mew_flags "$fixtures/heap_window" "$mew_name"
	grep -qx 'ended exit 0' figures || fail "$mew_name does not end well" figures err
	grep -qx 'sums add up' figures || fail "$mew_name: the stacks do not add up" figures
	grep -qx 'hooked all' figures || fail "$mew_name: calls went by unseen" figures
	grep -qx 'shapes fit' figures || fail "$mew_name: curve or sizes do not fit" figures
	figures "$mew_name" live_bytes 0 live_blocks 0 closed 1 images 1 refused 0 "$@"
}

# 100, 200, 0, 50 bytes; the last one is held.
scenario malloc total_allocations 4 allocated_bytes 350 frees 3 temporary 2 foreign_frees 1 \
	peak_bytes 300 total_bytes 300 held_bytes 50 held_blocks 1 lost 0 broken 0 n_threads 1
scenario calloc total_allocations 1 allocated_bytes 300 frees 1 temporary 1 foreign_frees 0 \
	peak_bytes 300 total_bytes 300 held_bytes 0 held_blocks 0 lost 0 broken 0
# 100, 1000, 400, 5 from nothing, 77 from a foreign block; one freed by realloc to 0.
scenario realloc total_allocations 5 allocated_bytes 1582 frees 3 temporary 1 foreign_frees 0 \
	peak_bytes 1000 total_bytes 1000 held_bytes 0 lost 0 broken 0
# 600 of 10 bytes and 300 of none are 225 slices of 4.
scenario curve total_allocations 900 allocated_bytes 6000 peak_bytes 6000 lost 0 broken 0
want=$({
	seq 40 40 6000
	seq 75 | sed 's/.*/6000/'
} | paste -sd ' ' -)
[ "$(sed -n 's/^curve 4: //p' figures)" = "$want" ] ||
	fail "the curve has other points" figures
figures "the curve and the sizes of 900 blocks" sizes '0:300 16:600'
# Marks of 100, 300, 130 and 30 in iterations that ended in the window.
scenario iterations total_allocations 5 allocated_bytes 500 peak_bytes 300 held_bytes 100 \
	curve '1: 100 300 30 130 100' sizes '32:1 128:3 256:1' iterations '4: 30 100 300' lost 0
# 4 MiB, 64 MiB, 100 bytes: never two at once.
scenario realloc_big total_allocations 3 allocated_bytes 71303268 frees 1 temporary 1 \
	peak_bytes 67108864 total_bytes 67108864 held_bytes 0 lost 0 broken 0
# 640, 100, 50, 30, 20: what was asked for, not what it takes.
scenario aligned total_allocations 5 allocated_bytes 840 frees 5 temporary 1 foreign_frees 0 \
	peak_bytes 840 total_bytes 840 held_bytes 0 lost 0 broken 0
scenario library total_allocations 2 allocated_bytes 15 frees 2 temporary 1 foreign_frees 0 \
	peak_bytes 15 total_bytes 15 held_bytes 0 lost 0 broken 0
scenario asprintf foreign_frees 0 held_bytes 0 held_blocks 0 lost 0 broken 0
# The loop's thread alone: what the other one frees of its blocks lowers the live heap all the same.
scenario self total_allocations 6 allocated_bytes 1318 frees 5 foreign_frees 0 peak_bytes 1012 \
	total_bytes 1012 held_bytes 0 n_threads 2 lost 0 broken 0
scenario -f2 self total_allocations 3 allocated_bytes 307 frees 2 foreign_frees 2 peak_bytes 300 \
	total_bytes 300 held_bytes 0 n_threads 1 lost 0 broken 0
# Calls, pages of all, live at the end, at most, at the loop's end. See the program.
scenario -f8 mmap total_allocations 3 mapped '6 126976 28672 81920 69632 0'
scenario mmap total_allocations 3 mapped '0 0 0 0 0 0'
# 2000 times 4 pages, and none of them is left however the threads took turns.
under -f8 "$fixtures/heap_window" mmap_threads
grep -q '^mapped 2000 32768000 0 [0-9]* 0 0$' figures || fail "threads that map do not add up" figures
awk '$1 == "mapped" { exit !($5 >= 16384 && $5 <= 65536) }' figures ||
	fail "the peak of what threads map" figures
pass "threads map and unmap at the same places"
# What malloc_usable_size says of blocks of 100, 0, 1000 and 3000 bytes to the program itself.
scenario -f1 usable_sizes total_allocations 4 frees 3 temporary 3 foreign_frees 0 held_bytes 0 lost 0
read -r sum largest <out
[ "$sum" -gt 4100 ] || broken "no block is larger than it was asked for"
figures "usable sizes" allocated_bytes "$sum" peak_bytes "$largest" total_bytes "$largest"
scenario usable_sizes allocated_bytes 4100 peak_bytes 3000 total_bytes 3000
scenario sized total_allocations 2 allocated_bytes 94 frees 2 temporary 2 foreign_frees 0 \
	peak_bytes 64 held_bytes 0 lost 0 broken 0
scenario usable total_allocations 1 allocated_bytes 100 frees 1 lost 0 broken 0
# Tracked: 100, 10, 1, 20. In the pause one is freed, one untracked, two come and stay foreign.
scenario pause total_allocations 4 allocated_bytes 131 frees 2 temporary 0 foreign_frees 2 \
	peak_bytes 111 total_bytes 111 held_bytes 20 held_blocks 1 lost 0 broken 0
# The same with pauses: 5000, 6000 and 8000 besides.
scenario -f4 pause total_allocations 7 allocated_bytes 19131 frees 5 temporary 2 foreign_frees 0 \
	peak_bytes 13001 total_bytes 13001 held_bytes 20 held_blocks 1 lost 0 broken 0 \
	curve '1: 100 110 111 5111 11111 13001 21'
# 7 blocks of 10 of the thread that does not pause, then 33.
scenario thread_pause total_allocations 8 allocated_bytes 103 frees 8 temporary 8 \
	foreign_frees 0 peak_bytes 33 total_bytes 33 held_bytes 0 n_threads 2 lost 0 broken 0
# First iteration: 3. Rounds: 100 + 200, one of them freed between, then 50.
scenario rounds total_allocations 3 allocated_bytes 350 frees 1 temporary 0 foreign_frees 2 \
	first 3 peak_bytes 300 total_bytes 300 held_bytes 250 held_blocks 2 lost 0 broken 0
scenario threads total_allocations 2 allocated_bytes 70 frees 2 temporary 0 foreign_frees 0 \
	peak_bytes 40 total_bytes 40 held_bytes 0 n_threads 2 lost 0 broken 0
# 1000 threads, four at a time, 1000 blocks each: 10 times the sum of 1 to 100.
scenario many_threads total_allocations 1000000 allocated_bytes 50500000 frees 1000000 \
	temporary 1000 foreign_frees 0 held_bytes 0 n_threads 1000 lost 0 broken 0
peak=$(sed -n 's/^peak_bytes //p' figures)
figures "the peak of many threads is the sum of its stacks" total_bytes "$peak"
# The child frees, allocates, opens and closes: in vain.
scenario fork total_allocations 1 allocated_bytes 100 frees 1 temporary 1 foreign_frees 0 \
	peak_bytes 100 total_bytes 100 held_bytes 0 forked 1 lost 0 broken 0
for n in '' _2; do
	# shellcheck disable=SC2086
	$CC -O2 -fno-builtin -fomit-frame-pointer -shared -fPIC "-DPLUGIN_FRAME=${n:+5}64" \
		-o "heap_plugin$n.so" "$MEW_SRCDIR/tests/fixtures/heap_plugin.c" ||
		broken "cannot build heap_plugin$n.so"
done
scenario closed_socket total_allocations 10 allocated_bytes 100 frees 10 temporary 10 lost 0
scenario dlopen total_allocations 10 allocated_bytes 100 frees 10 lost 0 broken 0 asked 2
# By the rules of the module that is gone the stack would end early, and well. All 20 have the same
# callers but for the two innermost ones: the module, and its call, of which a loop may have several.
# Asked: at the loop's begin, for either module, and before each of them goes.
under -s "$fixtures/heap_window" replace
sed -n 's/^stack malloc \([0-9]*\) [^:]*: [0-9a-f]* [0-9a-f]* /\1 /p' figures >callers
awk '{ n += $1; $1 = "" } NR == 1 { first = $0 } $0 != first || NF < 4 { bad = 1 }
	END { exit bad || n != 20 }' callers ||
	fail "a module at the place of another one has other callers" figures
figures "a module at the place of another one" ended 'exit 0' total_allocations 20 \
	allocated_bytes 200 frees 20 lost 0 broken 0 asked 5
# 5 on its own stack and 5 on the thread's, twice.
scenario coroutine total_allocations 20 allocated_bytes 110 frees 20 lost 0 broken 0
scenario signal total_allocations 10 allocated_bytes 100 frees 10 lost 0 broken 0
scenario altstack total_allocations 10 allocated_bytes 100 frees 10 lost 0 broken 0
scenario deep total_allocations 201 allocated_bytes 2010 frees 201 lost 0 broken 0
scenario small_stack total_allocations 7 allocated_bytes 70 frees 7 lost 0 broken 0 n_threads 1

# A handler that allocates while the lock is held: no deadlock, and each call told or lost.
under "$fixtures/heap_window" handler
grep -qx 'ended exit 0' figures || fail "an allocating signal handler stops the program" figures
awk '$1 == "total_allocations" || $1 == "lost" { n += $2 } $1 == "lost" { lost = $2 }
	END { exit !(n >= 500 && lost > 0) }' figures || fail "calls of a handler go untold" figures
figures "a signal handler that allocates" sums 'add up'

# A child by posix_spawn: the shell has the hook too, and is refused.
under "$fixtures/heap_window" spawn
figures spawn ended 'exit 0' refused 1 total_allocations 1 allocated_bytes 100 frees 1 lost 0 \
	broken 0 sums 'add up'

# Each way to a child is counted, once, but for a bare system call whose child does not allocate.
# Eight of them exec a shell with the hook; a popen() is closed.
under "$fixtures/heap_window" children
figures "every way to a child" ended 'exit 0' forked 16 lost 0 sums 'add up'

# Without mew-perf's answers a stack breaks, which is counted, and nothing else happens.
under -d "$fixtures/heap_window" dlopen
figures "mew-perf is gone" ended 'exit 0' total_allocations 10 broken 10 lost 0 sums 'add up'

# Room for the outermost frame and no more.
under -n3 "$fixtures/heap_window" malloc
figures "no room for stacks" total_allocations 4 allocated_bytes 350 frees 3 peak_bytes 300 \
	total_bytes 300 held_bytes 50 lost 4 sums 'add up'

under -b "$fixtures/heap_window" malloc
grep -qx 'status -1' err || fail "the refusal is not told" err
figures "mew-perf refuses: the program runs" ended 'exit 0' images 0 refused 1

if command -v c++ >/dev/null 2>&1; then
	# Every entry point of the list, as the program itself counts; and which one each call is told
	# for, where none is made of another one.
	c++ -O1 -fno-builtin -shared -fPIC -w -DEVERY_FORM -I"$MEW_SRCDIR/src" -o liball.so \
		"$MEW_SRCDIR/tests/fixtures/heap_allocator.cc" || broken "cannot build an allocator"
	for libraries in '' '-L. -Wl,--no-as-needed -lall'; do
		# shellcheck disable=SC2086
		c++ -std=c++17 -O1 -fno-builtin -I"$MEW_SRCDIR/src" -o heap_entries \
			"$MEW_SRCDIR/tests/fixtures/heap_entries.cc" $libraries -Wl,-rpath,"$mew_dir" -ldl \
			-lpthread || broken "cannot build heap_entries"
		under -s ./heap_entries counted
		grep -qx 'ended exit 0' figures || fail "the calls of every entry point fail" figures err
		grep -v '^entry ' out >wanted
		while read -r name value; do
			grep -qx "$name $value" figures || fail "$name is not $value" figures out
		done <wanted
		grep '^entry ' out | sort >wanted
		awk '$1 == "stack" { n[$2] += $3; b[$2] += $4 }
			END { for (e in n) print "entry", e, n[e], b[e] }' figures | sort >told
		[ -z "$libraries" ] || cmp -s wanted told || fail "other entry points are told" wanted told
		figures "every entry point, counted once, with $(wc -l <told) of them told" foreign_frees 0 \
			live_bytes 0 held_bytes 0 held_blocks 0 lost 0 broken 0 sums 'add up'
	done

	c++ -std=c++17 -O1 -I"$MEW_SRCDIR/src" -o heap_new "$MEW_SRCDIR/tests/fixtures/heap_new.cc" ||
		broken "cannot build heap_new"
	under ./heap_new
	# 10 and 1661 bytes by all forms, twice 7 and 5, and three std::bad_alloc of 136: one is caught
	# by the form that throws none.
	figures "every form of new and delete, counted once" ended 'exit 0' total_allocations 17 \
		allocated_bytes 2093 frees 16 foreign_frees 0 peak_bytes 512 total_bytes 512 \
		held_bytes 1 held_blocks 1 lost 0 broken 0 new_goes_by 0 sums 'add up'

	# Another allocator is recorded as the C library's is, also when its operator new does not come
	# by malloc: 0 bytes are 0 then. What it throws is a part of the call: of the three std::bad_alloc
	# two are foreign.
	c++ -O1 -fno-builtin -shared -fPIC -o liballocator.so \
		"$MEW_SRCDIR/tests/fixtures/heap_allocator.cc" || broken "cannot build an allocator"
	c++ -std=c++17 -O1 -I"$MEW_SRCDIR/src" -o heap_new_2 \
		"$MEW_SRCDIR/tests/fixtures/heap_new.cc" -L. -Wl,--no-as-needed -lallocator \
		-Wl,-rpath,"$mew_dir" || broken "cannot build heap_new_2"
	under ./heap_new_2
	figures "an operator new that does not call malloc" ended 'exit 0' new_goes_by 0 \
		total_allocations 15 allocated_bytes 1820 frees 14 foreign_frees 2 peak_bytes 512 \
		total_bytes 512 held_bytes 0 held_blocks 1 lost 0 broken 0 sums 'add up'

	# The program's own, which no library can stand in for: it is tried before the window.
	for own in '' -DBY_MALLOC; do
		# shellcheck disable=SC2086
		c++ -std=c++17 -O1 -I"$MEW_SRCDIR/src" $own -Wl,--no-as-needed -o heap_new_own \
			"$MEW_SRCDIR/tests/fixtures/heap_new_own.cc" || broken "cannot build heap_new_own"
		under ./heap_new_own
		figures "the program's own operator new $own" ended 'exit 0' \
			total_allocations $((${#own} > 0)) new_goes_by $((${#own} == 0))
	done
	$CC -x c -o plain_c - <<-'C' -L. -Wl,--no-as-needed -lallocator -Wl,-rpath,"$mew_dir" ||
		#include <stdlib.h>
		#include <unistd.h>
		int main(void) { char *p = malloc(100); p = realloc(p, 200); free(p); _exit(!p); }
	C
		broken "cannot build plain_c"
	under -w ./plain_c
	# libstdc++, which that one needs, keeps 72704 bytes for exceptions from its constructor on.
	figures "another allocator" ended 'exit 0' total_allocations 3 allocated_bytes 73004 frees 1 \
		peak_bytes 72904 lost 0 broken 0
else
	echo "# no C++ compiler: operator new is not tested"
fi

echo "1..$mew_count"
