/* SPDX-License-Identifier: Apache-2.0 */
/* symtab.h: the functions of an ELF symbol table, by address. Knows no DWARF and no process. */
#ifndef MEW_SYMBOL_SYMTAB_H
#define MEW_SYMBOL_SYMTAB_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct mew_symtab_entry {
	uint64_t lo, hi;     /* vaddr; hi == lo: of no size */
	uint64_t reach;      /* the highest hi of all entries up to this one */
	uint64_t limit;      /* end of its section */
	const char *linkage; /* the Elf's memory */
	uint32_t rank;       /* among those at one address, the lowest is the best name */
};

struct mew_symtab {
	struct mew_symtab_entry *entries; /* owned; sorted by lo, then rank */
	size_t n, cap;
};

/*
 * Adds what elf has to t, which begins zeroed: .symtab, or .dynsym if there is none, and the stubs
 * of the PLT under the names that they call. An address of elf is one of t plus bias. The names are
 * borrowed from elf. 0 or -ENOMEM: t is as before.
 */
int mew_symtab_add(Elf *elf, uint64_t bias, struct mew_symtab *t);
void mew_symtab_done(struct mew_symtab *t);

/* The symbol that covers vaddr, the best of its aliases; NULL: none does. */
const struct mew_symtab_entry *mew_symtab_find(const struct mew_symtab *t, uint64_t vaddr);

#endif
