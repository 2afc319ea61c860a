/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/symtab.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbol/section.h"

#define PLT_ENTRY_BYTES 16
#define PLT_HEADER_ARM_BYTES 32
#define PLT_ENTRY_ARM_LONG_BYTES 24
#define LOOK_BACK_MAX 64 /* symbols that may lie inside the one that is looked for */

/* Global names before local ones, functions before labels, few underscores before many. */
static uint32_t rank_of(const GElf_Sym *sym, const char *name)
{
	uint32_t underscores = (uint32_t)strspn(name, "_");
	size_t len = strlen(name);

	return (uint32_t)(sym->st_size == 0) << 31 |
	       (uint32_t)(GELF_ST_BIND(sym->st_info) == STB_LOCAL) << 30 |
	       (uint32_t)(GELF_ST_TYPE(sym->st_info) == STT_NOTYPE) << 29 |
	       (underscores > 15 ? 15 : underscores) << 16 | (uint32_t)(len > 65535 ? 65535 : len);
}

static int compare(const void *a, const void *b)
{
	const struct mew_symtab_entry *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->linkage, y->linkage);
}

/* ELF for the Arm 64-bit Architecture, mapping symbols: where code and data begin, nobody's names.
 */
static bool is_mapping(const GElf_Sym *sym, const char *name)
{
	return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && !sym->st_size && name[0] == '$' &&
	       (name[1] == 'x' || name[1] == 'd') && (!name[2] || name[2] == '.');
}

/* Whether sym is code; *ret_limit is where its section ends. */
static bool is_code(Elf *elf, const GElf_Sym *sym, const char *name, uint64_t *ret_limit)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr shdr;
	Elf_Scn *scn;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) || !name || !*name ||
	    is_mapping(sym, name) || sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return false;
	scn = elf_getscn(elf, sym->st_shndx);
	if (!scn || !gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
	    sym->st_value < shdr.sh_addr || sym->st_value - shdr.sh_addr >= shdr.sh_size)
		return false;
	*ret_limit = shdr.sh_addr + shdr.sh_size;
	return true;
}

static int read_section(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, struct mew_symtab *t)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n, i;

	if (!data || !shdr->sh_entsize)
		return 0;
	n = data->d_size / shdr->sh_entsize;
	for (i = 0; i < n && i <= INT32_MAX; i++) {
		struct mew_symtab_entry *e;
		const char *name;
		uint64_t limit;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (!is_code(elf, &sym, name, &limit))
			continue;
		if (MEW_ARRAY_PUSH(t->entries, t->n, t->cap))
			return -ENOMEM;
		e = &t->entries[t->n++];
		*e = (struct mew_symtab_entry){
			.lo = sym.st_value,
			.hi = sym.st_value + (sym.st_size < limit - sym.st_value
						      ? sym.st_size
						      : limit - sym.st_value),
			.limit = limit,
			.linkage = name,
			.rank = rank_of(&sym, name),
		};
	}
	return 0;
}

static int read_type(Elf *elf, unsigned type, struct mew_symtab *t)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type)
			return read_section(elf, scn, &shdr, t);
	}
	return 0;
}

/*
 * Where the stubs of n relocations lie, and of what size they are. x86-64 psABI, Procedure Linkage
 * Table: .plt has one entry before them, .plt.sec (with IBT) has none. ELF for the Arm 64-bit
 * Architecture: a header of 32 bytes, and stubs of 16, or of 24 with a landing pad or a signature.
 */
static bool plt_layout(Elf *elf, const GElf_Ehdr *ehdr, uint64_t n, GElf_Shdr *plt,
		       uint64_t *ret_at, uint64_t *ret_bytes)
{
	bool is_x86 = ehdr->e_machine == EM_X86_64;
	bool is_sec = is_x86 && mew_section_named(elf, ".plt.sec", plt);

	if ((!is_x86 && ehdr->e_machine != EM_AARCH64) ||
	    (!is_sec && !mew_section_named(elf, ".plt", plt)))
		return false;
	*ret_bytes = PLT_ENTRY_BYTES;
	*ret_at = plt->sh_addr;
	if (is_x86) {
		*ret_at += is_sec ? 0 : PLT_ENTRY_BYTES;
		return true;
	}
	*ret_at += PLT_HEADER_ARM_BYTES;
	if (n && plt->sh_size > PLT_HEADER_ARM_BYTES &&
	    (plt->sh_size - PLT_HEADER_ARM_BYTES) / n >= PLT_ENTRY_ARM_LONG_BYTES)
		*ret_bytes = PLT_ENTRY_ARM_LONG_BYTES;
	return true;
}

