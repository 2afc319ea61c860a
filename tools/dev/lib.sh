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
	retried install_once "$@" || die "apt-get install $* failed"
}

install_once()
{
	$dev_root apt-get -qq -o Acquire::Retries=3 update </dev/null &&
		$dev_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
			-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
			install "$@" </dev/null >/dev/null
}

# retried COMMAND...: what the network may fail to do once; five tries in two minutes.
retried()
{
	for dev_pause in 5 15 30 60 end; do
		"$@" && return 0
		[ "$dev_pause" != end ] || return 1
		echo "'$*' failed: again in $dev_pause s" >&2
		sleep "$dev_pause"
	done
}

# show_log FILE: what is to be seen of a failure. Of compilers and make the first errors, of tests each
# `not ok` with what is said of it, and where it ended. A test's part has up to 60 lines.
show_log()
{
	cut -c 1-300 "$1" | awk '
		function flush(  i)
		{
			for (i = 1; i <= n; i++)
				if (i <= 40 || i > n - 20)
					print "    " part[i]
				else if (i == 41)
					printf "    [%d lines more]\n", n - 60
			n = 0
		}
		/^(not )?ok / { flush(); in_part = /^not / && !/# TODO/ }
		in_part { part[++n] = $0; last_shown = NR; next }
		/(^|[ :])(fatal )?error: |^Bail out|^FAILED|undefined reference|\*\*\* |WARNING: ThreadSanitizer|runtime error:/ &&
			errors++ < 20 { print "    " $0; last_shown = NR }
		{ tail[NR % 20] = $0 }
		END {
			flush()
			if (last_shown < NR)
				for (i = NR > 20 ? NR - 19 : 1; i <= NR; i++)
					if (i > last_shown)
						print "    " tail[i % 20]
		}'
}

# quiet LOG COMMAND...: runs it with its output in LOG; shows what matters of it on failure.
quiet()
{
	dev_log=$1
	shift
	"$@" >"$dev_log" 2>&1 </dev/null && return 0
	show_log "$dev_log" >&2
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
