# SPDX-License-Identifier: Apache-2.0
"""judge.py COUNTERS SIGNED: whether what the emulated machine printed in its two runs (guest.sh) is right. A line a
check; the last line is `N passed, N failed`."""

import csv
import io
import math
import re
import sys

passed = failed = 0


def check(text, holds, shown=""):
    global passed, failed
    if holds:
        passed += 1
        print(f"ok {passed + failed} - {text}")
    else:
        failed += 1
        print(f"not ok {passed + failed} - {text}")
        for line in str(shown).splitlines()[-40:]:
            print(f"# {line}")


class Part:
    """The output of one command, and what it ended with."""

    def __init__(self, text, status):
        self.text, self.status = text, status
        start = text.find("name,label,")
        if start < 0:
            start = text.find("function,file,")
        self.rows = list(csv.DictReader(io.StringIO(text[start:]))) if start >= 0 else []

    def row(self):
        return self.rows[0] if self.rows else {}

    def number(self, field):
        try:
            return float(self.row().get(field) or "nan")
        except ValueError:
            return float("nan")

    def of(self, function, field):
        """The sum over the rows of a function."""
        return sum(float(r[field] or 0) for r in self.rows if r["function"] == function)

    def sum(self, field):
        return sum(float(r[field] or 0) for r in self.rows)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read().replace("\r", "")
    parts = {}
    for m in re.finditer(r"^@@begin (.*)\n((?:.*\n)*?)@@end (\d+)$", text, re.M):
        parts[m[1]] = Part(m[2], int(m[3]))
    check(f"the machine came to the end of {path}", "\n@@done" in text, text[-3000:])
    return parts


def get(parts, name):
    return parts.get(name, Part("no such part: the machine did not come to it", -1))


def units(parts):
    for name, part in parts.items():
        if not name.startswith("unit "):
            continue
        n_ok = len(re.findall(r"^ok ", part.text, re.M))
        bad = part.status != 0 or not n_ok or re.search(r"^not ok ", part.text, re.M)
        check(f"{name}: {n_ok} tests", not bad, part.text)


def walks(parts, where):
    for mode in ("recursion", "realigned", "qsort", "signal", "thread"):
        part = get(parts, f"walk {mode}")
        check(f"{where}: a walk agrees with libc: {mode}", part.status == 0, part.text)
    part = get(parts, "walk sample 300")
    m = re.search(r"samples=(\d+) differ=(\d+)", part.text)
    check(f"{where}: a sample anywhere is unwound as libc does it",
          m and int(m[1]) >= 300 and int(m[2]) * 100 <= int(m[1]), part.text)


def is_clean(name, part, verdict="ok"):
    row = part.row()
    check(f"{name}: status 0, by cycles:u, nothing lost, cut or unknown, verdict {verdict}",
          part.status == 0 and row.get("profiler") == "perf_event:cycles:u" and
          row.get("lost") == "0" and row.get("truncated") == "0" and row.get("unknown") == "0" and
          re.fullmatch(verdict, row.get("verdict", "")), part.text)


def is_whole(row, user_s):
    """Functions, kernel and off-CPU time are what the loop took."""
    wall = row.number("wall_time")
    found = user_s + row.number("kernel_time") + row.number("off_cpu_time")
    return abs(found / wall - 1) <= 0.03


def shares(parts):
    for name in ("shares", "shares_root", "shares_cycles", "shares_count", "shares_interval"):
        part, functions = get(parts, name), get(parts, name + ".functions")
        three, one = functions.of("three", "self_time"), functions.of("one", "self_time")
        if name == "shares_count":
            # 400 passes of 4 x 20,000 turns; five instructions a turn, so five cycles.
            n = 400 * 80000 * 5 / 100003
            check("a sample every 100003 cycles", abs(part.number("sample_count") / n - 1) <= 0.01,
                  part.text)
            check("what goes by count has no interval", part.row().get("interval") == "", part.text)
        else:
            is_clean(name, part)
        # Three times the error that so many samples have.
        error = 3 * math.sqrt(0.75 * 0.25 / max(part.number("sample_count"), 1))
        check(f"{name}: three has three quarters",
              abs(three / (three + one or 1) - 0.75) <= error, functions.text)
        check(f"{name}: samples are turned into the loop's time",
              is_whole(part, functions.sum("self_time")), part.text + functions.text)
    check("an interval that is given is kept",
          get(parts, "shares_interval").number("interval") == 1e-3,
          get(parts, "shares_interval").text)


