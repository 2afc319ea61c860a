/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/symbol.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "symbol/binary.h"

/* What is known of files, whoever maps them. Binaries stay open until all is forgotten. */
static struct {
	struct mew_function_pool pool;
	struct mew_binary **binaries; /* owned, each */
	size_t n, cap;
	struct mew_found *unknown; /* of what lies in no module */
} known;

/* A module of the process. */
struct module {
	struct mew_binary *binary; /* NULL: not looked into */
	enum mew_symbol_lack lack;
	uint64_t n_poor; /* look-ups that debug info would have answered better */
};

struct mew_symbols {
	const struct mew_modules *modules; /* borrowed */
	struct module *list;               /* owned; by the module's id */
	size_t n_list, cap_list;
};

static int begin(void)
{
	const struct mew_function *f;

	if (!known.pool.arena && mew_function_pool_init(&known.pool))
		return -ENOMEM;
	if (known.unknown)
		return 0;
	f = mew_function_nameless(&known.pool, "unknown", "");
	known.unknown = f ? mew_found_new(&known.pool, 1) : NULL;
	if (!known.unknown)
		return -ENOMEM;
	known.unknown->frames[0].function = f;
	return 0;
}

void mew_symbols_forget(void)
{
	size_t i;

	for (i = 0; i < known.n; i++)
		mew_binary_free(known.binaries[i]);
	free(known.binaries);
	mew_function_pool_done(&known.pool);
	known.binaries = NULL;
	known.n = known.cap = 0;
	known.unknown = NULL;
}

/* NULL without memory. */
static struct mew_binary *find_binary(const struct mew_module *module)
{
	size_t i;

	for (i = 0; i < known.n; i++) {
		if (mew_binary_is(known.binaries[i], module))
			return known.binaries[i];
	}
	if (MEW_ARRAY_PUSH(known.binaries, known.n, known.cap))
		return NULL;
	known.binaries[known.n] = mew_binary_open(module, &known.pool);
	return known.binaries[known.n] ? known.binaries[known.n++] : NULL;
}

/* NULL without memory. */
static struct module *get_module(struct mew_symbols *s, uint32_t id)
{
	const struct mew_module *module = mew_modules_get(s->modules, id);

	if (!module || mew_array_grow(&s->list, &s->cap_list, (size_t)id + 1, sizeof(*s->list)))
		return NULL;
	while (s->n_list <= id)
		s->list[s->n_list++] = (struct module){NULL, MEW_LACK_NONE, 0};
	if (!s->list[id].binary)
		s->list[id].binary = find_binary(module);
	return s->list[id].binary ? &s->list[id] : NULL;
}

const struct mew_symbol_frame *mew_symbols_at(struct mew_symbols *s, uint64_t pc, int is_return,
					      uint64_t time_ns, unsigned *ret_n)
{
	const struct mew_mapping *mapping;
	const struct mew_found *f = known.unknown;
	struct module *m;

	pc -= is_return != 0;
	mapping = mew_modules_find(s->modules, pc, time_ns);
	if (mapping && mapping->module != UINT32_MAX) {
		m = get_module(s, mapping->module);
		f = m ? mew_binary_at(m->binary, pc - mapping->load_bias) : NULL;
		if (!f)
			return NULL;
		if (f->lack) {
			m->lack = f->lack;
			m->n_poor++;
		}
	}
	*ret_n = f->n;
	return f->frames;
}

struct mew_symbols *mew_symbols_new(const struct mew_modules *modules, struct mew_error *error)
{
	struct mew_symbols *s = begin() ? NULL : calloc(1, sizeof(*s));

	if (!s) {
		mew_error_errno(error, -ENOMEM, "cannot look up symbols");
		return NULL;
	}
	s->modules = modules;
	return s;
}

void mew_symbols_free(struct mew_symbols *s)
{
	if (!s)
		return;
	free(s->list);
	free(s);
}

void mew_symbols_poor(const struct mew_symbols *s, mew_symbols_poor_fn fn, void *arg)
{
	size_t i;

	for (i = 0; i < s->n_list; i++) {
		if (s->list[i].n_poor)
			fn(arg, mew_modules_get(s->modules, (uint32_t)i), s->list[i].lack,
			   s->list[i].n_poor);
	}
}
