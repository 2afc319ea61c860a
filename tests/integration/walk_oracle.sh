#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples of real programs, stripped and without frame pointers: each stack as libdwfl walks it on
# the same registers and bytes. MEW_ORACLE_SAMPLES: of each program.

# shellcheck source=tests/integration/lib.sh
. "${MEW_SRCDIR:-$(dirname "$0")/../..}/tests/integration/lib.sh"

oracle=$MEW_BUILDDIR/tests/tools/walk_oracle
samples=${MEW_ORACLE_SAMPLES:-4000}
[ -x "$oracle" ] || broken "no $oracle"

# figure NAME: its value in the last line of out.
figure()
{
	sed -n "\$s/.* $1=\([0-9]*\).*/\1/p" out
}

# agree NAME PROGRAM [ARG...]: no difference that has no reason.
agree()
{
	name=$1
	shift
	status=0
	"$oracle" "$samples" 24576 "$@" >out 2>err </dev/null || status=$?
	[ $status -ne 77 ] || skip "$(cat out)"
	echo "# $name: $(tail -n 1 out)"
	[ $status -le 1 ] || broken "$name: $(cat err)"
	[ $status -eq 0 ] || fail "$name: stacks differ from libdwfl's" out err
	grep -q "^samples=$samples " out || fail "$name: not $samples samples" out err
	walks=$(figure walks)
	for difference in entry guessed red_zone; do
		[ $(($(figure $difference) * 100)) -le "$walks" ] ||
			fail "$name: too many of the class $difference" out
	done
	[ $(($(figure outermost) * 4)) -gt "$walks" ] || fail "$name: few stacks are whole" out
	pass "$name: the stacks are those of libdwfl"
}

cat >work.py <<'EOT'
import decimal, functools, json, random, re
r = random.Random(1)
def tree(depth):
    return {str(i): tree(depth - 1) for i in range(4)} if depth else [r.random() for _ in range(5)]
@functools.lru_cache(None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    text = json.dumps(json.loads(json.dumps(tree(4))), indent=1)
    re.sub(r'(\d+)\.(\d+)', lambda m: m.group(2), text)
    sorted(text.split(), key=lambda x: (len(x), x[::-1]))
    sum(decimal.Decimal(i) / 7 for i in range(3000))
    fib.cache_clear()
    fib(400)
EOT
cat >work.sql <<'EOT'
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO t SELECT i, printf('%08x', i * 2654435761 % 4294967296), i * 0.37 FROM n;
CREATE INDEX t_b ON t(b);
SELECT a % 700, group_concat(upper(hex(b)) || round(c, 3)), json_array_length(json_group_array(b))
	FROM t GROUP BY 1 ORDER BY 2;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
SELECT i, (SELECT sum(length(x.b || y.c)) FROM t x JOIN t y ON y.a = x.a % 777
		WHERE x.b LIKE '%' || i || '%'),
	(SELECT max(b) OVER (PARTITION BY a % 7 ORDER BY c DESC) FROM t WHERE a < 5000 LIMIT 1) FROM n;
EOT
i=0
while [ $i -lt 1500 ]; do
	cat <<EOT
struct s$i { int a, b; double c[4]; struct s$i *next; };
static int f$i(struct s$i *s, int n)
{
	int r = 0;
	for (int i = 0; i < n; i++) {
		switch (s->a + i) {
		case 1: r += s->b * 7; break;
		case 2: r ^= s->a; break;
		case 9: r -= i; break;
		case 12: s->c[i & 3] *= 1.5; break;
		default: r += (int)s->c[i & 3];
		}
		if (s->next)
			s = s->next;
	}
	return r;
}
int g$i(struct s$i *s, char *t, int n)
{
	int sum = 0;
	for (int k = 0; k < n; k++)
		for (int j = k; j < n; j++) {
			t[j] = (char)(t[k] + f$i(s, j));
			sum += t[j] > 3 ? f$i(s, k + 1) / (k + 1) : t[j] << 2;
		}
	return sum;
}
EOT
	i=$((i + 1))
done >work.c

[ -x /usr/bin/python3 ] || skip 'no /usr/bin/python3'
[ -x /usr/bin/sqlite3 ] || skip 'no /usr/bin/sqlite3'
cc1=$(gcc -print-prog-name=cc1 2>/dev/null)
[ -x "$cc1" ] || skip "no cc1 of gcc"
agree python3 /usr/bin/python3 work.py
agree sqlite3 /usr/bin/sqlite3 :memory: '.read work.sql'
agree cc1 "$cc1" -quiet -O2 -g work.c -o /dev/null

echo "1..$mew_count"
