/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary.h: the code of one file, as functions: by DWARF, in the file or apart from it (build-id,
 * .gnu_debuglink, dwz, .dwo), else by symbol table (.symtab, .dynsym, .gnu_debugdata). Each pc is
 * looked up once, however many processes run it. Knows no process.
 */
#ifndef MEW_SYMBOL_BINARY_H
#define MEW_SYMBOL_BINARY_H

#include "symbol/function.h"
#include "symbol/symbol.h"
#include "unwind/modules.h"

/* Frames at an address, innermost first: at least one. */
struct mew_found {
	unsigned n;
	enum mew_symbol_lack lack; /* why they say less than they might */
	struct mew_symbol_frame frames[];
};

struct mew_binary;

/*
 * The file of the module, opened by its descriptor, which stays the module's. When it is no longer
 * the file that was mapped, or none can be read, all that is known of an address is the module.
 * pool is borrowed and must outlive it. split_clones: as for mew_symbols_split_clones. NULL only
 * without memory.
 */
struct mew_binary *mew_binary_open(const struct mew_module *module, struct mew_function_pool *pool,
				   int split_clones);
void mew_binary_free(struct mew_binary *b);

/* Whether b is what mew_binary_open(module) would give. */
int mew_binary_is(const struct mew_binary *b, const struct mew_module *module);

/* The file cannot be read, or is none: its code may be known from elsewhere. */
int mew_binary_is_blank(const struct mew_binary *b);

/* Look-ups since this was asked last whose answers lack something, what, and the file. */
uint64_t mew_binary_take_lack(struct mew_binary *b, enum mew_symbol_lack *ret_lack,
			      const char **ret_path);

/* As mew_symbols_lack_debug, if b is the file at path. */
int mew_binary_lacks_debug(const struct mew_binary *b, const char *path,
			   struct mew_buffer *ret_build_id);

/* What is at vaddr: the binary's, until it is freed. NULL without memory. */
const struct mew_found *mew_binary_at(struct mew_binary *b, uint64_t vaddr);

/* Of n frames, in the pool's memory. NULL without memory. */
struct mew_found *mew_found_new(struct mew_function_pool *pool, unsigned n);

#endif
