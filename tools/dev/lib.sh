# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the scripts in this folder share. They may be started from anywhere, read no stdin, and need
# Debian 12 and, if a package is missing, root or sudo.

dev_top=$(cd "$(dirname "$0")/../.." && pwd)
dev_jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

die()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

# packages GROUP...: prints the packages of these groups.
packages()
{
	for dev_group in "$@"; do
		sed -n "s/^$dev_group //p" "$dev_top/tools/dev/packages.txt"
	done | sort -u
}

is_installed()
{
	dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

# install_packages GROUP...: installs what is missing; says nothing when nothing is.
install_packages()
{
	if ! command -v dpkg-query >/dev/null; then
		echo "${0##*/}: not a Debian system: install yourself what configure asks for" >&2
		return 0
	fi
	# shellcheck disable=SC2046 # the names hold no blanks
	set -- $(for dev_package in $(packages "$@"); do
		is_installed "$dev_package" || echo "$dev_package"
	done)
	[ $# -gt 0 ] || return 0
	echo "installing $*"
	dev_root=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || die "as root run: apt-get install $*"
		dev_root=sudo
	fi
	$dev_root apt-get -qq update </dev/null || die "apt-get update failed"
	$dev_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		-o Dpkg::Use-Pty=0 install "$@" </dev/null >/dev/null || die "apt-get install $* failed"
}

# quiet LOG COMMAND...: runs it with its output in LOG; shows the end of it on failure.
quiet()
{
	dev_log=$1
	shift
	"$@" >"$dev_log" 2>&1 </dev/null && return 0
	tail -n 40 "$dev_log" >&2
	return 1
}

# configure_in DIR [ARG...]: makes ./configure if needed and configures in DIR, once; and again, with
# the arguments of then, when packages have come or gone since.
configure_in()
{
	dev_dir=$1
	shift
	mkdir -p "$dev_dir" || return 1
	[ -x "$dev_top/configure" ] ||
		quiet "$dev_dir/bootstrap.log" "$dev_top/bootstrap" || return 1
	if [ ! -x "$dev_dir/config.status" ]; then
		(cd "$dev_dir" && quiet configure.log "$dev_top/configure" "$@")
	elif [ -n "$(find /var/lib/dpkg/status -newer "$dev_dir/config.status" 2>/dev/null)" ]; then
		(cd "$dev_dir" && quiet configure.log ./config.status --recheck &&
			quiet configure.log ./config.status)
	fi
}

# build_in DIR [TARGET...]
build_in()
{
	dev_dir=$1
	shift
	quiet "$dev_dir/make.log" make -C "$dev_dir" -j"$dev_jobs" "$@"
}
