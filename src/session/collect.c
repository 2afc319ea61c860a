/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernel/record.h"
#include "session/collect.h"

#define COROUTINE_NAME "[coroutine]"
#define ENTRY_PREFIX "mew_run_"
#define ENTRY_SUFFIX "(mew_state*)" /* C++ */

/* What tells a child from its siblings. */
struct key {
	uint64_t pc;
	uint32_t parent, group;
	uint32_t flags;
	uint32_t zero;
};

int mew_collect_init(struct mew_collect *c)
{
	memset(c, 0, sizeof *c);
	mew_bytes_map_init(&c->index);
	mew_map_init(&c->hit_index);
	c->nodes = calloc(256, sizeof *c->nodes);
	if (!c->nodes)
		return -ENOMEM;
	c->cap_nodes = 256;
	c->n_nodes = 1;
	return 0;
}

void mew_collect_done(struct mew_collect *c)
{
	mew_bytes_map_done(&c->index);
	mew_map_done(&c->hit_index);
	free(c->nodes);
	free(c->hits);
	memset(c, 0, sizeof *c);
}

uint32_t mew_collect_child(struct mew_collect *c, uint32_t parent, uint32_t group, uint64_t pc,
			   int exact, enum mew_collect_mark mark)
{
	struct key key = {pc, parent, group, (uint32_t)exact | (uint32_t)mark << 1, 0};
	bool is_new;
	uint64_t *id;

	if (mew_array_grow((void **)&c->nodes, &c->cap_nodes, c->n_nodes + 1, sizeof *c->nodes))
		return UINT32_MAX;
	id = mew_bytes_map_add(&c->index, &key, sizeof key, c->n_nodes, &is_new);
	if (!id)
		return UINT32_MAX;
	if (is_new)
		c->nodes[c->n_nodes++] = (struct mew_collect_node){
			.pc = pc,
			.parent = parent,
			.group = group,
			.exact = (uint8_t)exact,
			.mark = (uint8_t)mark,
		};
	return (uint32_t)*id;
}

uint32_t mew_collect_stack(struct mew_collect *c, uint32_t group, const struct mew_walk_result *w,
			   enum mew_collect_mark mark)
{
	uint32_t node = 0;

	for (uint32_t i = w->n_frames; i-- > 0 && node != UINT32_MAX;) {
		int exact = mew_walk_is_exact(w, i);

		node = mew_collect_child(c, node, group, w->pcs[i], exact,
					 i + 1 == w->n_frames ? mark : MEW_COLLECT_WHOLE);
	}
	return node;
}

int mew_collect_tick(struct mew_collect *c, uint32_t thread, uint32_t node, int whole)
{
	uint64_t key = (uint64_t)thread << 32 | node, *at;
	bool is_new;

	if (mew_array_grow((void **)&c->hits, &c->cap_hits, c->n_hits + 1, sizeof *c->hits))
		return -ENOMEM;
	at = mew_map_add(&c->hit_index, key, c->n_hits, &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new)
		c->hits[c->n_hits++] = (struct mew_collect_hit){
			.node = node, .thread = thread, .whole = (uint8_t)whole};
	c->hits[*at].ticks++;
	c->hits[*at].samples++;
	return 0;
}

void mew_collect_settle(struct mew_collect *c, uint32_t thread, double weight_s)
{
	for (size_t i = 0; i < c->n_hits; i++) {
		struct mew_collect_hit *h = &c->hits[i];

		if (h->thread != thread || !h->ticks)
			continue;
		h->weight_s += h->ticks * weight_s;
		h->ticks = 0;
	}
}

void mew_collect_forget(struct mew_collect *c)
{
	for (size_t i = 0; i < c->n_hits; i++) {
		c->hits[i].weight_s = 0;
		c->hits[i].samples = 0;
		c->hits[i].ticks = 0;
	}
}

/* The function that MEW_BENCHMARK(name, state) makes of an entry is to its author the entry. */
static const char *entry_name(struct mew_session *s, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(name, ENTRY_PREFIX, sizeof ENTRY_PREFIX - 1))
		return name;
	if (n > sizeof ENTRY_SUFFIX - 1 &&
	    !strcmp(name + n - (sizeof ENTRY_SUFFIX - 1), ENTRY_SUFFIX))
		n -= sizeof ENTRY_SUFFIX - 1;
	n -= sizeof ENTRY_PREFIX - 1;
	return mew_session_printf(s, "%.*s", (int)n, name + sizeof ENTRY_PREFIX - 1);
}

