#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first program of the emulated machine: runs everything as an ordinary user, some things as root as well, and prints
# what came out for judge.py to read: `@@begin NAME`, the output, `@@end STATUS`.

PATH=/bin
LD_LIBRARY_PATH=/lib
CMOCKA_MESSAGE_OUTPUT=TAP
MEW_SRCDIR=/mew/src
export PATH LD_LIBRARY_PATH CMOCKA_MESSAGE_OUTPUT MEW_SRCDIR

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
# An emulated interrupt is slow: without this the kernel lowers the rate of sampling.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 2 >/proc/sys/kernel/perf_event_paranoid
cd /tmp || exit 1

# as USER NAME COMMAND: one word, a shell's.
as()
{
	echo "@@begin $2"
	su "$1" -c "$3" 2>&1
	echo "
@@end $?"
}

# cpu NAME OPTIONS: one run, first its row, then its functions.
cpu()
{
	as "${who:-user}" "$1" "/mew/mew-perf cpu -q -d /tmp/$1.db -o /tmp/$1.csv $2
		status=\$?; cat /tmp/$1.csv; exit \$status"
	as "${who:-user}" "$1.functions" "/mew/mew-perf report -q -d /tmp/$1.db --csv"
}

walks()
{
	for mode in recursion realigned qsort signal thread 'sample 300'; do
		as user "walk $mode" "/mew/walk_self $mode"
	done
}

case $(cat /proc/cmdline) in
*mew=signed*)
	as user features 'cat /proc/cpuinfo'
	walks
	as user heap "/mew/mew-perf mem -q -n 100 --no-db --csv /mew/heap_standard"
	as user signed_cpu "/mew/mew-perf cpu -q --no-db --csv -e cpu-clock -n 20000 -k all_kinds /mew/heap_standard"
	echo @@done
	poweroff -f
	;;
esac

for unit in /mew/unit/*; do
	as user "unit ${unit##*/}" "$unit"
done
walks
as user vdso "/mew/cfi_table '[vdso]'"
for protection in none standard; do
	as user "stub $protection" "/mew/symbolise /mew/heap_$protection \$(cat /mew/stub_$protection)"
done

bench=/mew/acceptance
cpu shares "-k '^shares$' -n 400 $bench"
who=root
cpu shares_root "-k '^shares$' -n 400 $bench"
who=
cpu shares_cycles "-k '^shares$' -n 400 -e cycles $bench"
cpu shares_count "-k '^shares$' -n 400 -c 100003 $bench"
cpu shares_interval "-k '^shares$' -n 400 --interval 1ms $bench"
for how in ioctl clock; do
	cpu pause_$how "--pause=$how -k '^pause$' -n 1000 $bench"
done
cpu kernel "-k '^kernel$' -n 100 $bench"
who=root
cpu reads "-k '^reads$' -n 1000 -e cycles:uk /mew/syscalls"
who=
as user reads_user "/mew/mew-perf cpu --no-db -n 2 -k '^reads$' -e cycles:uk /mew/syscalls"
cpu half_asleep "-k '^half_asleep$' -n 100 $bench"
cpu pool "-k '^pool$' -n 300 $bench"
cpu paced "-k '^paced$' -n 300 $bench"
as user crowded "/mew/mew-perf cpu -q --no-db --csv -k '^crowded$' -n 300 /mew/pmu"
as user instructions "/mew/mew-perf cpu -q --no-db --csv -k '^shares$' -n 200 -e instructions $bench"
as user misses "/mew/mew-perf cpu --no-db --csv -k '^shares$' -n 200 -e cache-misses $bench"
as user whole "/mew/mew-perf cpu -q --no-db -o /tmp/whole.csv /mew/unit/test_walk_broken >/dev/null 2>&1
	status=\$?; cat /tmp/whole.csv; exit \$status"
as user heap "/mew/mew-perf mem -q -n 100 --no-db --csv /mew/heap_none"
as user joined "/mew/mew-perf cpu -q -d /tmp/x.db -n 500 -k '^joined$' $bench >/dev/null &&
	/mew/mew-perf mem -q -d /tmp/x.db -n 50 -k '^joined$' $bench >/dev/null &&
	/mew/mew-perf report -q -d /tmp/x.db --csv"

# The rate can be set while the kernel may lower it.
echo 25 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
as user throttled "/mew/mew-perf cpu -q --no-db --csv -k '^shares$' -n 400 -c 100003 $bench"
echo @@done
poweroff -f
