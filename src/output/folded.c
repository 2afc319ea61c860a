/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "output/folded.h"

/* Functions from the leaf to the root, and wholeness. */
static int fold_key(const struct mew_session *s, const struct mew_pvalue *v, struct mew_buffer *key)
{
	uint32_t at;

	mew_buffer_reset(key);
	mew_buffer_add(key, &v->whole, sizeof(v->whole));
	for (at = v->stack; at; at = s->stacks[at].parent)
		mew_buffer_add(key, &s->stacks[at].function, sizeof(s->stacks[at].function));
	return key->error;
}

static void add_up(struct mew_pvalue *sum, const struct mew_pvalue *v)
{
	sum->weight_s += v->weight_s;
	sum->samples += v->samples;
	sum->allocations += v->allocations;
	sum->bytes += v->bytes;
	sum->frees += v->frees;
	sum->temporary += v->temporary;
	sum->peak_bytes += v->peak_bytes;
	sum->held_bytes += v->held_bytes;
}

int mew_folded(const struct mew_session *s, const struct mew_pcase *c, struct mew_pvalue **ret,
	       size_t *ret_n)
{
	struct mew_buffer key = MEW_BUFFER_INIT;
	struct mew_bytes_map map;
	struct mew_pvalue *sums = NULL;
	size_t n = 0, cap = 0, i;
	int err = 0;

	mew_bytes_map_init(&map);
	for (i = 0; i < c->n_values; i++) {
		const struct mew_pvalue *v = &c->values[i];
		uint64_t *at;
		bool is_new;

		if (fold_key(s, v, &key) || MEW_ARRAY_PUSH(sums, n, cap)) {
			err = -ENOMEM;
			break;
		}
		at = mew_bytes_map_add(&map, key.data, key.len, n, &is_new);
		if (!at) {
			err = -ENOMEM;
			break;
		}
		if (is_new)
			sums[n++] = *v;
		else
			add_up(&sums[*at], v);
	}
	mew_bytes_map_done(&map);
	mew_buffer_done(&key);
	if (err) {
		free(sums);
		return err;
	}
	*ret = sums;
	*ret_n = n;
	return 0;
}

bool mew_folded_lacks_mark(const struct mew_session *s, const struct mew_pvalue *v)
{
	uint32_t at = v->stack;

	if (v->whole)
		return false;
	while (at && s->stacks[at].parent)
		at = s->stacks[at].parent;
	return !at || strcmp(s->functions[s->stacks[at].function].name, MEW_BROKEN_STACK);
}

static void add_name(struct mew_buffer *out, const char *name)
{
	for (; *name; name++) {
		if (*name == ';' || *name == '\\')
			mew_buffer_putc(out, '\\');
		mew_buffer_putc(out, *name);
	}
}

int mew_folded_text(const struct mew_session *s, const struct mew_pvalue *v, struct mew_buffer *out)
{
	uint32_t *path = NULL, at;
	size_t n = 0, cap = 0, first = out->len;

	for (at = v->stack; at; at = s->stacks[at].parent) {
		if (MEW_ARRAY_PUSH(path, n, cap)) {
			free(path);
			return -ENOMEM;
		}
		path[n++] = s->stacks[at].function;
	}
	if (mew_folded_lacks_mark(s, v))
		mew_buffer_puts(out, MEW_BROKEN_STACK);
	while (n) {
		if (out->len > first)
			mew_buffer_putc(out, ';');
		add_name(out, s->functions[path[--n]].name);
	}
	free(path);
	return out->error;
}
