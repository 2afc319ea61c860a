#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two functions that cost 3:1 under a recursion 20 deep, without frame pointers.

# shellcheck source=tests/integration/lib.sh
. "$MEW_SRCDIR/tests/integration/lib.sh"
# shellcheck source=tests/integration/csv.sh
. "$MEW_SRCDIR/tests/integration/csv.sh"

need sqlite3
bench=$MEW_BUILDDIR/tests/fixtures/acceptance
# about 6 s of samples, 1 ms apart
run 0 "$MEW_PERF" cpu -k '^shares$' --interval 1ms -n 48000 -d x.db -o x.csv "$bench"
samples=$(cell x.csv shares sample_count)
holds "enough samples" "$samples >= 5000"
share=$(sqlite3 x.db "select sum(cs.weight) filter (where f.name = 'three') / sum(cs.weight)
	from cpu_stack cs join stack s on s.id = cs.stack join function f on f.id = s.function
	where f.name in ('three', 'one')")
holds "three has three quarters" "abs($share - 0.75) <= 0.02"
holds "stacks are whole" "$(cell x.csv shares truncated) <= 0.001 * $samples"
depth=$(sqlite3 x.db "with recursive up(id, n, parent) as (
		select cs.stack, 0, s.parent from cpu_stack cs join stack s on s.id = cs.stack
			join function f on f.id = s.function where f.name = 'three'
		union all select up.id, up.n + (f.name = 'descend'), s.parent from up
			join stack s on s.id = up.parent join function f on f.id = s.function)
	select max(n) from up")
holds "all frames of the recursion are there" "$depth == 21"

# A loop in step with the clock, sampled at its own period: a sampler in step with it would see one half alone.
# Another program that takes the CPU takes it from the halves unevenly, so each is held against the case's own reading: of all
# rounds, where the samples are of some, hence a few tries.
first()
{
	sqlite3 y.db "with recursive up(weight, id) as (
			select cs.weight, cs.stack from cpu_stack cs
			union all select up.weight, s.parent from up join stack s on s.id = up.id
				where s.parent > 0)
		select sum(up.weight) filter (where f.name = 'first_half') / sum(up.weight)
		from up join stack s on s.id = up.id join function f on f.id = s.function
		where f.name in ('first_half', 'second_half')"
}

for try in 1 2 3 4; do
	rm -f y.db
	run 0 "$MEW_PERF" cpu -k '^paced$' --interval 1ms -n 3000 -d y.db -o y.csv "$bench"
	own=$(awk '$1 == "first" { print $3 }' err)
	bounds="0.35 <= $own <= 0.65 and abs($(first) - $own) <= 0.06"
	python3 -c "import sys; sys.exit(not ($bounds))" && break
done
holds "enough samples" "$(cell y.csv paced sample_count) >= 0.5 * 1000 * ($(cell y.csv paced wall_time) - $(
	cell y.csv paced off_cpu_time)) >= 300"
holds "each half has what it took (try $try)" "$bounds"

# Each round starts the period anew: they are long against it, however long it is.
run 0 "$MEW_PERF" cpu --no-db -k '^paced$' --interval 100ms -n 2000 -o z.csv "$bench"
holds "a long interval has its samples" "$(cell z.csv paced sample_count) >= 0.5 * 10 * ($(cell z.csv paced wall_time) - $(
	cell z.csv paced off_cpu_time)) >= 4"
