/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/table.h"

#include <stdbool.h>

_Static_assert(sizeof(struct mew_rule) == 16, "rules are shared between processes");
_Static_assert(sizeof(struct mew_op) == 16, "so are operations");

/* Whether n of each_bytes lie at off in the space. */
static bool fits(size_t space_bytes, uint64_t off, uint32_t n, size_t each_bytes)
{
	return off % 8 == 0 && off <= space_bytes && n <= (space_bytes - off) / each_bytes;
}

static const struct mew_rule *find_rule(const struct mew_unwind_table *t, size_t space_bytes,
					const struct mew_unwind_table_module *m, uint64_t pc)
{
	uint64_t off = pc - m->base, rules_off = m->rules_off;
	uint32_t lo = 0, hi = m->n_rules;
	const struct mew_rule *rules;

	if (pc < m->base || off > UINT32_MAX || !fits(space_bytes, rules_off, hi, sizeof(*rules)))
		return NULL;
	rules = (const struct mew_rule *)(const void *)((const char *)t + rules_off);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (rules[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || rules[lo - 1].cfa == MEW_CFA_NONE)
		return NULL;
	return &rules[lo - 1];
}

const struct mew_rule *mew_unwind_table_find(const struct mew_unwind_table *t, size_t space_bytes,
					     uint64_t pc,
					     const struct mew_unwind_table_module **ret_module)
{
	uint32_t n;

	if (space_bytes < sizeof(*t) || t->magic != MEW_UNWIND_TABLE_MAGIC)
		return NULL;
	n = __atomic_load_n(&t->n_modules, __ATOMIC_ACQUIRE);
	if (n > MEW_UNWIND_TABLE_MODULES)
		n = MEW_UNWIND_TABLE_MODULES;
	/* The newest first: it replaces what it overlaps. */
	while (n--) {
		const struct mew_unwind_table_module *m = &t->modules[n];

		if (pc < m->start_pc || pc >= __atomic_load_n(&m->end_pc, __ATOMIC_RELAXED))
			continue;
		if (ret_module)
			*ret_module = m;
		return find_rule(t, space_bytes, m, pc);
	}
	return NULL;
}

const struct mew_rule_saves *mew_unwind_table_saves(const struct mew_unwind_table *t,
						    size_t space_bytes,
						    const struct mew_unwind_table_module *m,
						    uint8_t index)
{
	uint64_t off = m->saves_off;
	uint32_t n = m->n_saves;

	if (index >= n || !fits(space_bytes, off, n, sizeof(struct mew_rule_saves)))
		return NULL;
	return (const struct mew_rule_saves *)(const void *)((const char *)t + off) + index;
}

const struct mew_op *mew_unwind_table_ops(const struct mew_unwind_table *t, size_t space_bytes,
					  const struct mew_unwind_table_module *m, int32_t index,
					  uint32_t *ret_n)
{
	uint64_t off = m->ops_off;
	uint32_t n = m->n_ops;

	if (index < 0 || (uint32_t)index >= n || !fits(space_bytes, off, n, sizeof(struct mew_op)))
		return NULL;
	*ret_n = n - (uint32_t)index;
	return (const struct mew_op *)(const void *)((const char *)t + off) + index;
}
