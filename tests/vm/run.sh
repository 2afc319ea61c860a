#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh DIR: builds everything for arm64 and runs it in an emulated machine, whose processor has real hardware
# counters: with -icount one instruction is one cycle and one nanosecond, so that figures repeat. What is fetched and
# built stays in DIR and is taken again. The last line is `N passed, N failed`; 77: this machine cannot do it.

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/../../tools/dev/lib.sh"

mkdir -p "$1" || die "no directory $1"
vm=$(cd "$1" && pwd) || exit 1
here=$dev_top/tests/vm
target=aarch64-linux-gnu

case $vm in
*[[:space:]]*)
	echo "# SKIP the path of $vm holds a blank"
	exit 77
	;;
esac
for command in apt-get dpkg python3 cpio qemu-system-aarch64 $target-gcc $target-g++; do
	command -v "$command" >/dev/null && continue
	echo "# SKIP no command '$command': apt install $(packages vm | tr '\n' ' ')"
	exit 77
done

sh "$here/sysroot.sh" "$vm/sysroot" || exit 1
root=$vm/sysroot/root
cc="$target-gcc --sysroot=$root"
PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$root/usr/lib/$target/pkgconfig:$root/usr/share/pkgconfig
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR

# ---- build ----
build=$vm/build
configure_in "$build" --host=$target --enable-werror CC="$cc" CXX="$target-g++ --sysroot=$root" ||
	die "configure failed: see $build"
units=$(make -s -C "$build" list-tests | grep '^tests/unit/')
programs="tests/fixtures/acceptance tests/fixtures/pmu tests/fixtures/syscalls tests/tools/walk_self tests/tools/cfi_table
	tests/tools/symbolise"
# shellcheck disable=SC2086 # the names hold no blanks
build_in "$build" mew-perf libmew.la libmew-heap.la $units $programs || die "the build failed"

# In C++, and once with signed return addresses: hints to a processor that does not sign.
for protection in none standard; do
	$target-g++ "--sysroot=$root" -std=c++17 -O2 -g -mbranch-protection=$protection \
		-I"$dev_top/include" "$dev_top/tests/fixtures/acceptance_heap.cc" "$build/.libs/libmew.a" \
		-lpthread -static-libstdc++ -o "$vm/heap_$protection" || die "cannot build acceptance_heap"
done

# ---- the machine's disk ----
disk=$vm/disk
rm -rf "$disk" && mkdir -p "$disk/bin" "$disk/lib" "$disk/mew/unit" "$disk/etc" || exit 1
(cd "$disk" && mkdir proc sys dev tmp) || exit 1
cp "$vm/sysroot/busybox" "$disk/bin/busybox"
for applet in sh mount cat echo ls chmod su poweroff id awk tail; do
	ln -s busybox "$disk/bin/$applet"
done
cp "$here/guest.sh" "$disk/init" && chmod 755 "$disk/init"
printf '%s\n' root:x:0:0::/:/bin/sh user:x:1000:1000::/tmp:/bin/sh >"$disk/etc/passwd"
cp "$build/mew-perf" "$build/.libs/libmew-heap.so" "$vm/heap_none" "$vm/heap_standard" "$disk/mew/"
for program in $units; do
	cp "$build/$program" "$disk/mew/unit/"
done
for protection in none standard; do
	$target-objdump -d -j .plt "$vm/heap_$protection" | sed -n 's/^0*\([0-9a-f]*\) <malloc@plt>:/0x\1/p' \
		>"$disk/mew/stub_$protection"
done
mkdir -p "$disk/mew/src/tests" "$disk/mew/src/doc/man"
cp -R "$dev_top/tests/golden" "$disk/mew/src/tests/"
cp "$dev_top/doc/man/mew-perf-recording.5" "$disk/mew/src/doc/man/"
for program in $programs; do
	cp "$build/$program" "$disk/mew/"
done

# needed FILE...: the libraries that they name, and what these name.
needed()
{
	for needed_name in $($target-readelf -d "$@" 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
		[ -e "$disk/lib/$needed_name" ] && continue
		needed_file=$(find "$root/lib" "$root/usr/lib" -name "$needed_name" | head -n 1)
		[ -n "$needed_file" ] || die "no library $needed_name"
		cp -L "$needed_file" "$disk/lib/$needed_name"
		needed "$disk/lib/$needed_name"
	done
}
cp -L "$root/lib/$target/libgcc_s.so.1" "$disk/lib/" # for backtrace(3), by dlopen()
needed "$disk"/mew/* "$disk"/mew/unit/* "$disk"/lib/*
(cd "$disk" && find . | cpio -o -H newc --quiet | gzip -1) >"$vm/disk.gz" || die "cpio failed"

# ---- run ----
# machine LOG CPU WHAT: boots it to run a part of guest.sh, with what it prints in LOG.
machine()
{
	timeout 1500 qemu-system-aarch64 -M virt -cpu "$2" -smp 1 -m 512 -icount shift=0,sleep=off \
		-nographic -nodefaults -serial stdio -no-reboot -kernel "$vm/sysroot/vmlinuz" -initrd "$vm/disk.gz" \
		-append "console=ttyAMA0 panic=-1 quiet mew=$3" </dev/null >"$1" 2>&1 ||
		echo "qemu ends with $?" >>"$1"
}
# Beside it, a processor that signs addresses. What it counts is of no interest.
machine "$vm/signed.log" max,pauth-impdef=on signed &
machine "$vm/counters.log" cortex-a57 counters
wait
exec python3 "$here/judge.py" "$vm/counters.log" "$vm/signed.log"
