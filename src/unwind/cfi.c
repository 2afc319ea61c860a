/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unwind/cpu.h"
#include "unwind/row.h"
#include "unwind/stub.h"

/*
 * libdw runs an FDE's program from its start for each row, so a row costs as much as it has rows
 * before it. What a file may cost in all is bounded: real ones stay a hundred times below.
 */
#define STEPS_MAX (256u << 20)

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

struct range {
	uint64_t lo, hi;             /* vaddr */
	const struct mew_rule *rule; /* of all of it; NULL: it has CFI */
};

/* One section of CFI, and what of it the list of ranges needs. */
struct section {
	Elf *elf;
	Elf_Data *data;
	uint64_t vaddr;
	bool eh;
	Dwarf_Off cie_off; /* of the CIE read last; -1: none */
	uint8_t encoding;  /* of its FDEs' addresses */
};

struct reader {
	struct section section;
	Dwarf_CFI *cfi;
	struct range *ranges; /* owned: one an FDE or stub */
	size_t n_ranges, cap_ranges;
	size_t cap_rules;
	uint64_t n_steps;
	uint64_t entry; /* the file's entry point; 0: none */
	struct mew_stub stubs[MEW_STUBS_MAX];
	struct mew_rows rows;
	struct mew_cfi out;
};

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

