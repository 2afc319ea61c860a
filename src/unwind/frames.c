/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/frames.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cpu.h"
#include "unwind/program.h"

/* DW_EH_PE_*, Linux Standard Base, Core specification, 10.5.1 */
enum {
	PE_absptr = 0x00,
	PE_udata2 = 0x02,
	PE_udata4 = 0x03,
	PE_udata8 = 0x04,
	PE_sdata2 = 0x0a,
	PE_sdata4 = 0x0b,
	PE_sdata8 = 0x0c,
	PE_pcrel = 0x10,
	PE_omit = 0xff,
};

/* ---- the image ---- */

int mew_frames_open(struct mew_frames *f, bool eh, const void *section, size_t n, uint64_t vaddr)
{
	static const char names[2][24] = {"\0.shstrtab\0.debug_frame", "\0.shstrtab\0.eh_frame"};
	const size_t shdrs_off = sizeof(Elf64_Ehdr);
	const size_t names_off = shdrs_off + 3 * sizeof(Elf64_Shdr);
	const size_t section_off = names_off + sizeof(names[0]);
	const Elf64_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = MEW_CPU_EM,
		.e_version = EV_CURRENT,
		.e_shoff = shdrs_off,
		.e_ehsize = sizeof(ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 1,
	};
	const Elf64_Shdr shdrs[3] = {
		{.sh_type = SHT_NULL},
		{.sh_name = 1,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = names_off,
		 .sh_size = sizeof(names[0])},
		{.sh_name = 11,
		 .sh_type = SHT_PROGBITS,
		 .sh_addr = vaddr,
		 .sh_offset = section_off,
		 .sh_size = n,
		 .sh_addralign = 8},
	};

	*f = (struct mew_frames){.vaddr = vaddr, .eh = eh};
	f->image = malloc(section_off + n);
	if (!f->image)
		return -ENOMEM;
	memcpy(f->image, &ehdr, sizeof(ehdr));
	memcpy(f->image + shdrs_off, shdrs, sizeof(shdrs));
	memcpy(f->image + names_off, names[eh], sizeof(names[0]));
	if (n)
		memcpy(f->image + section_off, section, n);
	f->elf = elf_memory((char *)f->image, section_off + n);
	if (!f->elf)
		return -ENOMEM;
	f->data = (Elf_Data){.d_buf = f->image + section_off,
			     .d_type = ELF_T_BYTE,
			     .d_size = n,
			     .d_version = EV_CURRENT};
	return 0;
}

void mew_frames_done(struct mew_frames *f)
{
	elf_end(f->elf);
	free(f->image);
	*f = (struct mew_frames){0};
}

/* ---- what an address looks like ---- */

static size_t encoded_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case PE_udata2:
	case PE_sdata2:
		return 2;
	case PE_udata4:
	case PE_sdata4:
		return 4;
	case PE_absptr:
	case PE_udata8:
	case PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/* A value of that format at p, with no base added yet. */
static uint64_t encoded_value(const uint8_t *p, uint8_t encoding)
{
	uint64_t u = 0;

	memcpy(&u, p, encoded_bytes(encoding));
	switch (encoding & 0x0f) {
	case PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)u;
	case PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)u;
	default:
		return u;
	}
}

/* How the FDEs of a CIE of .eh_frame encode addresses; PE_omit: not known. */
static uint8_t cie_encoding(const Dwarf_CIE *cie)
{
	const uint8_t *p = cie->augmentation_data;
	const uint8_t *end = p ? p + cie->augmentation_data_size : p;
	const char *a = cie->augmentation;

	if (*a != 'z')
		return *a ? PE_omit : PE_absptr;
	for (a++; *a; a++) {
		uint8_t encoding;

		if (*a == 'S' || *a == 'B')
			continue;
		if ((*a != 'L' && *a != 'P' && *a != 'R') || p >= end)
			return PE_omit;
		encoding = *p++;
		if (*a == 'R')
			return encoding;
		if (*a == 'P' && encoded_bytes(encoding) > (size_t)(end - p))
			return PE_omit;
		if (*a == 'P')
			p += encoded_bytes(encoding);
	}
	return PE_absptr;
}

/* ---- entries ---- */

static int next_entry(const struct mew_frames *f, uint64_t off, Dwarf_Off *ret_next,
		      Dwarf_CFI_Entry *ret)
{
	Elf_Data data = f->data;

	return dwarf_next_cfi((const unsigned char *)f->image, &data, f->eh, off, ret_next, ret);
}

