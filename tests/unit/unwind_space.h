/* SPDX-License-Identifier: Apache-2.0 */
/* A space of unwind tables made by hand, for the tests of table.h and walk.h. */
#ifndef MEW_TESTS_UNWIND_SPACE_H
#define MEW_TESTS_UNWIND_SPACE_H

#include <stdlib.h>
#include <string.h>

#include "unwind/table.h"

struct space {
	struct mew_unwind_table *table;
	size_t bytes;
};

static inline struct space space_new(void)
{
	struct space s = {.bytes = sizeof(struct mew_unwind_table) + 65536};

	s.table = calloc(1, s.bytes);
	if (!s.table)
		abort();
	s.table->magic = MEW_UNWIND_TABLE_MAGIC;
	s.table->bytes = sizeof(struct mew_unwind_table);
	return s;
}

static inline void space_free(struct space *s)
{
	free(s->table);
	s->table = NULL;
}

/* A mapping [start, end) whose rules count from start. */
static inline struct mew_unwind_table_module *space_add(struct space *s, uint64_t start,
							uint64_t end, const struct mew_rule *rules,
							uint32_t n_rules)
{
	struct mew_unwind_table *t = s->table;
	struct mew_unwind_table_module *m = &t->modules[t->n_modules];

	if (t->bytes + n_rules * sizeof(*rules) > s->bytes)
		abort();
	*m = (struct mew_unwind_table_module){
		.start_pc = start,
		.end_pc = end,
		.base = start,
		.rules_off = t->bytes,
		.n_rules = n_rules,
		.id = t->n_modules,
	};
	memcpy((char *)t + t->bytes, rules, n_rules * sizeof(*rules));
	t->bytes += n_rules * sizeof(*rules);
	t->n_modules++;
	t->generation++;
	return m;
}

/* What rules of m refer to. */
static inline void space_refer(struct space *s, struct mew_unwind_table_module *m,
			       const struct mew_rule_saves *saves, uint32_t n_saves,
			       const struct mew_op *ops, uint32_t n_ops)
{
	struct mew_unwind_table *t = s->table;

	if (t->bytes + n_saves * sizeof(*saves) + n_ops * sizeof(*ops) > s->bytes)
		abort();
	m->saves_off = t->bytes;
	m->n_saves = n_saves;
	memcpy((char *)t + t->bytes, saves, n_saves * sizeof(*saves));
	t->bytes += n_saves * sizeof(*saves);
	m->ops_off = t->bytes;
	m->n_ops = n_ops;
	memcpy((char *)t + t->bytes, ops, n_ops * sizeof(*ops));
	t->bytes += n_ops * sizeof(*ops);
}

#endif
