/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h: from a pc to the functions that it lies in: the chain of inlined functions, innermost
 * first, with file and lines, by DWARF (libdw, with separate debug files by build-id and
 * .gnu_debuglink), else by symbol table, else the module alone. One look-up per distinct pc, cached
 * per module. Names are demangled (libiberty). mew-perf only. Never asks a debuginfod server.
 */
#ifndef MEW_SYMBOL_SYMBOL_H
#define MEW_SYMBOL_SYMBOL_H

#include "base/error.h"
#include "unwind/modules.h"

enum mew_symbol_source {
	MEW_SYMBOL_NONE, /* name is "[module.so]" (or "[unknown]"): the function is not known */
	MEW_SYMBOL_ELF,  /* symbol table: no file, no line */
	MEW_SYMBOL_DWARF,
};

/* A function, as it is declared. Interned: one object a function, however many pcs; stable until
 * the symbols are freed. */
struct mew_function {
	uint32_t id; /* 0, 1, 2 ... in order of appearance; one id space a struct mew_symbols */
	const char *name;    /* demangled, raw text of any bytes but NUL */
	const char *linkage; /* as in the symbol table; NULL: not known */
	const char *file; /* declared in: as DWARF gives it, directory included; NULL: not known */
	uint32_t line;    /* declared at; 0: not known */
	const char *module; /* path of the module, "" when none */
	enum mew_symbol_source source;
};

struct mew_symbol_frame {
	const struct mew_function *function;
	uint32_t line; /* of the pc (innermost), or of the call site of the inlined function inside;
			  0: not known */
	int inlined;   /* 1: inlined into the next one of the array */
};

struct mew_symbols;

struct mew_symbols *mew_symbols_new(const struct mew_modules *modules, struct mew_error *error);
void mew_symbols_free(struct mew_symbols *s);

/*
 * The functions at pc (of the mapping valid at time_ns, 0: newest), innermost first. is_return:
 * look up pc - 1. The array is the cache's, until mew_symbols_free. Always at least one frame;
 * *ret_n says how many. NULL only without memory.
 */
const struct mew_symbol_frame *mew_symbols_at(struct mew_symbols *s, uint64_t pc, int is_return,
					      uint64_t time_ns, unsigned *ret_n);

/* "name (file.c:12)" (base name of the file), or "name (module.so)" without debug info. Appends to
 * out. */
struct mew_buffer;
void mew_function_describe(const struct mew_function *f, struct mew_buffer *out);

/* Modules that were looked into and have no debug info: calls back once for each, with the number
 * of look-ups it concerned. */
typedef void (*mew_symbols_poor_fn)(void *arg, const struct mew_module *module, uint64_t n_lookups);
void mew_symbols_poor(const struct mew_symbols *s, mew_symbols_poor_fn fn, void *arg);

#endif
