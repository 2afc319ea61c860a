#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debug files from a server: asked on request only, and never again once it has failed.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"
need python3 objcopy strip readelf
ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1' || skip 'no libdebuginfod.so.1'

server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$mew_dir"' EXIT

cat >work.c <<'END'
static inline __attribute__((always_inline)) unsigned leaf(unsigned n)
{
	__asm__ volatile("" : "+r"(n));
	return n - 1;
}

__attribute__((noinline)) unsigned work(unsigned n)
{
	while (n > 0)
		n = leaf(n);
	return n;
}

int main(void)
{
	return (int)work(300000000);
}
END
"$CC" -g -O1 -Wl,--build-id -o prog work.c 2>err || broken 'cannot build'
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || broken 'no build-id'
mkdir -p "www/buildid/$id"
objcopy --only-keep-debug prog "www/buildid/$id/debuginfo" || broken 'cannot copy'
strip -s prog || broken 'cannot strip'

# The cache of the client is the test's own, and what it keeps of failures is short-lived.
DEBUGINFOD_CACHE_PATH=$mew_dir/cache
export DEBUGINFOD_CACHE_PATH
cat >serve.py <<'END'
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="www")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open("port.new", "w") as f:
    f.write(str(server.server_address[1]))
import os
os.rename("port.new", "port")
server.serve_forever()
END
python3 serve.py >served 2>&1 &
server=$!
i=0
while [ ! -e port ] && [ $i -lt 100 ]; do
	sleep 0.1
	i=$((i + 1))
done
[ -e port ] || broken 'no server'
url=http://127.0.0.1:$(cat port)

# cpu OPTION...: the functions of prog, a line each, in `out.csv`.
cpu()
{
	run 0 "$MEW_PERF" cpu --no-db --interval 1ms --table=functions --csv=out.csv "$@" ./prog
}

DEBUGINFOD_URLS=$url
export DEBUGINFOD_URLS
cpu
grep -qF '[prog]' out.csv || fail 'a stripped program has names' out.csv
[ ! -s served ] || fail 'a server is asked that nobody asked for' served
pass 'no server is asked unless it is wanted'

cpu --debuginfod
grep -q 'work.*work\.c' out.csv || fail 'no function by the server in the environment' out.csv served err
grep -q "$id/debuginfo" served || fail 'nothing was served' served
rm -rf cache
unset DEBUGINFOD_URLS
cpu --debuginfod="$url"
grep -q 'work.*work\.c' out.csv || fail 'no function by the server that was given' out.csv served err
pass 'a server that is asked has the right functions'

run 2 "$MEW_PERF" cpu --no-db --debuginfod ./prog
grep -q 'no server' err || fail 'no server to ask' err
pass 'to ask without a server is refused'

# Of another program: what a server sends is checked.
rm -rf cache
echo 'int other(void) { return 1; }' >other.c
"$CC" -g -shared -o other.so other.c 2>err || broken 'cannot build'
cp other.so "www/buildid/$id/debuginfo"
cpu --debuginfod="$url"
grep -qF '[prog]' out.csv || fail 'the debug file of another program is believed' out.csv
grep -q 'server failed' err && fail 'a wrong answer is taken for no answer' err
pass 'the debug file of another program is not used'

kill "$server"
wait "$server" 2>/dev/null
server=
rm -rf cache
cpu --debuginfod="$url"
grep -qF '[prog]' out.csv || fail 'names from nowhere' out.csv
[ "$(grep -c 'warning: a debuginfod server failed' err)" -eq 1 ] || fail 'a dead server is not said once' err
pass 'a dead server is said, once'

echo "1..$mew_count"
