#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What test.sh does not look at: other compilers, sanitizers, headers, scripts, packaging. Each
# check is one line; the last line is `N passed, N failed`. Logs are in build/ci/.

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$dev_top" || exit 1

install_packages build test ci vm
ci=$dev_top/build/ci
rm -rf "$ci"
mkdir -p "$ci" || exit 1
# So make check shows the logs of tests that fail.
VERBOSE=1
export VERBOSE
passed=0
failed=0

# check NAME COMMAND...
check()
{
	name=$1
	shift
	from=$(date +%s)
	if "$@" >"$ci/$name.log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "ok - $name ($(($(date +%s) - from)) s)"
	else
		failed=$((failed + 1))
		echo "not ok - $name ($(($(date +%s) - from)) s)"
		show_log "$ci/$name.log"
	fi
}

# files PATTERN...: tracked files, or all of a tree that is no clone.
files()
{
	if [ -e .git ]; then
		git ls-files "$@"
	else
		for pattern in "$@"; do
			find . -path ./build -prune -o -path "./$pattern" -print
		done
	fi
}

tree_state()
{
	[ ! -e .git ] || git status --porcelain
}

# build_strictly NAME ARG...: configured with ARG, warnings are errors, unit tests pass.
build_strictly()
{
	dir=$ci/build-$1
	shift
	configure_in "$dir" --enable-werror "$@" && build_in "$dir" && build_in "$dir" check-unit
}

# What threads of the benchmark do in the heap hook at once, without a race. A race shows in one run
# of a few.
check_threads()
{
	dir=$ci/build-thread
	configure_in "$dir" CC=gcc --enable-sanitizers=thread &&
		build_in "$dir" tests/unit/test_heap_model tests/unit/test_heap_lock \
			tests/unit/test_curve || return 1
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		echo "try $try"
		"$dir/tests/unit/test_heap_model" && "$dir/tests/unit/test_heap_lock" &&
			"$dir/tests/unit/test_curve" || return 1
	done
}

run_shellcheck()
{
	# shellcheck disable=SC2046 # the names hold no blanks
	shellcheck -x bootstrap .ci/run $(files '*.sh' '*.bash')
}

# Each public header alone, by both compilers, as the oldest C and C++ that users may have.
check_public_headers()
{
	status=0
	for header in $(files 'include/mew/*.h'); do
		for cc in gcc clang; do
			echo "$cc $header"
			echo "#include \"$dev_top/$header\"" |
				$cc -x c -std=c99 -pedantic -Wall -Wextra -Wshadow -Werror -Iinclude \
					-fsyntax-only - || status=1
			echo "#include \"$dev_top/$header\"" |
				$cc -x c++ -std=c++11 -pedantic -Wall -Wextra -Wshadow -Werror \
					-Iinclude -fsyntax-only - || status=1
		done
	done
	return $status
}

# Each of our own headers includes what it needs.
check_own_headers()
{
	status=0
	for header in $(files 'src/*.h' 'tools/*.h'); do
		echo "$header"
		echo "#include \"$dev_top/$header\"" |
			gcc -x c -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Isrc \
				-I"$dev_top/build" -fsyntax-only - || status=1
	done
	return $status
}

# Installed under a prefix with a blank, then moved: everything is found from where it is now.
check_install()
{
	dir=$ci/build-install
	configure_in "$dir" --prefix="$ci/a prefix" && build_in "$dir" || return 1
	make -C "$dir" install DESTDIR="$ci/stage of files" || return 1
	mv "$ci/stage of files$ci/a prefix" "$ci/moved here" || return 1
	find "$ci/moved here" | sort
	if [ -x "$ci/moved here/bin/mew-perf" ]; then
		"$ci/moved here/bin/mew-perf" --version || return 1
	fi
	make -C "$dir" install && make -C "$dir" uninstall || return 1
	[ -z "$(find "$ci/a prefix" ! -type d)" ] || {
		echo "uninstall leaves:"
		find "$ci/a prefix" ! -type d
		return 1
	}
}

