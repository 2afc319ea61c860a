/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h: from a pc of a process to the functions that it lies in: the chain of inlined
 * functions, innermost first, with file and lines, by DWARF, else by symbol table, else the module
 * alone (binary.h). What is known of a file is kept for the whole run of mew-perf: however many
 * cases run it, each of its pcs is looked up once. For one thread. mew-perf only.
 */
#ifndef MEW_SYMBOL_SYMBOL_H
#define MEW_SYMBOL_SYMBOL_H

#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "symbol/function.h"
#include "unwind/modules.h"

struct mew_symbol_frame {
	const struct mew_function *function;
	uint32_t line; /* of the pc (innermost), or of the call site of the inlined function inside;
			  0: not known */
	int inlined;   /* 1: inlined into the next one of the array */
};

/* Why names are not as good as they might be. */
enum mew_symbol_lack {
	MEW_LACK_NONE,
	MEW_LACK_DEBUG,    /* no debug info: symbol table */
	MEW_LACK_SPLIT,    /* its .dwo files are not there: symbol table */
	MEW_LACK_PART,     /* the file that dwz moved a part of it to is not there: symbol table */
	MEW_LACK_REPLACED, /* the file was replaced or written over since it was mapped: no names */
	MEW_LACK_FILE,     /* it could not be opened: no names */
	MEW_LACK_UNREADABLE, /* it, or its debug info, is damaged or packed in an unknown way */
	MEW_LACK_HIDDEN,     /* the kernel does not show where its functions are: no names */
	MEW_LACK_KALLSYMS,   /* /proc/kallsyms cannot be read, or is none: no names */
};

struct mew_symbols;

struct mew_symbols *mew_symbols_new(const struct mew_modules *modules, struct mew_error *error);
/* Of one file alone, whoever maps it: pcs are addresses in it. module is borrowed; NULL: what lies
 * in no file and has, unless the process's perf map knows better, this name (static). */
struct mew_symbols *mew_symbols_new_place(const struct mew_module *module, const char *name);
void mew_symbols_free(struct mew_symbols *s);

/*
 * The functions at pc (of the mapping valid at time_ns, 0: newest), innermost first. is_return:
 * look up pc - 1. The array and all that it points to live until mew_symbols_forget. Always at
 * least one frame; *ret_n says how many. NULL only without memory.
 */
const struct mew_symbol_frame *mew_symbols_at(struct mew_symbols *s, uint64_t pc, int is_return,
					      uint64_t time_ns, unsigned *ret_n);

/* As mew_symbols_at, of a pc of the kernel that runs now (kernel.h): one frame. */
const struct mew_symbol_frame *mew_symbols_kernel_at(uint64_t pc, int is_return, unsigned *ret_n);

/*
 * Whose addresses these are: what lies in no file may have a name in that process's perf map file
 * (perfmap.h), if that was written since since_unix_ns. It is read when the first such pc is looked
 * up.
 */
void mew_symbols_set_process(struct mew_symbols *s, pid_t pid, int64_t since_unix_ns);

/* Files that were looked into, and the kernel, "[kernel]", that lack something: calls back once for
 * each, with the number of look-ups it concerned, and begins to count again. */
typedef void (*mew_symbols_lack_fn)(void *arg, const char *path, enum mew_symbol_lack lack,
				    uint64_t n_lookups);
void mew_symbols_lacks(mew_symbols_lack_fn fn, void *arg);

/* Whether the file at path is one that was looked into and has no debug info, here or on the
 * servers that are asked; then its build-id is appended in hex, unless it has none. */
int mew_symbols_lack_debug(const char *path, struct mew_buffer *ret_build_id);

/* Whether the pieces and copies that compilers make of a function (.cold, .part.0, .constprop.0,
 * .isra.0, .llvm.1) are functions of their own: "f [clone .cold]". Of files that are not known yet.
 */
void mew_symbols_split_clones(int on);

/* Frees what is known of files. No struct mew_symbols may be left. */
void mew_symbols_forget(void);

#endif
