/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/section.h"

#include <string.h>

Elf_Scn *mew_section_named(Elf *elf, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *at =
			gelf_getshdr(scn, ret) ? elf_strptr(elf, strings, ret->sh_name) : NULL;

		if (at && !strcmp(at, name))
			return scn;
	}
	return NULL;
}

void mew_section_symbols(Elf *elf, GElf_Word type, mew_section_symbol_fn fn, void *arg)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &sh) && sh.sh_type == type
					 ? elf_getdata(scn, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
			fn(arg, elf_strptr(elf, sh.sh_link, sym.st_name), &sym);
	}
}
