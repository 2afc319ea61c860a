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
