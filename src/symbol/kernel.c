/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/kernel.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "symbol/demangle.h"

void mew_kernel_done(struct mew_kernel *k)
{
	mew_kallsyms_done(&k->list);
	mew_map_done(&k->found);
	*k = (struct mew_kernel){0};
}

/* As it is shown: the function that compilers made a piece or copy of, and Rust in words. */
static void put_name(const char *linkage, int split_clones, struct mew_buffer *out)
{
	size_t len = mew_linkage_length(linkage);

	if (strncmp(linkage, "_R", 2) != 0 || mew_demangle(linkage, out))
		mew_buffer_add(out, linkage, len);
	if (split_clones && linkage[len])
		mew_buffer_printf(out, " [clone %s]", linkage + len);
}

/* NULL without memory. */
static const struct mew_function *function_of(const struct mew_kallsyms_entry *e,
					      struct mew_function_pool *pool, int split_clones)
{
	struct mew_buffer name = MEW_BUFFER_INIT;
	const struct mew_function *f = NULL;

	if (!e)
		return mew_function_nameless(pool, MEW_KERNEL_MODULE, MEW_KERNEL_MODULE);
	put_name(e->name, split_clones, &name);
	if (!name.error)
		f = mew_function_intern(
			pool,
			&(struct mew_function){.name = name.data,
					       .linkage = e->name,
					       .module = *e->module ? e->module : MEW_KERNEL_MODULE,
					       .source = MEW_SYMBOL_ELF});
	mew_buffer_done(&name);
	return f;
}

const struct mew_found *mew_kernel_at(struct mew_kernel *k, struct mew_function_pool *pool,
				      int split_clones, uint64_t pc)
{
	const struct mew_function *f;
	struct mew_found *found;
	uint64_t value;

	if (!k->read) {
		mew_map_init(&k->found);
		k->error = mew_kallsyms_read(MEW_KALLSYMS_PATH, &k->list);
		if (k->error == -ENOMEM)
			return NULL;
		k->read = true;
	}
	k->n_lookups++;
	if (mew_map_get(&k->found, pc, &value))
		return (const struct mew_found *)(uintptr_t)value;
	f = function_of(mew_kallsyms_find(&k->list, pc), pool, split_clones);
	found = f ? mew_found_new(pool, 1) : NULL;
	if (!found || mew_map_put(&k->found, pc, (uintptr_t)found))
		return NULL;
	found->frames[0].function = f;
	return found;
}

uint64_t mew_kernel_take_lack(struct mew_kernel *k, enum mew_symbol_lack *ret)
{
	uint64_t n = k->error ? k->n_lookups : 0;

	*ret = k->error == -EACCES || k->error == -EPERM ? MEW_LACK_HIDDEN : MEW_LACK_KALLSYMS;
	k->n_lookups = 0;
	return n;
}