/* What the FDEs need of the CIE at off. */
static void read_cie(struct mew_frames *f, uint64_t off)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (off == f->cie_off)
		return;
	f->cie_off = off;
	f->safe = false;
	if (off >= f->data.d_size || next_entry(f, off, &next, &entry) || !dwarf_cfi_cie_p(&entry))
		return;
	f->sized = entry.cie.augmentation[0] == 'z';
	f->encoding = f->eh ? cie_encoding(&entry.cie) : PE_absptr;
	f->safe =
		f->encoding != PE_omit && mew_program_check(entry.cie.initial_instructions,
							    entry.cie.initial_instructions_end,
							    encoded_bytes(f->encoding), &f->n_ops);
}

static bool read_fde(struct mew_frames *f, const Dwarf_FDE *fde, struct mew_frames_range *ret)
{
	const uint8_t *p = fde->start;
	size_t bytes, n_ops = 0;
	uint64_t n = 0;
	uint8_t base;

	read_cie(f, fde->CIE_pointer);
	bytes = encoded_bytes(f->encoding);
	base = f->encoding & 0xf0;
	if (!f->safe || !bytes || (base && base != PE_pcrel) || (size_t)(fde->end - p) < 2 * bytes)
		return false;
	ret->lo = encoded_value(p, f->encoding);
	if (base == PE_pcrel)
		ret->lo += f->vaddr + (uint64_t)(p - (const uint8_t *)f->data.d_buf);
	ret->hi = encoded_value(p + bytes, f->encoding & ~8);
	p += 2 * bytes;
	if (f->sized && (!mew_program_number(&p, fde->end, &n) || n > (size_t)(fde->end - p)))
		return false;
	if (!mew_program_check(p + n, fde->end, bytes, &n_ops))
		return false;
	ret->n_ops = n_ops + f->n_ops;
	return ret->hi && !__builtin_add_overflow(ret->lo, ret->hi, &ret->hi);
}

/* Zeros are an FDE of no length, and programs that do nothing. */
static void blank(const uint8_t *from, const uint8_t *end)
{
	memset((void *)(uintptr_t)from, 0, (size_t)(end - from));
}

/* libdw stops at a terminator, but linkers leave some in the middle: it becomes the end of the
 * entry before, where its zeros do nothing. */
static void join_terminator(struct mew_frames *f)
{
	uint8_t *entry;
	uint64_t n64;
	uint32_t n32;

	if (f->last_off == UINT64_MAX)
		return;
	entry = (uint8_t *)f->data.d_buf + f->last_off;
	memcpy(&n32, entry, sizeof(n32));
	if (n32 == UINT32_MAX) {
		memcpy(&n64, entry + sizeof(n32), sizeof(n64));
		n64 += 4;
		memcpy(entry + sizeof(n32), &n64, sizeof(n64));
	} else {
		n32 += 4;
		memcpy(entry, &n32, sizeof(n32));
	}
}

enum mew_frames_entry mew_frames_next(struct mew_frames *f, uint64_t *off,
				      struct mew_frames_range *ret)
{
	Dwarf_Off next = (Dwarf_Off)-1;
	Dwarf_CFI_Entry entry;
	uint64_t at = *off;
	int rc;

	if (!at)
		f->cie_off = f->last_off = UINT64_MAX;
	if (at >= f->data.d_size || f->data.d_size - at <= 4)
		return MEW_FRAMES_END;
	rc = next_entry(f, at, &next, &entry);
	if (rc > 0) {
		join_terminator(f);
		*off += 4;
		return MEW_FRAMES_OTHER;
	}
	f->last_off = at;
	*off = next == (Dwarf_Off)-1 || next <= at ? f->data.d_size : next;
	if (rc < 0)
		return MEW_FRAMES_BAD;
	if (dwarf_cfi_cie_p(&entry)) {
		read_cie(f, at);
		if (!f->safe)
			blank(entry.cie.initial_instructions, entry.cie.initial_instructions_end);
		return MEW_FRAMES_OTHER;
	}
	if (read_fde(f, &entry.fde, ret))
		return MEW_FRAMES_FDE;
	blank(entry.fde.start, entry.fde.end);
	return MEW_FRAMES_BAD;
}

static size_t count_bad(struct mew_frames *f)
{
	struct mew_frames_range range;
	enum mew_frames_entry entry;
	uint64_t off = 0;
	size_t n = 0;

	while ((entry = mew_frames_next(f, &off, &range)) != MEW_FRAMES_END)
		n += entry == MEW_FRAMES_BAD;
	return n;
}

/* What is blank stays bad, so the second time changes nothing, unless an FDE has its CIE in a place
 * that was blanked. */
int mew_frames_clean(struct mew_frames *f)
{
	size_t n = count_bad(f);

	return count_bad(f) == n ? 0 : -EBADMSG;
}
