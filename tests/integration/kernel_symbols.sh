#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions of the kernel in stacks: with modifier k, below the functions that called them, by the names of /proc/kallsyms;
# their time is the kernel's and nobody else's; and where the kernel shows no names, none are shown.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

bench=$MEW_BUILDDIR/tests/fixtures/syscalls
[ -x "$bench" ] || broken "tests/fixtures/syscalls is not built"

# query FILE EXPRESSION: of a recording, with `f`: functions (name, module) by id, `stacks`: (functions from the outermost on,
# weight) of all samples, and `cases`: its rows, by name.
cat >query.py <<'PY'
import re, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
f = {r["id"]: (r["name"], r["module"]) for r in db.execute("SELECT * FROM function")}
tree = {r["id"]: r for r in db.execute("SELECT * FROM stack")}
cases = {r["name"]: r for r in db.execute("SELECT * FROM case_")}

def frames(at):
    found = []
    while at:
        found.insert(0, f[tree[at]["function"]])
        at = tree[at]["parent"]
    return found

stacks = [(frames(r["stack"]), r["weight"]) for r in db.execute("SELECT * FROM cpu_stack")]

def kernel(frame):
    return frame[1].startswith("[") and frame[1] != "[vdso]"

def weight(test):
    return sum(w for s, w in stacks if test(s))

# Whether what matches the second comes at some place inside of what matches the first.
def inside(outer, inner, stack):
    names = [n for n, m in stack]
    at = [i for i, n in enumerate(names) if re.fullmatch(outer, n)]
    return bool(at) and any(re.fullmatch(inner, n) and kernel(stack[i]) for i, n in enumerate(names) if i > at[0])

print(eval("(" + sys.argv[2] + ")"))
PY
query()
{
	python3 query.py "$@" || fail "cannot ask $1 for $2"
}

# Without the right there is one line that says why, and nothing is sampled.
status=0
"$MEW_PERF" cpu --no-db -e cpu-clock:uk -n 2 -k '^reads$' "$bench" >out 2>err || status=$?
if [ "$status" -eq 125 ]; then
	grep -q "kernel.perf_event_paranoid is" err || fail "refused without saying why" err
	skip "the kernel's side is not permitted: $(head -n 1 err)"
fi
[ "$status" -eq 0 ] || fail "cpu-clock:uk ends with $status" out err
addresses=$(grep -c -m 1 -v '^0* ' /proc/kallsyms)
[ "$addresses" -gt 0 ] || skip "/proc/kallsyms shows no addresses (kernel.kptr_restrict is $(cat /proc/sys/kernel/kptr_restrict))"

# ---- where the time goes ----

# The program's own reading is of all rounds and the row's of some, and other programs come and go: a few tries.
for mew_try in 1 2 3 4 5; do
	rm -f x.db
	run 0 "$MEW_PERF" cpu -d x.db -e cpu-clock:uk -n 15000 --interval 500us -k '^reads$' "$bench"
	share=$(query x.db 'cases["reads"]["kernel_time"] / (cases["reads"]["kernel_time"] + cases["reads"]["user_time"])')
	own=$(awk '$1 == "system" && $2 == "reads" { print $3 }' err)
	spent=$(query x.db '(cases["reads"]["user_time"] + cases["reads"]["kernel_time"] + cases["reads"]["off_cpu_time"]) /
		cases["reads"]["wall_time"]')
	python3 -c "exit(not (0.05 < $own < 0.98 and abs($share - $own) < 0.1 and abs($spent - 1) < 0.1))" && break
done
holds "the kernel's share is that of getrusage (try $mew_try)" "0.05 < $own < 0.98 and abs($share - $own) < 0.1"
holds "the functions of the kernel add up to the kernel's time" \
	"abs($(query x.db 'weight(lambda s: s and kernel(s[-1])) / cases["reads"]["kernel_time"]') - 1) < 1e-6"
holds "all functions add up to user and kernel time" \
	"abs($(query x.db 'weight(lambda s: 1) / (cases["reads"]["user_time"] + cases["reads"]["kernel_time"])') - 1) < 1e-6"
holds "the loop's time is accounted for once" "abs($spent - 1) < 0.1"
read_call='(__.*_)?(ksys|sys)_read|vfs_read'
holds "read is below the function that called it" \
	"$(query x.db "weight(lambda s: inside('fill', '$read_call', s)) / cases['reads']['kernel_time']") > 0.8"
holds "and not below another" "$(query x.db "weight(lambda s: inside('work', '$read_call', s))") == 0"
holds "the kernel's code has names" "$(query x.db 'cases["reads"]["unknown"] / cases["reads"]["sample_count"]') < 0.02"

run 0 "$MEW_PERF" cpu -d u.db -e cpu-clock:u -n 100 -k '^reads$' "$bench"
holds "without k no function is the kernel's" "$(query u.db 'sum(kernel(x) for x in f.values())') == 0"

run 0 "$MEW_PERF" cpu -d k.db -e cpu-clock:k -n 15000 --interval 500us -k '^reads$' "$bench"
holds "with k alone all are" "$(query k.db 'weight(lambda s: s and kernel(s[-1])) / weight(lambda s: 1)') == 1"
holds "and user time is what is left" "abs($(query k.db '(cases["reads"]["user_time"] + cases["reads"]["kernel_time"] +
	cases["reads"]["off_cpu_time"]) / cases["reads"]["wall_time"]') - 1) < 0.1 and $(query k.db 'cases["reads"]["user_time"]') > 0"

