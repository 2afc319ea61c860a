/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.h: the functions of one ELF file by its DWARF: who was inlined into whom at an address.
 * Reads the units that are asked for, each once. Knows no process and no symbol table.
 */
#ifndef MEW_SYMBOL_DWARF_H
#define MEW_SYMBOL_DWARF_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define MEW_DWARF_DEPTH 64 /* frames inlined into each other at most; the outer ones are kept */

struct mew_dwarf;

/* A level of the chain at an address. */
struct mew_dwarf_level {
	Dwarf_Die die;      /* DW_TAG_subprogram or DW_TAG_inlined_subroutine */
	uint32_t call_line; /* where it was inlined, in the next level; 0: not known */
};

struct mew_dwarf_chain {
	struct mew_dwarf_level levels[MEW_DWARF_DEPTH]; /* innermost first */
	unsigned n;                                     /* 0: no function is known there */
	uint32_t line;                                  /* of the address; 0: not known */
	bool split; /* the unit's functions are in a file that is missing */
	bool bare;  /* names lack the namespaces that the language has: -g1 */
};

/* elf stays the caller's and must outlive it. *ret is NULL when there is no DWARF. 0 or -ENOMEM. */
int mew_dwarf_new(Elf *elf, struct mew_dwarf **ret);
void mew_dwarf_free(struct mew_dwarf *d);

/* Whether a part of it was moved to another file, by dwz, that is not there. */
int mew_dwarf_lacks_alt(const struct mew_dwarf *d);

/* The chain at vaddr. 0 or -ENOMEM. */
int mew_dwarf_at(struct mew_dwarf *d, uint64_t vaddr, struct mew_dwarf_chain *ret);

/* All three are NULL or 0 when not known; texts are borrowed from the DWARF. */
const char *mew_dwarf_linkage(Dwarf_Die *die);                   /* as in the symbol table */
const char *mew_dwarf_file(struct mew_dwarf *d, Dwarf_Die *die); /* where it is declared */
uint32_t mew_dwarf_line(struct mew_dwarf *d, Dwarf_Die *die);

/*
 * Appends the function's name, with its namespaces and classes; nothing when it has no name.
 * 0 or -ENOMEM.
 */
int mew_dwarf_name(struct mew_dwarf *d, Dwarf_Die *die, struct mew_buffer *out);

#endif
