#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names with commas, quotes, newlines and formulas, and a locale with a decimal comma: the CSV is read back by Python's reader, and its
# bytes do not depend on the locale.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need objcopy localedef
[ -f /usr/share/i18n/locales/de_DE ] || skip "no sources of the locale de_DE (package locales)"
mkdir locales && localedef -i de_DE -f UTF-8 "$mew_dir/locales/de_DE.UTF-8" >log 2>&1
[ -d locales/de_DE.UTF-8 ] || broken "localedef made no locale"

evil='evil,"fn";(x) <y>
=2+2'
build()
{
	"$CC" -std=gnu11 -O2 -I"$MEW_SRCDIR/include" -c "$MEW_SRCDIR/tests/fixtures/hostile.c" -o hostile.o &&
		objcopy --redefine-sym "plain_name_one=$evil" hostile.o renamed.o &&
		"$CC" renamed.o "$MEW_BUILDDIR/.libs/libmew.a" -lpthread -o hostile
}
build 2>log || broken "cannot build the fixture: $(cat log)"

# in_german COMMAND...: with a locale that writes 1,5
in_german()
{
	env MEW_TEST_LOCALE=1 LOCPATH="$mew_dir/locales" LC_ALL=de_DE.UTF-8 "$@"
}

run 0 "$MEW_PERF" mem -n 20 -d x.db --csv ./hostile
cp out c.csv
run 0 in_german "$MEW_PERF" mem -n 20 -d y.db --csv ./hostile
cmp c.csv out >log 2>&1 || fail "the locale changes the CSV" c.csv out
pass "heap CSV is the same under a German locale"

python3 - c.csv <<'PY' || fail "CSV read back" c.csv
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8")))
names = [r[0] for r in rows[1:]]
assert names == ['comma, quote " and ; semicolon', "new\nline", "'=1+1", "'-2+3", "\u00e4\u00f6 </script> <b>"], names
assert len({len(r) for r in rows}) == 1
PY
pass "case names come back"

run 0 "$MEW_PERF" cpu -d x.db --interval 1ms -n 300 --csv ./hostile
python3 - out "$evil" <<'PY' || fail "function name in the CSV" out
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
assert all(r["top_function"].startswith(sys.argv[2]) for r in rows), rows
for r in rows:
    for f in ("wall_time", "interval", "top_function_total_self_time"):
        float(r[f])
PY
pass "the function's hostile name comes back"

# Two iterations have no samples to speak of: the row has a warning, in one line.
run 0 "$MEW_PERF" cpu --no-db -n 2 -k line ./hostile
grep -qF 'mew-perf: warning: new\nline: ' err || fail "a message with a newline in a name" err
grep -q '^mew-perf: hint: .* -k .new.line. ' err || fail "a hint with a newline in a name" err
! grep -qv '^mew-perf: ' err || fail "a newline in a name breaks a message" err
pass "messages are one line each"

run 0 ./hostile -n 1
! grep -q 'without optimisation' err || fail "entries made by hand are taken for a build without -O" err
pass "entries made by hand get no warning of the compiler's flags"

run 0 "$MEW_PERF" report -d x.db --csv
cp out c.csv
run 0 in_german "$MEW_PERF" report -d x.db --csv
cmp c.csv out >log 2>&1 || fail "the locale changes the report's CSV" c.csv out
pass "report CSV is the same under a German locale"
run 0 "$MEW_PERF" report -d x.db
[ "$(grep -c "$(printf '\033')" out)" -eq 0 ] || fail "control characters in the table" out
pass "the table is clean"
