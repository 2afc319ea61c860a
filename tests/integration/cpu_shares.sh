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
run 0 "$MEW_PERF" cpu -k '^paced$' --interval 1ms -n 3000 -d y.db -o y.csv "$bench"
holds "enough samples" "$(cell y.csv paced sample_count) >= 1500"
first=$(sqlite3 y.db "with recursive up(weight, id) as (
		select cs.weight, cs.stack from cpu_stack cs
		union all select up.weight, s.parent from up join stack s on s.id = up.id
			where s.parent > 0)
	select sum(up.weight) filter (where f.name = 'first_half') / sum(up.weight)
	from up join stack s on s.id = up.id join function f on f.id = s.function
	where f.name in ('first_half', 'second_half')")
holds "each half has its half" "abs($first - 0.5) <= 0.06"