/* How the FDEs of the CIE at `off` encode addresses. */
static uint8_t cie_encoding(struct section *s, Dwarf_Off off)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(s->elf, NULL);
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	const uint8_t *p, *end;
	const char *a;

	if (!s->eh)
		return PE_absptr;
	if (off == s->cie_off)
		return s->encoding;
	s->cie_off = off;
	s->encoding = PE_omit;
	if (off >= s->data->d_size || dwarf_next_cfi(ident, s->data, s->eh, off, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return PE_omit;
	a = entry.cie.augmentation;
	if (*a != 'z') {
		if (!*a)
			s->encoding = PE_absptr;
		return s->encoding;
	}
	p = entry.cie.augmentation_data;
	end = p + entry.cie.augmentation_data_size;
	for (a++; *a; a++) {
		uint8_t encoding = 0;

		if (*a == 'S' || *a == 'B')
			continue;
		if ((*a != 'L' && *a != 'P' && *a != 'R') || !p || p >= end)
			return PE_omit;
		encoding = *p++;
		if (*a == 'P')
			p += encoded_bytes(encoding);
		if (*a == 'R') {
			s->encoding = encoding;
			return encoding;
		}
	}
	s->encoding = PE_absptr;
	return PE_absptr;
}

/* The addresses that an FDE covers. */
static bool fde_range(struct section *s, const Dwarf_FDE *fde, struct range *ret)
{
	uint8_t encoding = cie_encoding(s, fde->CIE_pointer);
	size_t bytes = encoded_bytes(encoding);
	uint8_t base = encoding & 0xf0;

	if (encoding == PE_omit || !bytes || (base && base != PE_pcrel) ||
	    (size_t)(fde->end - fde->start) < 2 * bytes)
		return false;
	ret->lo = encoded_value(fde->start, encoding);
	if (base == PE_pcrel)
		ret->lo += s->vaddr + (uint64_t)(fde->start - (const uint8_t *)s->data->d_buf);
	ret->hi = encoded_value(fde->start + bytes, encoding & ~8);
	return ret->hi && !__builtin_add_overflow(ret->lo, ret->hi, &ret->hi);
}

static int read_ranges(struct reader *r)
{
	struct section *s = &r->section;
	const unsigned char *ident = (const unsigned char *)elf_getident(s->elf, NULL);
	Dwarf_Off off = 0, next;

	while (off + 4 < s->data->d_size) {
		Dwarf_CFI_Entry entry;
		struct range range = {0};
		int rc;

		next = (Dwarf_Off)-1;
		rc = dwarf_next_cfi(ident, s->data, s->eh, off, &next, &entry);
		if (rc > 0) {
			off += 4; /* a terminator; linkers leave some in the middle */
			continue;
		}
		if (rc == 0 && !dwarf_cfi_cie_p(&entry)) {
			if (!fde_range(s, &entry.fde, &range)) {
				r->out.n_bad++;
			} else if (range.lo < r->out.base_vaddr) {
				/* Code that the linker threw away. */
			} else {
				if (MEW_ARRAY_PUSH(r->ranges, r->n_ranges, r->cap_ranges))
					return -ENOMEM;
				r->ranges[r->n_ranges++] = range;
			}
		} else if (rc < 0) {
			r->out.n_bad++;
		}
		if (next == (Dwarf_Off)-1 || next <= off)
			break;
		off = next;
	}
	return 0;
}

static int add_stubs(struct reader *r)
{
	size_t n = mew_stubs_find(r->section.elf, r->stubs), i;

	for (i = 0; i < n; i++) {
		if (r->stubs[i].lo < r->out.base_vaddr)
			continue;
		if (MEW_ARRAY_PUSH(r->ranges, r->n_ranges, r->cap_ranges))
			return -ENOMEM;
		r->ranges[r->n_ranges++] =
			(struct range){r->stubs[i].lo, r->stubs[i].hi, &r->stubs[i].rule};
	}
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->hi < y->hi ? -1 : x->hi > y->hi;
}

/* rule holds from vaddr on. */
static int push(struct reader *r, uint64_t vaddr, struct mew_rule rule)
{
	uint64_t start = vaddr - r->out.base_vaddr;
	struct mew_rule *last = r->out.n_rules ? &r->out.rules[r->out.n_rules - 1] : NULL;

	if (vaddr < r->out.base_vaddr || start > UINT32_MAX)
		return 0;
	rule.start = (uint32_t)start;
	if (last && last->start == rule.start) {
		*last = rule;
		return 0;
	}
	if (last) {
		struct mew_rule as_last = rule;

		as_last.start = last->start;
		if (!memcmp(&as_last, last, sizeof(rule)))
			return 0;
	}
	if (r->out.n_rules >= MEW_CFI_RULES_MAX)
		return -EFBIG;
	if (MEW_ARRAY_PUSH(r->out.rules, r->out.n_rules, r->cap_rules))
		return -ENOMEM;
	r->out.rules[r->out.n_rules++] = rule;
	return 0;
}

/* The rows of one FDE. */
static int read_rows(struct reader *r, const struct range *range)
{
	static const struct mew_rule unsaid = {.cfa = MEW_CFA_EVALUATE, .cfa_off = -1};
	uint64_t at = range->lo, n_rows = 0;
	int rc = 0;

	while (!rc && at < range->hi) {
		Dwarf_Addr lo = 0, hi = 0;
		Dwarf_Frame *frame = NULL;
		struct mew_rule rule = unsaid;
		bool signal = false;
		int ra_regno;

		r->n_steps += ++n_rows;
		if (r->n_steps > STEPS_MAX || dwarf_cfi_addrframe(r->cfi, at, &frame)) {
			r->out.n_bad++;
			return push(r, at, unsaid);
		}
		ra_regno = dwarf_frame_info(frame, &lo, &hi, &signal);
		if (ra_regno >= 0)
			rc = mew_rows_rule(&r->rows, frame, ra_regno, signal, &rule);
		free(frame);
		if (!rc)
			rc = push(r, at, rule);
		if (hi <= at) {
			r->out.n_bad++;
			return rc ? rc : push(r, at, unsaid);
		}
		at = hi;
	}
	r->out.n_fdes++;
	return rc;
}

/*
 * What lies between lo and hi has no FDE. Of the code that begins at the file's entry point nobody
 * is the caller, whether it says so or not: _start of ld.so and of some libraries of C says
 * nothing.
 */
static int read_gap(struct reader *r, uint64_t lo, uint64_t hi)
{
	static const struct mew_rule none = {.cfa = MEW_CFA_NONE}, end = {.cfa = MEW_CFA_END};
	int rc = lo ? push(r, lo, none) : 0;

	return rc || !r->entry || r->entry < lo || r->entry >= hi ? rc : push(r, r->entry, end);
}

static int read_rules(struct reader *r)
{
	size_t i;
	int rc = 0;

	qsort(r->ranges, r->n_ranges, sizeof(*r->ranges), compare_ranges);
	if (r->n_ranges)
		rc = read_gap(r, 0, r->ranges[0].lo);
	for (i = 0; !rc && i < r->n_ranges; i++) {
		struct range range = r->ranges[i];
		uint64_t next = i + 1 < r->n_ranges ? r->ranges[i + 1].lo : UINT64_MAX;

		/* Overlaps are the file's fault; the next FDE has its start. */
		if (next < range.hi)
			range.hi = next;
		if (range.hi == range.lo)
			continue;
		rc = range.rule ? push(r, range.lo, *range.rule) : read_rows(r, &range);
		if (!rc)
			rc = read_gap(r, range.hi, next);
	}
	for (i = 0; i < r->out.n_rules; i++) {
		const struct mew_rule *rule = &r->out.rules[i];

		r->out.n_evaluate += rule->cfa == MEW_CFA_EVALUATE;
		r->out.n_unsaid += rule->cfa == MEW_CFA_EVALUATE && rule->cfa_off < 0;
	}
	return rc;
}

/* The section's data, or NULL. */
static Elf_Data *find_section(Elf *elf, const char *name, uint64_t *ret_vaddr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *found;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, shdr.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*ret_vaddr = shdr.sh_addr;
		return elf_rawdata(scn, NULL);
	}
	return NULL;
}

