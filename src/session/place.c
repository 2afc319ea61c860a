/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void free_place(struct mew_place *p)
{
	if (!p)
		return;
	mew_symbols_free(p->symbols);
	free((char *)(uintptr_t)p->module.path);
	free(p);
}

void mew_places_done(struct mew_places *l)
{
	for (size_t i = 0; i < l->n; i++)
		free_place(l->places[i]);
	free(l->places);
	memset(l, 0, sizeof *l);
}

static uint32_t add(struct mew_places *l, const struct mew_place *like)
{
	struct mew_place *p;

	if (l->n == UINT32_MAX || MEW_ARRAY_PUSH(l->places, l->n, l->cap))
		return UINT32_MAX;
	p = malloc(sizeof *p);
	if (p) {
		*p = *like;
		p->module.path = strdup(like->module.path);
	}
	if (!p || !p->module.path) {
		free_place(p);
		return UINT32_MAX;
	}
	l->places[l->n] = p;
	return (uint32_t)l->n++;
}

/* Those of one process come one after the other: the newest first. */
static uint32_t find_or_add(struct mew_places *l, const struct mew_place *like)
{
	for (size_t i = l->n; i-- > 0;) {
		const struct mew_place *p = l->places[i];

		if (p->module.file == like->module.file && p->pid == like->pid &&
		    p->name == like->name && p->module.error == like->module.error &&
		    !strcmp(p->module.path, like->module.path))
			return (uint32_t)i;
	}
	return add(l, like);
}

uint32_t mew_places_find(struct mew_places *l, const struct mew_place_of *of, uint64_t pc,
			 int is_return, uint64_t time_ns, uint64_t *ret_at)
{
	static const char anonymous[] = "anon", unknown[] = "unknown";
	uint64_t in = pc - (is_return != 0);
	struct mew_place_known *known =
		&l->cache[((in ^ of->version << 32) * 0x9e3779b97f4a7c15u) >>
			  (64 - MEW_PLACES_CACHE_BITS)];
	struct mew_place like = {.module = {.path = "", .fd = -1}, .pid = of->pid};
	const struct mew_mapping *mapping;
	const struct mew_module *module;
	uint64_t bias = 0;
	uint32_t place;

	if (of->version && known->version == of->version && known->pc == in) {
		*ret_at = pc - known->bias;
		return known->place;
	}
	mapping = mew_modules_find(of->modules, in, time_ns);
	module = mapping ? mew_modules_get(of->modules, mapping->module) : NULL;
	if (module)
		like.module = *module;
	else
		like.name = mapping ? anonymous : unknown;
	/* What is no ELF file has its names, if any, from the process. */
	if (module && module->file && module->error != ENOEXEC) {
		like.pid = 0;
		bias = mapping->load_bias;
	}
	place = find_or_add(l, &like);
	if (place == UINT32_MAX)
		return place;
	if (of->version)
		*known = (struct mew_place_known){in, of->version, bias, place};
	*ret_at = pc - bias;
	return place;
}

struct mew_symbols *mew_places_symbols(void *arg, uint32_t group, uint64_t *ret_time_ns)
{
	struct mew_places *l = arg;
	struct mew_place *p;

	if (group >= l->n)
		return NULL;
	p = l->places[group];
	*ret_time_ns = 0;
	if (!p->symbols)
		p->symbols = mew_symbols_new_place(p->name ? NULL : &p->module, p->name);
	if (p->symbols)
		mew_symbols_set_process(p->symbols, (pid_t)p->pid, l->since_unix_ns);
	return p->symbols;
}
