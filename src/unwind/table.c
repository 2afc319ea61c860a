/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/table.h"

_Static_assert(sizeof(struct mew_rule) == 16, "rules are shared between processes");

static const struct mew_rule *find_rule(const struct mew_unwind_table *t, size_t space_bytes,
					const struct mew_unwind_table_module *m, uint64_t pc)
{
	uint64_t off = pc - m->base, rules_off = m->rules_off;
	uint32_t lo = 0, hi = m->n_rules;
	const struct mew_rule *rules;

	if (pc < m->base || off > UINT32_MAX || rules_off % 8 || rules_off > space_bytes ||
	    hi > (space_bytes - rules_off) / sizeof(*rules))
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
