#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Only the loop counts: what runs in pauses, before the loop and after it is in no figure.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

bench=$MEW_BUILDDIR/tests/fixtures/acceptance

# share CASE FUNCTION: of the case's self time, by the functions table.
share()
{
	sqlite3 x.db "select coalesce(sum(cs.weight) filter (where f.name = '$2'), 0) / sum(cs.weight)
		from cpu_stack cs join case_ c on c.id = cs.case_
		join stack s on s.id = cs.stack join function f on f.id = s.function
		where c.name = '$1'"
}

# anywhere CASE FUNCTION: samples with the function at any depth.
anywhere()
{
	sqlite3 x.db "with recursive up(c, samples, id) as (
			select cs.case_, cs.samples, cs.stack from cpu_stack cs
			union all select up.c, up.samples, s.parent from up join stack s on s.id = up.id
				where s.parent > 0)
		select coalesce(sum(up.samples), 0) from up join stack s on s.id = up.id
		join function f on f.id = s.function join case_ c on c.id = up.c
		where c.name = '$1' and f.name = '$2'"
}

check_only_hot()
{
	holds "no sample of $1 in decoy" "$(anywhere "$1" decoy) == 0"
	holds "hot has the self time of $1" "$(share "$1" hot) >= 0.95"
	case $(cell x.csv "$1" top_function) in
	"hot (acceptance.c:"[1-9]*) pass "$1: top function is hot with its line" ;;
	*) fail "$1: top function is $(cell x.csv "$1" top_function)" x.csv ;;
	esac
}

need sqlite3
# The case's own readings are of all rounds, paused_time is of the sampled ones: where another program takes the
# processor in one of them alone they differ, so there are three tries.
for mode in ioctl clock auto; do
	for try in 1 2 3; do
		rm -f x.db
		run 0 "$MEW_PERF" cpu --pause=$mode -k '^pause$' -d x.db -o x.csv "$bench"
		own=$(awk '$1 == "decoy" { print $3 / $4 }' err)
		bounds="0.95 * $own * $(cell x.csv pause iterations) <= $(cell x.csv pause paused_time) <= (1.05 * $own +
			$(cell x.csv pause pause_cost)) * $(cell x.csv pause iterations)"
		python3 -c "import sys; sys.exit(not ($bounds))" && break
	done
	check_only_hot pause
	holds "paused time by $mode (try $try)" "$bounds"
	eval "cost_$mode=$(cell x.csv pause pause_cost)"
done
# Both have the clock's two readings; one has system calls too.
# shellcheck disable=SC2154
holds "what a pause costs is measured as it is done" "$cost_ioctl > 1.5 * $cost_clock > 2e-8"

rm -f x.db
run 0 "$MEW_PERF" cpu -k '^setup$' -d x.db -o x.csv "$bench"
check_only_hot setup

rm -f x.db
run 0 "$MEW_PERF" cpu -k '^leave$' --interval 1ms -n 20000 -d x.db -o x.csv "$bench"
check_only_hot leave
holds "passes really done" "0 < $(cell x.csv leave iterations) <= 20000"
case $(cell x.csv leave verdict) in
*early*) pass "the verdict says that the loop was left early" ;;
*) fail "verdict of a left loop: $(cell x.csv leave verdict)" x.csv ;;
esac

# 3,000 samples in hot: samples times interval, with no correction, are the loop's CPU time; and so are the weights.
rm -f x.db
run 0 "$MEW_PERF" cpu -k '^pause$' --interval 1ms -n 36000 -d x.db -o x.csv "$bench"
holds "enough samples" "$(cell x.csv pause sample_count) >= 3000"
cpu="($(cell x.csv pause wall_time) - $(cell x.csv pause off_cpu_time))"
holds "samples are the CPU time of the loop" "abs($(cell x.csv pause sample_count) * 0.001 / $cpu - 1) <= 0.06"
holds "weights are the CPU time of the loop" \
	"abs($(sqlite3 x.db "select sum(cs.weight) from cpu_stack cs") / $cpu - 1) <= 0.06"