# The archive has every tracked file, builds by itself in a folder beside a source that cannot be written, passes the
# unit tests and those scripts that read what comes with the source, and takes away all that it installs. test.sh runs
# the rest.
check_dist()
{
	dir=$ci/build-dist
	configure_in "$dir" || return 1
	scripts=
	for script in layers cli completion header fuzz heap_exact hostile unwind; do
		scripts="$scripts tests/integration/$script.sh"
	done
	units=$(make -s -C "$dir" list-tests | grep '^tests/unit/')
	[ -n "$units" ] || return 1
	make -C "$dir" -j"$dev_jobs" distcheck TESTS="$(echo "$units" | tr '\n' ' ')$scripts" || return 1
	[ -e .git ] || return 0
	tar tf "$dir"/mew-perf-*.tar.xz >"$ci/archive.txt" || return 1
	sed 's|^[^/]*/||' "$ci/archive.txt" | sort >"$ci/archive"
	git ls-files | grep -vE '^\.(ci/|git)' | sort | comm -23 - "$ci/archive" >"$ci/forgotten"
	[ ! -s "$ci/forgotten" ] || {
		echo "the archive lacks:"
		cat "$ci/forgotten"
		return 1
	}
}

# As a newcomer runs it: in a clone with nothing built.
check_demo()
{
	rm -rf "$ci/demo" && git clone -q "$dev_top" "$ci/demo" && sh "$ci/demo/tools/dev/demo.sh"
}

# one_test NAME [VARIABLE=VALUE...]: an integration test at length, with what gcc built.
one_test()
{
	test=tests/integration/$1.sh
	shift
	build_in "$ci/build-gcc" check TESTS= &&
		env MEW_SRCDIR="$dev_top" MEW_BUILDDIR="$ci/build-gcc" \
			MEW_PERF="$ci/build-gcc/mew-perf" CC=gcc "$@" sh "$test"
}

# A minute for what reads the most, less for the rest.
check_fuzz()
{
	sh tools/dev/fuzz.sh 60 cfi walk elf dwarf demangle &&
		sh tools/dev/fuzz.sh 20 walk_aarch64 store record message alloc maps
}

# Each unit test again with its heap recorded: it passes as it does without.
check_inside_hook()
{
	build_in "$ci/build-gcc" check TESTS= || return 1
	status=0
	for test in "$ci"/build-gcc/tests/unit/test_*; do
		case ${test##*/} in *.*) continue ;; esac
		[ -x "$test" ] || continue
		MEW_SRCDIR=$dev_top "$ci/build-gcc/mew-perf" mem -q --no-db -o "$ci/inside.csv" "$test" || {
			echo "fails: $test"
			status=1
		}
	done
	return $status
}

check_no_change()
{
	tree_state | diff -u "$ci/tree.before" -
}

tree_state >"$ci/tree.before"
check shellcheck run_shellcheck
check public-headers check_public_headers
configure_in build || die "configure failed"
check own-headers check_own_headers
check format make -C build check-format
check gcc-werror build_strictly gcc CC=gcc CXX=g++
check clang-werror build_strictly clang CC=clang CXX=clang++
check sanitizers build_strictly sanitizers CC=gcc --enable-sanitizers=address,undefined
check threads check_threads
check valgrind make -C "$ci/build-gcc" -j"$dev_jobs" check-valgrind
check hundred-kills one_test killed MEW_KILLS=100
check inside-hook check_inside_hook
check heap-stress one_test heap_stress MEW_STRESS=60
check walk-oracle one_test walk_oracle MEW_ORACLE_SAMPLES=10000
check fuzz check_fuzz
check install check_install
check demo check_demo
check pmu make -C build check-pmu
check distcheck check_dist
check tree-unchanged check_no_change

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
