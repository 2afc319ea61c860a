/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "dwfl_walk.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/cpu.h"

#define MAPPINGS_MAX 256
#define RED_ZONE 128
#define TID 1
#define RETURN_COLUMN (MEW_CPU_HAS_LR ? MEW_CPU_LR : MEW_CPU_PC)

struct mapping {
	char *path; /* owned */
	int fd;
	uint64_t start, end, file_off, bias, entry;
};

struct dwfl_walk {
	struct mapping mappings[MAPPINGS_MAX];
	size_t n_mappings;
	Dwfl *dwfl; /* made by the first run */
	bool attached;
	/* the run */
	const struct dwfl_walk_stack *stack;
	struct dwfl_walk_result *result;
	bool above, below;   /* since the last frame: words outside the copy that were wanted */
	uint64_t top, value; /* the highest word that was read, and what it held */
	char name[256];
};

struct dwfl_walk *dwfl_walk_new(void)
{
	return calloc(1, sizeof(struct dwfl_walk));
}

void dwfl_walk_free(struct dwfl_walk *w)
{
	size_t i;

	if (!w)
		return;
	if (w->dwfl)
		dwfl_end(w->dwfl);
	for (i = 0; i < w->n_mappings; i++) {
		close(w->mappings[i].fd);
		free(w->mappings[i].path);
	}
	free(w);
}

/* ---- what is mapped ---- */

static int open_vdso(void)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	size_t bytes;

	if (fd < 0 || !ehdr)
		return -ENOENT;
	bytes = ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize;
	if (write(fd, ehdr, bytes) == (ssize_t)bytes)
		return fd;
	close(fd);
	return -EIO;
}

/* By the segment that holds file_off. */
static int find_bias(struct mapping *m)
{
	Elf *elf = elf_begin(m->fd, ELF_C_READ, NULL);
	size_t n, i;
	GElf_Ehdr ehdr;
	int rc = -ENOEXEC;

	if (elf && gelf_getehdr(elf, &ehdr) && !elf_getphdrnum(elf, &n)) {
		for (i = 0; i < n; i++) {
			GElf_Phdr p;

			if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD ||
			    !(p.p_flags & PF_X) || m->file_off + 4096 <= p.p_offset ||
			    m->file_off >= p.p_offset + p.p_filesz)
				continue;
			m->bias = m->start - m->file_off + p.p_offset - p.p_vaddr;
			m->entry = ehdr.e_entry ? ehdr.e_entry + m->bias : 0;
			rc = 0;
		}
	}
	elf_end(elf);
	return rc;
}

int dwfl_walk_add(struct dwfl_walk *w, const char *path, uint64_t start, uint64_t end,
		  uint64_t file_off)
{
	struct mapping m = {.start = start, .end = end, .file_off = file_off};
	int rc;

	elf_version(EV_CURRENT);
	if (w->n_mappings == MAPPINGS_MAX)
		return -ENOSPC;
	m.fd = strcmp(path, "[vdso]") != 0 ? open(path, O_RDONLY | O_CLOEXEC) : open_vdso();
	if (m.fd < 0)
		return -ENOENT;
	rc = find_bias(&m);
	m.path = strdup(path);
	if (rc || !m.path) {
		close(m.fd);
		free(m.path);
		return rc ? rc : -ENOMEM;
	}
	w->mappings[w->n_mappings++] = m;
	return 0;
}

static const struct mapping *find(const struct dwfl_walk *w, uint64_t pc)
{
	size_t i = w->n_mappings;

	while (i--) {
		if (pc >= w->mappings[i].start && pc < w->mappings[i].end)
			return &w->mappings[i];
	}
	return NULL;
}

