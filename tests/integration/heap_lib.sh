# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# For the tests of the heap hook alone, read after lib.sh.

# Where things are; each is also made by `make check`.
hook=${MEW_HOOK:-$MEW_BUILDDIR/.libs/libmew-heap.so}
server=$MEW_BUILDDIR/tests/fixtures/fake_heap_server
fixtures=$MEW_BUILDDIR/tests/fixtures
[ -f "$hook" ] || broken "no $hook"
[ -x "$server" ] || broken "no $server"

# LD_PRELOAD takes blanks for separators, so the hook goes by a path that has none.
hook_link=$(mktemp -u /tmp/mew-heap.XXXXXX) || broken "no temporary name"
ln -s "$hook" "$hook_link" || broken "cannot link to $hook"
trap 'rm -rf "$mew_dir"; rm -f "$hook_link"' EXIT

# under [OPTION...] PROGRAM [ARG...]: runs it under the hook; the figures are in `figures`.
under()
{
	mew_options=
	while [ "${1#-}" != "$1" ]; do
		mew_options="$mew_options $1"
		shift
	done
	# shellcheck disable=SC2086
	timeout "${mew_limit:-60}" "$server" $mew_options -o figures "$hook_link" "$@" >out 2>err ||
		fail "'$*' does not run under the hook" out err
}

# figures TEXT NAME VALUE [NAME VALUE]...: they are so.
figures()
{
	mew_text=$1
	shift
	while [ $# -gt 1 ]; do
		grep -qx "$1 $2" figures || fail "$mew_text: '$1' is not $2" figures err
		shift 2
	done
	pass "$mew_text"
}
