/* SPDX-License-Identifier: Apache-2.0 */
/* section.h: sections of an ELF file by name. */
#ifndef MEW_SYMBOL_SECTION_H
#define MEW_SYMBOL_SECTION_H

#include <gelf.h>

/* The first section called name, and its header; NULL: there is none. */
Elf_Scn *mew_section_named(Elf *elf, const char *name, GElf_Shdr *ret);

#endif