/* ---- what libdwfl asks for ---- */

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret_file)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)ret_file;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **ret_thread)
{
	(void)dwfl;
	if (*ret_thread)
		return 0;
	*ret_thread = arg;
	return TID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **ret_thread)
{
	(void)dwfl;
	*ret_thread = arg;
	return tid == TID;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct dwfl_walk *w = arg;

	/* Where the pc is none of DWARF's registers, it goes by itself. */
	if (MEW_CPU_HAS_LR)
		dwfl_thread_state_register_pc(thread, w->stack->regs[MEW_CPU_PC]);
	return dwfl_thread_state_registers(thread, 0, MEW_CPU_REGS - MEW_CPU_HAS_LR,
					   w->stack->regs);
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *ret, void *arg)
{
	struct dwfl_walk *w = arg;
	const struct dwfl_walk_stack *s = w->stack;
	const struct mapping *m;

	(void)dwfl;
	if (at >= s->lo && s->hi >= 8 && at <= s->hi - 8) {
		memcpy(ret, s->bytes + (at - s->lo), sizeof(*ret));
		if (at >= w->top) {
			w->top = at;
			w->value = *ret;
		}
		return true;
	}
	m = find(w, at);
	if (m && pread(m->fd, ret, sizeof(*ret), (off_t)(at - m->start + m->file_off)) ==
			 (ssize_t)sizeof(*ret))
		return true;
	w->above |= at > s->hi - 8 && at - s->hi < 64u << 20;
	w->below |= at < s->lo && s->lo - at <= RED_ZONE;
	return false;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int set_up(struct dwfl_walk *w)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = no_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	size_t i, k;

	w->dwfl = dwfl_begin(&callbacks);
	if (!w->dwfl)
		return -1;
	dwfl_report_begin(w->dwfl);
	for (i = 0; i < w->n_mappings; i++) {
		struct mapping *m = &w->mappings[i];

		for (k = 0; k < i && (w->mappings[k].bias != m->bias ||
				      strcmp(w->mappings[k].path, m->path) != 0);
		     k++)
			;
		/* The descriptor is libdwfl's from here on. */
		if (k == i &&
		    !dwfl_report_elf(w->dwfl, m->path, m->path, dup(m->fd), m->bias, true)) {
			fprintf(stderr, "%s: %s\n", m->path, dwfl_errmsg(-1));
			return -1;
		}
	}
	dwfl_report_end(w->dwfl, NULL, NULL);
	w->attached = dwfl_attach_state(w->dwfl, NULL, TID, &thread_callbacks, w);
	if (!w->attached)
		fprintf(stderr, "libdwfl: %s\n", dwfl_errmsg(-1));
	return w->attached ? 0 : -1;
}

/* ---- the walk ---- */

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct dwfl_walk *w = arg;
	struct dwfl_walk_result *r = w->result;

	/* What is asked for from now on is asked to leave this frame. */
	if (r->n_frames == 1)
		r->below_sp = w->below;
	w->above = w->below = false;
	w->top = w->value = 0;
	if (r->n_frames == DWFL_WALK_FRAMES ||
	    !dwfl_frame_pc(frame, &r->pcs[r->n_frames], &r->activation[r->n_frames]))
		return DWARF_CB_ABORT;
	r->n_frames++;
	return DWARF_CB_OK;
}

/* The row of pc; free() gives it back. NULL: none. */
static Dwarf_Frame *find_row(struct dwfl_walk *w, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(w->dwfl, pc);
	Dwarf_Addr bias;
	Dwarf_Frame *row = NULL;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;

	if (cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &row))
		return row;
	cfi = module ? dwfl_module_dwarf_cfi(module, &bias) : NULL;
	if (cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &row))
		return row;
	return NULL;
}

bool dwfl_walk_has_row(struct dwfl_walk *w, uint64_t pc)
{
	Dwarf_Frame *row = find_row(w, pc);
	bool found = row != NULL;

	free(row);
	return found;
}

/* Why it went no further: libdwfl itself does not tell an outermost frame from a broken one. */
static enum dwfl_walk_end find_end(struct dwfl_walk *w, int status)
{
	const struct dwfl_walk_result *r = w->result;
	uint32_t last = r->n_frames - 1;
	Dwarf_Frame *row = find_row(w, r->pcs[last] - !r->activation[last]);
	Dwarf_Op mem[3], *ops = NULL;
	size_t n = 0;
	bool undefined;

	if (!row)
		return DWFL_WALK_NO_CFI;
	undefined = !dwarf_frame_register(row, RETURN_COLUMN, mem, &ops, &n) && !n && ops == mem;
	free(row);
	if (undefined)
		return DWFL_WALK_OUTERMOST;
	if (status == 0 && w->above)
		return DWFL_WALK_CUT;
	return status == 0 && w->top && !w->value ? DWFL_WALK_OUTERMOST : DWFL_WALK_STUCK;
}

int dwfl_walk_run(struct dwfl_walk *w, const struct dwfl_walk_stack *stack,
		  struct dwfl_walk_result *ret)
{
	int status;

	w->stack = stack;
	w->result = ret;
	w->above = w->below = false;
	ret->n_frames = 0;
	ret->below_sp = false;
	if (!w->dwfl && set_up(w))
		return -1;
	if (!w->attached)
		return -1;
	status = dwfl_getthread_frames(w->dwfl, TID, on_frame, w);
	if (!ret->n_frames) {
		fprintf(stderr, "libdwfl: %s\n", dwfl_errmsg(-1));
		return -1;
	}
	if (ret->n_frames == 1)
		ret->below_sp = w->below;
	ret->end = find_end(w, status);
	return 0;
}

/* ---- for the one who compares ---- */

uint64_t dwfl_walk_from_entry(struct dwfl_walk *w, uint64_t pc)
{
	const struct mapping *m = find(w, pc);

	return m && m->entry && pc >= m->entry ? pc - m->entry : UINT64_MAX;
}

const char *dwfl_walk_name(struct dwfl_walk *w, uint64_t pc)
{
	const struct mapping *m = find(w, pc);

	if (!m)
		return "no module";
	snprintf(w->name, sizeof(w->name), "%.200s+%#llx", m->path,
		 (unsigned long long)(pc - m->bias));
	return w->name;
}
