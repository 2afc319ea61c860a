#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sysroot.sh DIR: what an arm64 machine needs that is built and run from here: in DIR/root the libraries to build
# against and to run with, in DIR/vmlinuz a kernel, in DIR/busybox its user land. They are packages of this system's own
# distribution for the other architecture, fetched by apt with a configuration of its own, so that nothing here changes.

# shellcheck source=tools/dev/lib.sh
. "$(dirname "$0")/../../tools/dev/lib.sh"

vm=$1
mkdir -p "$vm/parts" "$vm/lists/partial" "$vm/cache/archives/partial" || exit 1
cd "$vm" || exit 1

# Libraries alone of what building and testing need; g++'s comes with its compiler.
libraries="$(packages build test | grep -E '^(lib|zlib).*-dev$') libstdc++6 libgcc-s1"
kernel=linux-image-cloud-arm64
[ "$(cat complete 2>/dev/null)" = "$libraries $kernel" ] && exit 0
rm -rf complete root kernel

cp /etc/apt/sources.list.d/debian.sources parts/ 2>/dev/null ||
	grep -h '^deb ' /etc/apt/sources.list >parts/debian.list || die "no sources for apt here"
: >status
cat >apt.conf <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State::Lists "$vm/lists";
Dir::State::Status "$vm/status";
Dir::Cache "$vm/cache";
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$vm/parts";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
APT_CONFIG=$vm/apt.conf
export APT_CONFIG

retried quiet update.log apt-get -q update || die "apt-get update failed"
# The package of the kernel proper, without what its installation asks for.
image=$(apt-cache depends --important $kernel | sed -n 's/ *Depends: \(linux-image-.*\)/\1/p')
# shellcheck disable=SC2086 # the names hold no blanks
retried quiet get.log apt-get -q -y --no-install-recommends --download-only install $libraries ||
	die "apt-get --download-only failed"
mkdir -p kernel root
(cd kernel && retried quiet get.log apt-get -q download "$image" busybox-static) || die "apt-get download failed"

for deb in cache/archives/*.deb; do
	dpkg -x "$deb" root || die "cannot unpack $deb"
done
for deb in kernel/*.deb; do
	dpkg -x "$deb" kernel || die "cannot unpack $deb"
done
find root -lname '/*' | while read -r link; do
	ln -sf "$vm/root$(readlink "$link")" "$link"
done
mv kernel/boot/vmlinuz-* vmlinuz || die "no kernel in $image"
mv kernel/bin/busybox busybox || die "no busybox in its package"
rm -rf kernel cache/archives
echo "$libraries $kernel" >complete
