/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/stub.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include "unwind/cpu.h"

#if MEW_CPU_EM == 183

#define PLT_HEADER_BYTES 32
#define SAVE_X16_X30 0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */
#define TRAMPOLINE "__kernel_rt_sigreturn"
#define TRAMPOLINE_BYTES 8

struct stubs {
	Elf *elf;
	struct mew_stub *at;
	size_t n;
};

static void add(struct stubs *s, uint64_t lo, uint64_t hi, struct mew_rule rule)
{
	if (hi > lo && s->n < MEW_STUBS_MAX)
		s->at[s->n++] = (struct mew_stub){lo, hi, rule};
}

/* The instruction of the vaddr at, or 0. */
static uint32_t code_at(const Elf_Data *data, uint64_t vaddr, uint64_t at)
{
	uint32_t code = 0;

	if (data && data->d_buf && at >= vaddr && data->d_size >= sizeof(code) &&
	    at - vaddr <= data->d_size - sizeof(code))
		memcpy(&code, (const char *)data->d_buf + (at - vaddr), sizeof(code));
	return code;
}

/*
 * ELF for the Arm 64-bit Architecture, Procedure Linkage Table: stubs load x16 and x17 and jump,
 * and touch nothing else. The header before them, where there is one, saves x16 and x30 first (or
 * second, after a landing pad).
 */
static void add_plt(struct stubs *s, const GElf_Shdr *plt, const Elf_Data *data)
{
	static const struct mew_rule in_register = {.cfa = MEW_CFA_SP};
	static const struct mew_rule saved = {.cfa = MEW_CFA_SP, .cfa_off = 16, .ra_off = -1};
	uint64_t lo = plt->sh_addr, hi = lo + plt->sh_size, at;

	for (at = lo; at < lo + 8; at += 4) {
		if (code_at(data, lo, at) != SAVE_X16_X30 || plt->sh_size < PLT_HEADER_BYTES)
			continue;
		add(s, lo, at + 4, in_register);
		add(s, at + 4, lo + PLT_HEADER_BYTES, saved);
		lo += PLT_HEADER_BYTES;
		break;
	}
	add(s, lo, hi, in_register);
}

/*
 * It loads or stores by sp, changes sp or x30, or calls. Arm Architecture Reference Manual, A64
 * instruction set encoding; what is in doubt does.
 */
static bool uses_stack(uint32_t code)
{
	uint32_t target = code & 31, base = code >> 5 & 31, second = code >> 10 & 31;
	bool sets_flags = code >> 29 & 1;

	if ((code & 0x0a000000u) == 0x08000000u) /* loads and stores */
		return base == 31 || target == 30 || second == 30;
	if ((code & 0x1c000000u) == 0x14000000u)              /* branches */
		return (code & 0xfc000000u) == 0x94000000u || /* bl */
		       (code & 0xfefff000u) == 0xd63f0000u;   /* blr, blra* */
	if ((code & 0x1c000000u) == 0x10000000u ||            /* with a number */
	    (code & 0x1fe00000u) == 0x0b200000u)              /* with an extended register */
		return target == 30 || (target == 31 && !sets_flags);
	return target == 30;
}

/*
 * A function of the vDSO is a leaf that needs no stack, as its code shows. Its trampoline, into
 * which signal handlers return, is looked up one byte before it.
 */
static void add_function(struct stubs *s, const char *name, const GElf_Sym *sym,
			 const GElf_Shdr *text, const Elf_Data *data)
{
	static const struct mew_rule signal = {.cfa = MEW_CFA_SIGNAL,
					       .cfa_off = MEW_CPU_SIGINFO_BYTES};
	static const struct mew_rule leaf = {.cfa = MEW_CFA_SP};
	uint64_t lo = sym->st_value, hi = lo + sym->st_size, at;

	if (!strcmp(name, TRAMPOLINE)) {
		add(s, lo - 4, lo + TRAMPOLINE_BYTES, signal);
		return;
	}
	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || lo < text->sh_addr || hi < lo ||
	    hi > text->sh_addr + text->sh_size)
		return;
	for (at = lo; at < hi; at += 4)
		if (uses_stack(code_at(data, text->sh_addr, at)))
			return;
	add(s, lo, hi, leaf);
}

/* Of the vDSO, and of nothing else. */
static void add_functions(struct stubs *s, Elf_Scn *symbols, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(symbols, NULL);
	bool is_vdso = false;
	GElf_Sym sym;

	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(s->elf, shdr->sh_link, sym.st_name);
			Elf_Scn *text = elf_getscn(s->elf, sym.st_shndx);
			GElf_Shdr text_shdr;

			if (!name || !text || !gelf_getshdr(text, &text_shdr))
				continue;
			is_vdso |= !strcmp(name, TRAMPOLINE);
			if (pass && is_vdso)
				add_function(s, name, &sym, &text_shdr, elf_rawdata(text, NULL));
		}
	}
}

size_t mew_stubs_find(Elf *elf, struct mew_stub ret[MEW_STUBS_MAX])
{
	struct stubs s = {.elf = elf, .at = ret};
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name || shdr.sh_size > UINT32_MAX)
			continue;
		if (!strcmp(name, ".plt") || !strcmp(name, ".iplt"))
			add_plt(&s, &shdr, elf_rawdata(scn, NULL));
		else if (shdr.sh_type == SHT_DYNSYM)
			add_functions(&s, scn, &shdr);
	}
	return s.n;
}

#endif
