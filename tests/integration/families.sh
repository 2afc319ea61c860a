#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Four cases of which one allocates and another burns: each figure in its own row; and the join of both.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

bench=$MEW_BUILDDIR/tests/fixtures/acceptance
run 0 "$MEW_PERF" mem --no-db -k '^family/' -n 50 -o m.csv "$bench"
run 0 "$MEW_PERF" cpu --no-db -k '^family/' -n 1000 --interval 1ms -o c.csv "$bench"
for i in 0 1 2 3; do
	key=family/case:$i
	[ "$(cell m.csv $key label)" = "n=$i" ] || fail "label of $key" m.csv
	want=0
	[ $i = 1 ] && want=400
	holds "allocations of $key" "$(cell m.csv $key total_allocations) == $want"
	holds "bytes of $key" "$(cell m.csv $key allocated_bytes) == $want * 1000"
	holds "peak of $key" "$(cell m.csv $key peak_bytes) == $want * 20"
	if [ $i = 2 ]; then
		holds "time of $key" "$(cell c.csv $key wall_time) >= 0.05"
		case $(cell c.csv $key top_function) in
		hot\ *) pass "top function of $key" ;;
		*) fail "top function of $key" c.csv ;;
		esac
	else
		# What others take of the CPU meanwhile is off-CPU time.
		holds "time of $key" "$(cell c.csv $key wall_time) - $(cell c.csv $key off_cpu_time) <= 0.02"
		case $(cell c.csv $key top_function) in
		hot\ *) fail "top function of $key" c.csv ;;
		esac
	fi
done

run 0 "$MEW_PERF" run -d x.db -k '^joined$' "$bench"
run 0 "$MEW_PERF" report -d x.db --csv
python3 - <<'PY' >verdict || fail "the joined report" out verdict
import csv, sys
rows = list(csv.DictReader(open("out", newline="")))
churn = [r for r in rows if r["function"] == "churn"]
assert len(churn) == 1, churn
c = churn[0]
assert float(c["self_share"]) > 0.05, c
assert float(c["tax_share"]) > 0, c
assert abs(float(c["allocations_per_iteration"]) - 3200) < 1e-6, c
assert float(c["peak_share"]) == 1, c
total = sum(float(r["self_share"]) + float(r["tax_share"]) for r in rows)
assert abs(total - 1) < 1e-6, total
assert not any(r["function"] in ("malloc", "free", "_int_malloc", "_int_free") for r in rows)
PY
pass "what burns and allocates is one row, taxed; self and tax add up to the whole"
