/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/function.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"

/* What tells one function from another; all strings are interned. */
struct key {
	const char *name, *linkage, *file, *module;
	uint64_t line;
};

int mew_function_pool_init(struct mew_function_pool *p)
{
	*p = (struct mew_function_pool){.arena = mew_arena_new()};
	if (!p->arena)
		return -ENOMEM;
	mew_strings_init(&p->strings, p->arena);
	mew_bytes_map_init(&p->interned);
	return 0;
}

void mew_function_pool_done(struct mew_function_pool *p)
{
	if (!p->arena)
		return;
	mew_bytes_map_done(&p->interned);
	mew_strings_done(&p->strings);
	mew_arena_free(p->arena);
	*p = (struct mew_function_pool){0};
}

static const char *intern(struct mew_function_pool *p, const char *text)
{
	return text ? mew_strings_intern(&p->strings, text, strlen(text)) : NULL;
}

const struct mew_function *mew_function_intern(struct mew_function_pool *p,
					       const struct mew_function *f)
{
	struct key key = {
		.name = intern(p, f->name),
		.linkage = intern(p, f->linkage),
		.file = intern(p, f->file),
		.module = intern(p, f->module),
		.line = f->line,
	};
	struct mew_function *new;
	uint64_t value;

	if (!key.name || (f->linkage && !key.linkage) || (f->file && !key.file) || !key.module)
		return NULL;
	if (mew_bytes_map_get(&p->interned, &key, sizeof(key), &value))
		return (const struct mew_function *)(uintptr_t)value;
	new = mew_arena_alloc(p->arena, sizeof(*new), _Alignof(struct mew_function));
	if (!new || mew_bytes_map_put(&p->interned, &key, sizeof(key), (uintptr_t) new))
		return NULL;
	*new = (struct mew_function){
		.id = p->n++,
		.name = key.name,
		.linkage = key.linkage,
		.file = key.file,
		.line = f->line,
		.module = key.module,
		.source = f->source,
	};
	return new;
}

const struct mew_function *mew_function_nameless(struct mew_function_pool *p, const char *name,
						 const char *module)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	const struct mew_function *f = NULL;

	/* The kernel's names, such as "[vdso]", have them already. */
	mew_buffer_printf(&text, *name == '[' ? "%s" : "[%s]", name);
	if (!text.error)
		f = mew_function_intern(p, &(struct mew_function){.name = text.data,
								  .module = module,
								  .source = MEW_SYMBOL_NONE});
	mew_buffer_done(&text);
	return f;
}

const char *mew_function_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void mew_function_describe(const struct mew_function *f, struct mew_buffer *out)
{
	mew_buffer_puts(out, f->name);
	if (f->file && f->line)
		mew_buffer_printf(out, " (%s:%u)", mew_function_base(f->file), f->line);
	else if (f->file)
		mew_buffer_printf(out, " (%s)", mew_function_base(f->file));
	else if (f->source != MEW_SYMBOL_NONE && *f->module)
		mew_buffer_printf(out, " (%s)", mew_function_base(f->module));
}
