# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Read results as a stranger would: by Python's csv module.  . "$MEW_SRCDIR/tests/integration/csv.sh"

need python3

# cell FILE KEY FIELD: prints one cell; fails when there is no such row or column.
cell()
{
	python3 - "$@" <<'PY' || fail "no cell $2 $3 in $1" "$1"
import csv, sys
path, key, field = sys.argv[1:4]
with open(path, newline="", encoding="utf-8", errors="surrogateescape") as f:
    rows = [r for r in csv.DictReader(f) if r["name"] == key]
if len(rows) != 1 or field not in rows[0]:
    sys.exit(1)
print(rows[0][field])
PY
}

# holds TEXT EXPRESSION: a Python expression must be true.
holds()
{
	if python3 -c "import sys; sys.exit(0 if ($2) else 1)"; then
		pass "$1: $2"
	else
		fail "$1: not $2" err
	fi
}