static int check_elf(Elf *elf, uint64_t *ret_base, uint64_t *ret_entry, struct mew_error *error)
{
	size_t n_phdrs, i;
	uint64_t base = UINT64_MAX;
	GElf_Ehdr ehdr;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		return mew_error_set(error, -ENOEXEC, "not an ELF file");
	if (ehdr.e_machine != MEW_CPU_EM || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return mew_error_set(error, -ENOTSUP, "code of another kind of CPU");
	if (elf_getphdrnum(elf, &n_phdrs))
		return mew_error_set(error, -ENOEXEC, "cannot read its program headers");
	for (i = 0; i < n_phdrs; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_vaddr < base)
			base = phdr.p_vaddr;
	}
	if (base == UINT64_MAX)
		return mew_error_set(error, -ENOEXEC, "nothing in it is ever loaded");
	*ret_base = base;
	*ret_entry = ehdr.e_entry > base ? ehdr.e_entry : 0;
	return 0;
}

int mew_cfi_read(Elf *elf, struct mew_cfi *ret, struct mew_error *error)
{
	struct reader r = {.section = {.elf = elf, .eh = true, .cie_off = (Dwarf_Off)-1}};
	Dwarf *dwarf = NULL;
	int rc;

	rc = check_elf(elf, &r.out.base_vaddr, &r.entry, error);
	if (rc)
		return rc;
	r.section.data = find_section(elf, ".eh_frame", &r.section.vaddr);
	if (r.section.data && r.section.data->d_buf && r.section.data->d_size > 4)
		r.cfi = dwarf_getcfi_elf(elf);
	if (!r.cfi) {
		r.section.eh = false;
		dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
		r.section.data = find_section(elf, ".debug_frame", &r.section.vaddr);
		if (dwarf && r.section.data && r.section.data->d_buf)
			r.cfi = dwarf_getcfi(dwarf);
	}
	if (r.cfi)
		rc = read_ranges(&r);
	if (!rc)
		rc = add_stubs(&r);
	if (!rc)
		rc = read_rules(&r);
	if (rc == -EFBIG)
		mew_error_set(error, rc, "more than %u rules", MEW_CFI_RULES_MAX);
	else if (rc)
		mew_error_errno(error, rc, "cannot make unwind rules");
	else if (!r.out.n_rules)
		rc = mew_error_set(error, -ENODATA, "no call frame information");
	if (r.section.eh && r.cfi)
		dwarf_cfi_end(r.cfi);
	if (dwarf)
		dwarf_end(dwarf);
	free(r.ranges);
	r.out.saves = r.rows.saves;
	r.out.n_saves = r.rows.n_saves;
	r.out.ops = r.rows.ops;
	r.out.n_ops = r.rows.n_ops;
	if (rc)
		mew_cfi_done(&r.out);
	else
		*ret = r.out;
	return rc;
}

void mew_cfi_done(struct mew_cfi *c)
{
	if (!c)
		return;
	free(c->rules);
	free(c->saves);
	free(c->ops);
	*c = (struct mew_cfi){0};
}
