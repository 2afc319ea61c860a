/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/symbol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "symbol/binary.h"
#include "symbol/kernel.h"
#include "symbol/perfmap.h"

/* What is known of files, whoever maps them. Binaries stay open until all is forgotten. */
static struct {
	struct mew_function_pool pool;
	struct mew_binary **binaries; /* owned, each */
	size_t n, cap;
	struct mew_kernel kernel;
	int split_clones;
} known;

struct mew_symbols {
	const struct mew_modules *modules; /* borrowed; NULL: of one place */
	const struct mew_module *module;   /* that place, borrowed; NULL: in no file */
	const char *name;                  /* then: what it is called */
	struct mew_binary **list; /* owned, not each; by the module's id, NULL: not looked into */
	size_t n_list, cap_list;
	pid_t pid; /* 0: not known */
	int64_t since_unix_ns;
	bool map_read;
	struct mew_perf_map map;
	struct mew_map nameless; /* pc outside of files -> struct mew_found * */
};

void mew_symbols_split_clones(int on)
{
	known.split_clones = on;
}

void mew_symbols_forget(void)
{
	size_t i;

	for (i = 0; i < known.n; i++)
		mew_binary_free(known.binaries[i]);
	free(known.binaries);
	mew_kernel_done(&known.kernel);
	mew_function_pool_done(&known.pool);
	known.binaries = NULL;
	known.n = known.cap = 0;
}

/* 0 or -ENOMEM. */
static int begin_pool(void)
{
	return known.pool.arena ? 0 : mew_function_pool_init(&known.pool);
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
	known.binaries[known.n] = mew_binary_open(module, &known.pool, known.split_clones);
	return known.binaries[known.n] ? known.binaries[known.n++] : NULL;
}

/* NULL without memory. */
static struct mew_binary *get_binary(struct mew_symbols *s, uint32_t id)
{
	const struct mew_module *module = s->modules ? mew_modules_get(s->modules, id) : s->module;

	if (!module || mew_array_grow(&s->list, &s->cap_list, (size_t)id + 1, sizeof(*s->list)))
		return NULL;
	while (s->n_list <= id)
		s->list[s->n_list++] = NULL;
	if (!s->list[id])
		s->list[id] = find_binary(module);
	return s->list[id];
}

/* Of code that is in no file: by the process's perf map, else `name`. NULL without memory. */
static const struct mew_found *mapped_at(struct mew_symbols *s, uint64_t pc, const char *name,
					 const char *module)
{
	struct mew_function f = {.module = "", .source = MEW_SYMBOL_ELF};
	const struct mew_function *function;
	struct mew_found *found;
	uint64_t value;

	if (mew_map_get(&s->nameless, pc, &value))
		return (const struct mew_found *)(uintptr_t)value;
	if (s->pid && !s->map_read &&
	    mew_perf_map_read(s->pid, s->since_unix_ns, &s->map) == -ENOMEM)
		return NULL;
	s->map_read = true;
	f.name = f.linkage = mew_perf_map_find(&s->map, pc);
	function = f.name ? mew_function_intern(&known.pool, &f)
			  : mew_function_nameless(&known.pool, name, module);
	found = function ? mew_found_new(&known.pool, 1) : NULL;
	if (!found || mew_map_put(&s->nameless, pc, (uintptr_t)found))
		return NULL;
	found->frames[0].function = function;
	return found;
}

const struct mew_symbol_frame *mew_symbols_at(struct mew_symbols *s, uint64_t pc, int is_return,
					      uint64_t time_ns, unsigned *ret_n)
{
	/* Of one place: that it is mapped is known. */
	struct mew_mapping place = {.module = s->module ? 0 : UINT32_MAX};
	const struct mew_mapping *mapping = &place;
	const struct mew_found *f;
	struct mew_binary *b = NULL;

	pc -= is_return != 0;
	if (s->modules)
		mapping = mew_modules_find(s->modules, pc, time_ns);
	if (mapping && mapping->module != UINT32_MAX) {
		b = get_binary(s, mapping->module);
		f = b ? mew_binary_at(b, pc - mapping->load_bias) : NULL;
		/* Memory that compilers share with themselves, as memfd, looks like a file. */
		if (f && mew_binary_is_blank(b))
			f = mapped_at(s, pc, f->frames[0].function->name,
				      f->frames[0].function->module);
	} else {
		f = mapped_at(s, pc, s->name ? s->name : mapping ? "anon" : "unknown", "");
	}
	if (!f)
		return NULL;
	*ret_n = f->n;
	return f->frames;
}

const struct mew_symbol_frame *mew_symbols_kernel_at(uint64_t pc, int is_return, unsigned *ret_n)
{
	const struct mew_found *f;

	if (begin_pool())
		return NULL;
	f = mew_kernel_at(&known.kernel, &known.pool, known.split_clones, pc - (is_return != 0));
	if (!f)
		return NULL;
	*ret_n = f->n;
	return f->frames;
}

struct mew_symbols *mew_symbols_new(const struct mew_modules *modules, struct mew_error *error)
{
	struct mew_symbols *s = NULL;

	if (!begin_pool())
		s = calloc(1, sizeof(*s));
	if (!s) {
		mew_error_errno(error, -ENOMEM, "cannot look up symbols");
		return NULL;
	}
	s->modules = modules;
	mew_map_init(&s->nameless);
	return s;
}

struct mew_symbols *mew_symbols_new_place(const struct mew_module *module, const char *name)
{
	struct mew_symbols *s = mew_symbols_new(NULL, NULL);

	if (s) {
		s->module = module;
		s->name = name;
	}
	return s;
}

void mew_symbols_set_process(struct mew_symbols *s, pid_t pid, int64_t since_unix_ns)
{
	s->pid = pid;
	s->since_unix_ns = since_unix_ns;
}

void mew_symbols_free(struct mew_symbols *s)
{
	if (!s)
		return;
	mew_perf_map_done(&s->map);
	mew_map_done(&s->nameless);
	free(s->list);
	free(s);
}

void mew_symbols_lacks(mew_symbols_lack_fn fn, void *arg)
{
	enum mew_symbol_lack lack;
	const char *path;
	uint64_t n;
	size_t i;

	for (i = 0; i < known.n; i++) {
		n = mew_binary_take_lack(known.binaries[i], &lack, &path);
		if (n)
			fn(arg, path, lack, n);
	}
	n = mew_kernel_take_lack(&known.kernel, &lack);
	if (n)
		fn(arg, MEW_KERNEL_MODULE, lack, n);
}

int mew_symbols_lack_debug(const char *path, struct mew_buffer *ret_build_id)
{
	size_t i;

	for (i = 0; i < known.n; i++) {
		if (mew_binary_lacks_debug(known.binaries[i], path, ret_build_id))
			return 1;
	}
	return 0;
}