# ---- the report ----

run 0 "$MEW_PERF" run -d r.db -e cpu-clock:uk -n 50000 --interval 300us -k '^maps$' --csv --table=functions "$bench"
python3 - <<'PY' || fail "the report with functions of the kernel" out
import csv
rows = list(csv.DictReader(open("out", newline="")))
churn = [r for r in rows if r["function"].startswith("churn")]
shares = sum(float(r["self_share"]) + float(r["tax_share"]) for r in rows)
assert abs(shares - 1) < 1e-6, shares
assert len(churn) == 1 and float(churn[0]["tax_share"]) > 0.5, churn
assert not [r for r in rows if "munmap" in r["function"] and r["module"] == "[kernel]"]
PY
pass "the kernel inside of malloc is its caller's tax, and all shares come to 100 %"

# ---- whole programs ----

run 0 "$MEW_PERF" cpu -d w.db -e cpu-clock:uk sh -c 'dd if=/dev/zero of=/dev/null bs=1M count=4000 2>&1; :'
holds "a child of a whole program calls the kernel" \
	"$(query w.db "weight(lambda s: inside('.*', '$read_call', s)) / cases['sh']['kernel_time']") > 0.5"
holds "its functions of the kernel add up as well" \
	"abs($(query w.db 'weight(lambda s: s and kernel(s[-1])) / cases["sh"]["kernel_time"]') - 1) < 1e-6"

# Ticks that do not come, since the one before took too long: in no figure, and told.
run 0 "$MEW_PERF" cpu -d t.db -o t.csv -e cpu-clock:uk --interval 12us dd if=/dev/zero of=/dev/null bs=1M count=4000
spent=$(query t.db '(cases["dd"]["user_time"] + cases["dd"]["kernel_time"] + cases["dd"]["off_cpu_time"]) / cases["dd"]["wall_time"]')
grep -q 'of the time unexplained' t.csv || holds "all time is told, or what is missing" "abs($spent - 1) < 0.1"

# ---- where there are no names ----

# Root without the capability that shows addresses.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
	setpriv --bounding-set=-syslog cat /proc/kallsyms >kallsyms 2>/dev/null && ! grep -q -m 1 -v '^0* ' kallsyms; then
	run 0 setpriv --bounding-set=-syslog "$MEW_PERF" cpu -d n.db -e cpu-clock:uk -n 200 -k '^reads$' "$bench"
	grep -q "'\[kernel\]'.*no names" err || fail "nobody says that the names are hidden" err
	grep -q "hint: sysctl kernel.kptr_restrict=0" err || fail "nobody says what would help" err
	holds "without addresses all functions of the kernel are [kernel]" \
		"$(query n.db 'sorted({x[0] for x in f.values() if kernel(x)})') == ['[kernel]']"
else
	echo "# addresses cannot be hidden here: not tried"
fi