/* Of the pc at n, innermost first. 0, -ENOENT: nobody knows of it, or -ENOMEM. */
static int look_up(const struct mew_collect_node *n, mew_collect_symbols_fn symbols, void *arg,
		   const struct mew_symbol_frame **ret, unsigned *ret_n)
{
	struct mew_symbols *of = NULL;
	uint64_t time_ns = 0;

	*ret_n = 0;
	if (n->group == MEW_COLLECT_KERNEL) {
		*ret = mew_symbols_kernel_at(n->pc, !n->exact, ret_n);
		return *ret ? 0 : -ENOMEM;
	}
	of = symbols(arg, n->group, &time_ns);
	if (!of)
		return -ENOENT;
	*ret = mew_symbols_at(of, n->pc, !n->exact, time_ns, ret_n);
	return *ret ? 0 : -ENOMEM;
}

/* The session's stack for one frame of pcs below parent: the inlined functions are frames of their
 * own. */
static uint32_t convert_frame(const struct mew_collect_node *n, struct mew_session *s,
			      uint32_t parent, mew_collect_symbols_fn symbols, void *arg)
{
	const struct mew_symbol_frame *frames = NULL;
	unsigned n_frames = 0;
	uint32_t stack = parent;
	int err;

	if (n->mark != MEW_COLLECT_WHOLE) {
		const char *name =
			n->mark == MEW_COLLECT_BROKEN ? MEW_BROKEN_STACK : COROUTINE_NAME;
		uint32_t f = mew_session_function(s, name, "", 0, "");

		stack = f == UINT32_MAX ? f : mew_session_stack(s, stack, f, 0, 0);
	}
	err = look_up(n, symbols, arg, &frames, &n_frames);
	if (err == -ENOMEM)
		return UINT32_MAX;
	if (err && stack != UINT32_MAX) {
		uint32_t f = mew_session_function(s, "[unknown]", "", 0, "");

		return f == UINT32_MAX ? f : mew_session_stack(s, stack, f, 0, 0);
	}
	for (unsigned i = n_frames; i-- > 0 && stack != UINT32_MAX;) {
		const struct mew_function *f = frames[i].function;
		const char *name = entry_name(s, f->name);
		uint32_t id = !name ? UINT32_MAX
				    : mew_session_function(s, name, f->file ? f->file : "", f->line,
							   f->module ? f->module : "");

		if (id == UINT32_MAX)
			return id;
		stack = mew_session_stack(s, stack, id, frames[i].line, frames[i].inlined);
	}
	return stack;
}

uint32_t mew_collect_convert(const struct mew_collect *c, struct mew_session *s, uint32_t node,
			     uint32_t *map, mew_collect_symbols_fn symbols, void *arg)
{
	uint32_t chain[MEW_WALK_FRAMES + MEW_RECORD_KERNEL_PCS + 2];
	size_t n = 0;
	uint32_t stack = 0;

	while (node != 0 && !map[node] && n < sizeof chain / sizeof *chain) {
		chain[n++] = node;
		node = c->nodes[node].parent;
	}
	if (node != 0)
		stack = map[node] - 1;
	while (n-- > 0) {
		stack = convert_frame(&c->nodes[chain[n]], s, stack, symbols, arg);
		if (stack == UINT32_MAX)
			return stack;
		map[chain[n]] = stack + 1;
	}
	return stack;
}

int mew_collect_values(const struct mew_collect *c, struct mew_session *s, struct mew_pcase *k,
		       mew_collect_symbols_fn symbols, void *arg, uint64_t *ret_unknown)
{
	uint32_t *map = calloc(c->n_nodes, sizeof *map);
	uint64_t unknown = 0;
	int err = -ENOMEM;

	if (!map)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_hits; i++) {
		const struct mew_collect_hit *h = &c->hits[i];
		struct mew_pvalue *v;
		uint32_t stack;

		if (!h->samples)
			continue;
		stack = mew_collect_convert(c, s, h->node, map, symbols, arg);
		if (stack == UINT32_MAX)
			goto out;
		v = mew_case_value(s, k, stack, h->whole);
		if (!v)
			goto out;
		v->weight_s += h->weight_s;
		v->samples += h->samples;
		/* names such as "[libc.so.6]" and "[unknown]": only the module is known */
		if (stack == 0 || s->functions[s->stacks[stack].function].name[0] == '[')
			unknown += h->samples;
	}
	*ret_unknown = unknown;
	err = 0;
out:
	free(map);
	return err;
}
