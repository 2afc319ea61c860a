/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF image around the bytes of one section, for the fuzz targets that are about that section.
 */
#ifndef MEW_TESTS_ELF_IMAGE_H
#define MEW_TESTS_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cpu.h"

struct elf_image_section {
	const char *name;
	const uint8_t *bytes;
	size_t n;
	uint64_t vaddr;
};

/* One loaded segment of code at load, and the section. Its block ends where the section does, so
 * that checkers see a read past it. The caller's, by free(); NULL without memory. */
static inline char *elf_image_make(const struct elf_image_section *s, uint64_t load, uint64_t entry,
				   size_t *ret_bytes)
{
	static const char names[] = "\0.shstrtab";
	size_t name_bytes = sizeof(names) + strlen(s->name) + 1;
	size_t names_off = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 3 * sizeof(Elf64_Shdr);
	size_t section_off = (names_off + name_bytes + 7) & ~(size_t)7;
	Elf64_Ehdr eh = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = MEW_CPU_EM,
		.e_version = EV_CURRENT,
		.e_entry = entry,
		.e_phoff = sizeof(eh),
		.e_shoff = sizeof(eh) + sizeof(Elf64_Phdr),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1,
	};
	Elf64_Phdr ph = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = load,
		.p_filesz = section_off + s->n,
		.p_memsz = section_off + s->n,
		.p_align = 4096,
	};
	Elf64_Shdr sh[3] = {
		{.sh_type = SHT_NULL},
		{.sh_name = 1,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = names_off,
		 .sh_size = name_bytes},
		{.sh_name = sizeof(names),
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC,
		 .sh_addr = s->vaddr,
		 .sh_offset = section_off,
		 .sh_size = s->n,
		 .sh_addralign = 8},
	};
	char *image = calloc(1, section_off + s->n);

	if (!image)
		return NULL;
	memcpy(image, &eh, sizeof(eh));
	memcpy(image + eh.e_phoff, &ph, sizeof(ph));
	memcpy(image + eh.e_shoff, sh, sizeof(sh));
	memcpy(image + names_off, names, sizeof(names));
	strcpy(image + names_off + sizeof(names), s->name);
	if (s->n)
		memcpy(image + section_off, s->bytes, s->n);
	*ret_bytes = section_off + s->n;
	return image;
}

#endif