/*
 * The stubs through which other modules are called have no symbols; each is taken for the function
 * that it leads to: stub i belongs to relocation i.
 */
static int read_plt(Elf *elf, struct mew_symtab *t)
{
	GElf_Shdr rela, plt, dynsym;
	Elf_Scn *rela_scn = mew_section_named(elf, ".rela.plt", &rela);
	Elf_Data *data = rela_scn ? elf_getdata(rela_scn, NULL) : NULL, *symbols;
	uint64_t at, bytes;
	GElf_Ehdr ehdr;
	GElf_Rela r;

	if (!data || !gelf_getehdr(elf, &ehdr) ||
	    !plt_layout(elf, &ehdr, rela.sh_entsize ? rela.sh_size / rela.sh_entsize : 0, &plt, &at,
			&bytes))
		return 0;
	rela_scn = elf_getscn(elf, rela.sh_link);
	symbols = rela_scn && gelf_getshdr(rela_scn, &dynsym) ? elf_getdata(rela_scn, NULL) : NULL;
	for (int i = 0; symbols && gelf_getrela(data, i, &r); i++, at += bytes) {
		const char *name;
		GElf_Sym sym;

		if (at < plt.sh_addr || at - plt.sh_addr + bytes > plt.sh_size)
			break;
		if (!gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym))
			continue;
		name = elf_strptr(elf, dynsym.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		if (MEW_ARRAY_PUSH(t->entries, t->n, t->cap))
			return -ENOMEM;
		t->entries[t->n++] = (struct mew_symtab_entry){
			.lo = at,
			.hi = at + bytes,
			.limit = plt.sh_addr + plt.sh_size,
			.linkage = name,
			.rank = rank_of(&sym, name),
		};
	}
	return 0;
}

int mew_symtab_add(Elf *elf, uint64_t bias, struct mew_symtab *t)
{
	size_t before = t->n, i;
	uint64_t reach = 0;
	int rc;

	rc = read_type(elf, SHT_SYMTAB, t);
	if (!rc && t->n == before)
		rc = read_type(elf, SHT_DYNSYM, t);
	if (!rc && t->n > before)
		rc = read_plt(elf, t);
	if (rc) {
		t->n = before;
		return rc;
	}
	for (i = before; i < t->n; i++) {
		struct mew_symtab_entry *e = &t->entries[i];

		e->lo -= bias;
		e->hi -= bias;
		e->limit -= bias;
		/* Damaged: beyond the end of all addresses. It holds none. */
		if (e->hi < e->lo || e->limit < e->hi)
			e->hi = e->limit = e->lo;
	}
	if (t->n > before)
		qsort(t->entries, t->n, sizeof(*t->entries), compare);
	for (i = 0; i < t->n; i++) {
		if (t->entries[i].hi > reach)
			reach = t->entries[i].hi;
		t->entries[i].reach = reach;
	}
	return 0;
}

void mew_symtab_done(struct mew_symtab *t)
{
	if (!t)
		return;
	free(t->entries);
	*t = (struct mew_symtab){0};
}

const struct mew_symtab_entry *mew_symtab_find(const struct mew_symtab *t, uint64_t vaddr)
{
	const struct mew_symtab_entry *e, *found = NULL;
	size_t lo = 0, hi = t->n, at, n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->entries[mid].lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* The innermost symbol of a size that covers it; of its aliases the first. */
	for (at = lo, n = 0; at && n < LOOK_BACK_MAX && t->entries[at - 1].reach > vaddr; n++) {
		e = &t->entries[--at];
		if (found && e->lo != found->lo)
			break;
		if (e->hi > vaddr)
			found = e;
	}
	if (found || !lo)
		return found;
	/* Hand-written code has labels of no size: they hold up to the next symbol. */
	e = &t->entries[lo - 1];
	if (e->hi > e->lo || vaddr >= e->limit)
		return NULL;
	while (e > t->entries && e[-1].lo == e->lo)
		e--;
	return e->hi == e->lo ? e : NULL;
}
