/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.h: functions as programs declare them, and the pool that keeps each of them once. Knows
 * no ELF, no DWARF and no process.
 */
#ifndef MEW_SYMBOL_FUNCTION_H
#define MEW_SYMBOL_FUNCTION_H

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

enum mew_symbol_source {
	MEW_SYMBOL_NONE, /* name is "[module.so]" (or "[unknown]"): the function is not known */
	MEW_SYMBOL_ELF,  /* symbol table, perf map or kallsyms: no file, no line */
	MEW_SYMBOL_DWARF,
};

/* A function, as it is declared. One object a function, however many pcs and processes; stable as
 * long as its pool. */
struct mew_function {
	uint32_t id;         /* 0, 1, 2 ... in order of appearance; one id space a pool */
	const char *name;    /* demangled, raw text of any bytes but NUL */
	const char *linkage; /* as in the symbol table; NULL: not known */
	const char *file; /* declared in: as DWARF gives it, directory included; NULL: not known */
	uint32_t line;    /* declared at; 0: not known */
	const char *module; /* path of the module, "" when none */
	enum mew_symbol_source source;
};

struct mew_function_pool {
	struct mew_arena *arena; /* owned; NULL: not begun */
	struct mew_strings strings;
	struct mew_bytes_map interned; /* what makes a function -> struct mew_function * */
	uint32_t n;
};

/* 0 or -ENOMEM. done takes a zeroed pool, too. */
int mew_function_pool_init(struct mew_function_pool *p);
void mew_function_pool_done(struct mew_function_pool *p);

/* The pool's own copy of f, of which id is ignored and the texts are copied. NULL without memory.
 */
const struct mew_function *mew_function_intern(struct mew_function_pool *p,
					       const struct mew_function *f);

/* "[NAME]", of what only the place is known. module is the path that it is listed under. */
const struct mew_function *mew_function_nameless(struct mew_function_pool *p, const char *name,
						 const char *module);

/* What follows the last slash. */
const char *mew_function_base(const char *path);

/* "name (file.c:12)" (base name of the file), or "name (module.so)" without debug info. Appends to
 * out. */
struct mew_buffer;
void mew_function_describe(const struct mew_function *f, struct mew_buffer *out);

#endif