def pauses(parts):
    for how in ("ioctl", "clock"):
        part, functions = get(parts, f"pause_{how}"), get(parts, f"pause_{how}.functions")
        is_clean(f"pause by {how}", part, "ok; pauses by clock" if how == "clock"
                 else r"ok|pauses cost \d+% of the loop's time")
        check(f"pause by {how}: no sample in what runs in the pause",
              functions.of("hot", "self_time") > 0 and
              not [r for r in functions.rows if r["function"] == "decoy"], functions.text)
        m = re.search(r"^decoy pause (\S+) (\d+)", part.text, re.M)
        own = float(m[1]) / int(m[2]) * part.number("iterations") if m else float("nan")
        paused = part.number("paused_time")
        dear = part.number("pause_cost") * part.number("iterations")
        check(f"pause by {how}: paused time", 0.95 * own <= paused <= 1.05 * own + dear, part.text)
        check(f"pause by {how}: the loop's time is all there",
              is_whole(part, part.number("top_function_total_self_time")), part.text)


def times(parts):
    part = get(parts, "kernel")
    check("page faults are kernel time, by the companion clock",
          part.number("kernel_time") >= 0.3 * part.number("wall_time"), part.text)
    part = get(parts, "half_asleep")
    check("asleep half of the time",
          0.45 <= part.number("off_cpu_time") / part.number("wall_time") <= 0.55, part.text)
    part, functions = get(parts, "pool"), get(parts, "pool.functions")
    check("a pool's thread is sampled while the loop waits for it",
          part.number("off_cpu_time") >= 0.9 * part.number("wall_time") and
          abs(functions.of("pool_work", "self_time") / part.number("wall_time") - 1) <= 0.1,
          part.text + functions.text)
    part = get(parts, "paced.functions")
    first, second = (part.of(f + "_half", "total_time") for f in ("first", "second"))
    check("a loop of a period of its own: each half has its half",
          abs(first / (first + second or 1) - 0.5) <= 0.06, part.text)
    part = get(parts, "whole")
    check("a whole program by cycles:u",
          part.status == 0 and part.row().get("profiler") == "perf_event:cycles:u" and
          part.number("sample_count") > 20 and part.number("truncated") == 0, part.text)


def in_kernel(parts):
    part, functions = get(parts, "reads"), get(parts, "reads.functions")
    kernel_s = part.number("kernel_time")
    of_kernel = [r for r in functions.rows if r["module"] == "[kernel]"]
    m = re.search(r"^system reads (\S+)", part.text, re.M)
    check("cycles in both modes: status 0, nothing lost, cut or unknown",
          part.status == 0 and part.row().get("profiler") == "perf_event:cycles:uk" and
          part.row().get("lost") == part.row().get("truncated") == part.row().get("unknown") == "0" and
          part.row().get("verdict") == "ok", part.text)
    # The system's own reading is by ticks of milliseconds.
    check("the kernel's share is the system's",
          m and abs(kernel_s / functions.sum("self_time") - float(m[1])) <= 0.05, part.text + functions.text)
    check("the kernel's functions add up to the kernel's time",
          abs(sum(float(r["self_time"] or 0) for r in of_kernel) / kernel_s - 1) <= 1e-6, functions.text)
    check("both modes are the loop's time",
          is_whole(part, functions.sum("self_time") - kernel_s), part.text + functions.text)
    check("the kernel's functions have names, below who called them",
          functions.of("vfs_read", "total_time") >= 0.95 * kernel_s and
          0.95 * kernel_s <= functions.of("fill", "total_time") <= 1.05 * kernel_s, functions.text)
    part = get(parts, "reads_user")
    check("who may not look into the kernel is told what would help",
          part.status == 125 and "perf_event_paranoid is 2" in part.text, part.text)


