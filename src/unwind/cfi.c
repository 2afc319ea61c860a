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
#include "unwind/frames.h"
#include "unwind/row.h"
#include "unwind/stub.h"

/*
 * libdw runs an FDE's program from its start for each row. What a file may cost in all is bounded,
 * in instructions: real ones stay a hundred times below.
 */
#define STEPS_MAX (256u << 20)

struct range {
	uint64_t lo, hi;             /* vaddr */
	const struct mew_rule *rule; /* of all of it; NULL: it has CFI */
	size_t n_ops;                /* of its program; libdw runs it for each row */
};

struct reader {
	Elf *elf;
	struct mew_frames frames;
	Dwarf *dwarf; /* of .debug_frame; NULL: cfi is of .eh_frame */
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

static int read_ranges(struct reader *r)
{
	struct mew_frames_range range;
	enum mew_frames_entry entry;
	uint64_t off = 0;

	while ((entry = mew_frames_next(&r->frames, &off, &range)) != MEW_FRAMES_END) {
		r->out.n_bad += entry == MEW_FRAMES_BAD;
		/* Below is code that the linker threw away. */
		if (entry != MEW_FRAMES_FDE || range.lo < r->out.base_vaddr)
			continue;
		if (MEW_ARRAY_PUSH(r->ranges, r->n_ranges, r->cap_ranges))
			return -ENOMEM;
		r->ranges[r->n_ranges++] =
			(struct range){.lo = range.lo, .hi = range.hi, .n_ops = range.n_ops};
	}
	return 0;
}

static int add_stubs(struct reader *r)
{
	size_t n = mew_stubs_find(r->elf, r->stubs), i;

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
	uint64_t at = range->lo;
	int rc = 0;

	while (!rc && at < range->hi) {
		Dwarf_Addr lo = 0, hi = 0;
		Dwarf_Frame *frame = NULL;
		struct mew_rule rule = unsaid;
		bool signal = false;
		int ra_regno;

		r->n_steps += range->n_ops + 1;
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

	if (!r->n_ranges)
		return 0;
	qsort(r->ranges, r->n_ranges, sizeof(*r->ranges), compare_ranges);
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

/* How much larger data can get that was deflated. */
#define DEFLATE_RATIO_MAX 1032

/*
 * The section's data. Compressed, as .debug_frame may be, it is unpacked in the Elf. NULL: it is
 * empty, and *ret_error if it cannot be unpacked.
 */
static Elf_Data *section_data(Elf_Scn *scn, const GElf_Shdr *shdr, int *ret_error)
{
	GElf_Chdr chdr;

	if (!(shdr->sh_flags & SHF_COMPRESSED))
		return elf_rawdata(scn, NULL);
	if (!gelf_getchdr(scn, &chdr) || chdr.ch_type != ELFCOMPRESS_ZLIB ||
	    chdr.ch_size / DEFLATE_RATIO_MAX > shdr->sh_size || elf_compress(scn, 0, 0) < 0) {
		*ret_error = -EPROTONOSUPPORT;
		return NULL;
	}
	return elf_getdata(scn, NULL);
}

/* The data of the section of that name, or NULL: as above. */
static Elf_Data *find_section(Elf *elf, const char *name, uint64_t *ret_vaddr, int *ret_error)
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
		return section_data(scn, &shdr, ret_error);
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

/* Makes cfi of that section; it stays NULL when there is nothing in it. 0 or negative errno. */
static int open_frames(struct reader *r, bool eh)
{
	uint64_t vaddr = 0;
	int rc = 0;
	Elf_Data *data = find_section(r->elf, eh ? ".eh_frame" : ".debug_frame", &vaddr, &rc);

	if (rc || !data || !data->d_buf || data->d_size <= 4)
		return rc;
	mew_frames_done(&r->frames);
	rc = mew_frames_open(&r->frames, eh, data->d_buf, data->d_size, vaddr);
	if (!rc)
		rc = mew_frames_clean(&r->frames);
	if (rc)
		return rc;
	if (eh) {
		r->cfi = dwarf_getcfi_elf(r->frames.elf);
		return 0;
	}
	r->dwarf = dwarf_begin_elf(r->frames.elf, DWARF_C_READ, NULL);
	r->cfi = r->dwarf ? dwarf_getcfi(r->dwarf) : NULL;
	return 0;
}

static void close_frames(struct reader *r)
{
	if (r->cfi && !r->dwarf)
		dwarf_cfi_end(r->cfi);
	if (r->dwarf)
		dwarf_end(r->dwarf);
	mew_frames_done(&r->frames);
}

int mew_cfi_read(Elf *elf, struct mew_cfi *ret, struct mew_error *error)
{
	struct reader r = {.elf = elf};
	int rc;

	rc = check_elf(elf, &r.out.base_vaddr, &r.entry, error);
	if (rc)
		return rc;
	rc = open_frames(&r, true);
	if (!rc && !r.cfi)
		rc = open_frames(&r, false);
	if (!rc && r.cfi)
		rc = read_ranges(&r);
	if (!rc)
		rc = add_stubs(&r);
	if (!rc)
		rc = read_rules(&r);
	if (rc == -EFBIG)
		mew_error_set(error, rc, "more than %u rules", MEW_CFI_RULES_MAX);
	else if (rc == -EPROTONOSUPPORT)
		mew_error_set(error, rc, "its call frame information cannot be unpacked");
	else if (rc == -EBADMSG)
		mew_error_set(error, rc, "its call frame information is damaged");
	else if (rc)
		mew_error_errno(error, rc, "cannot make unwind rules");
	else if (!r.out.n_rules)
		rc = mew_error_set(error, -ENODATA, "no call frame information");
	close_frames(&r);
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
