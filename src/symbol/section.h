/* SPDX-License-Identifier: Apache-2.0 */
/* section.h: sections of an ELF file by name, and the symbols of those by type. */
#ifndef MEW_SYMBOL_SECTION_H
#define MEW_SYMBOL_SECTION_H

#include <gelf.h>

/* The first section called name, and its header; NULL: there is none. */
Elf_Scn *mew_section_named(Elf *elf, const char *name, GElf_Shdr *ret);

/* Each symbol of the sections of a type (SHT_DYNSYM, SHT_SYMTAB), the first and nameless one of a
 * section too, to fn. name: NULL when it cannot be read. */
typedef void (*mew_section_symbol_fn)(void *arg, const char *name, const GElf_Sym *sym);
void mew_section_symbols(Elf *elf, GElf_Word type, mew_section_symbol_fn fn, void *arg);

#endif