def doubts(parts):
    part = get(parts, "crowded")
    m = re.search(r"cycles:u had a counter for (\d+) % of the time", part.row().get("verdict", ""))
    check("an event that shares its counter says so", m and 0 < int(m[1]) < 99, part.text)
    part = get(parts, "misses")
    check("what this processor does not count is an error, and no other event",
          part.status == 2 and "cache-misses:u" in part.text and not part.rows, part.text)
    # Some emulators lose most samples of this event.
    part = get(parts, "instructions")
    check("an event that gives fewer samples than its count makes says so",
          "samples where it counted for" in part.row().get("verdict", "") or
          abs(part.number("sample_count") * part.number("interval") /
              part.number("wall_time") - 1) <= 0.2, part.text)
    part = get(parts, "throttled")
    check("throttling is told", "throttled" in part.row().get("verdict", ""), part.text)


# By hand: see acceptance_heap.cc.
HEAP = {
    "all_kinds": "peak_bytes 1600 total_bytes 1600 total_allocations 900 allocated_bytes 210000 frees 700 "
                 "temporary 100 leaked_bytes 0 first_iteration_allocations 9 foreign_frees 0 lost 0 verdict ok",
    "foreign_and_held": "peak_bytes 6400 total_bytes 6400 total_allocations 100 leaked_bytes 6400 "
                        "foreign_frees 100 lost 0 verdict ok",
    "in_pause": "peak_bytes 1300 total_bytes 1300 total_allocations 200 allocated_bytes 130000 frees 100 "
                "foreign_frees 200 lost 0 verdict ok",
    "edges": "peak_bytes 104 total_bytes 104 total_allocations 300 allocated_bytes 10400 frees 300 "
             "temporary 200 lost 0 verdict ok",
}


def heap(parts, where):
    part = get(parts, "heap")
    for case, figures in HEAP.items():
        row = next((r for r in part.rows if r["name"] == case), {})
        words = figures.split()
        wrong = [f"{f} is {row.get(f)}, not {v}" for f, v in zip(words[::2], words[1::2])
                 if row.get(f) != v]
        check(f"{where}: heap figures of {case}", part.status == 0 and not wrong,
              "\n".join(wrong) + "\n" + part.text)


def joined(parts):
    part = get(parts, "joined")
    row = next((r for r in part.rows if r.get("function") == "churn"), {})
    check("CPU and heap are joined by function",
          part.status == 0 and float(row.get("allocations_per_iteration") or 0) == 3200 and
          float(row.get("self_time") or 0) > 0 and float(row.get("tax_time") or 0) > 0, part.text)
    check("self time and tax are all of the time",
          abs(part.sum("self_share") + part.sum("tax_share") - 1) <= 0.01, part.text)


def main():
    counters, signed = read(sys.argv[1]), read(sys.argv[2])
    units(counters)
    walks(counters, "plain")
    check("the vDSO's trampoline is known", "signal=1" in get(counters, "vdso").text,
          get(counters, "vdso").text)
    for protection in ("none", "standard"):
        part = get(counters, f"stub {protection}")
        check(f"a stub of the PLT is the function that it calls, branch protection {protection}",
              part.text.split("\t")[2:3] == ["malloc"], part.text)
    shares(counters)
    pauses(counters)
    times(counters)
    in_kernel(counters)
    doubts(counters)
    heap(counters, "plain")
    joined(counters)
    check("a processor that signs return addresses", " paca" in get(signed, "features").text,
          get(signed, "features").text)
    walks(signed, "signed")
    heap(signed, "signed")
    part = get(signed, "signed_cpu")
    check("signed: samples are rooted",
          part.status == 0 and part.number("sample_count") > 50 and
          part.number("truncated") == 0, part.text)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
