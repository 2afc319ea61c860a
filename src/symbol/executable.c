/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "channel/note.h"
#include "symbol/executable.h"
#include "symbol/section.h"

static void take_build_id(struct mew_executable *x, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n && i * 2 + 2 < sizeof x->build_id; i++)
		snprintf(x->build_id + i * 2, 3, "%02x", bytes[i]);
}

static void read_notes(Elf *elf, const GElf_Phdr *ph, struct mew_executable *x)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)ph->p_offset, ph->p_filesz,
					      ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name_off, desc_off;
	GElf_Nhdr nh;

	while (data && at < data->d_size &&
	       (at = gelf_getnote(data, at, &nh, &name_off, &desc_off)) > 0) {
		const char *name = (const char *)data->d_buf + name_off;

		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 && !memcmp(name, "GNU", 4))
			take_build_id(x, (const unsigned char *)data->d_buf + desc_off,
				      nh.n_descsz);
		if (nh.n_type == MEW_NOTE_TYPE && nh.n_namesz == sizeof MEW_NOTE_OWNER &&
		    !memcmp(name, MEW_NOTE_OWNER, sizeof MEW_NOTE_OWNER))
			x->is_benchmark = 1;
	}
}

static int names_sanitizer(const char *name)
{
	static const char *const marks[] = {"__asan_init", "__tsan_init", "__msan_init",
					    "__lsan_init"};

	for (size_t i = 0; name && i < sizeof marks / sizeof *marks; i++)
		if (!strcmp(name, marks[i]))
			return 1;
	return 0;
}

/* Entry points that give a block, by what they are: hooks.def. */
enum { ALLOCATE = 1, PLACE = 1, RESIZE = 1, NEW = 1, FREE = 0, DELETE = 0, ASK = 0 };

static const struct {
	const char *name;
	int gives;
} entries[] = {
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment) {#name, kind},
#include "channel/hooks.def"
#undef MEW_HOOK
};

static int names_malloc(const char *name)
{
	for (size_t i = 0; name && i < sizeof entries / sizeof *entries; i++)
		if (entries[i].gives && !strcmp(name, entries[i].name))
			return 1;
	return 0;
}

/* The sanitizers' run-time libraries are linked in (clang) or asked for (gcc): either way the
 * program's dynamic symbols name their start. */
static void read_dynamic(void *arg, const char *name, const GElf_Sym *sym)
{
	struct mew_executable *x = arg;

	(void)sym;
	x->is_sanitized |= names_sanitizer(name);
	x->calls_malloc |= names_malloc(name);
}

/* A piece of it, malloc.cold, is it too. */
static void read_own(void *arg, const char *name, const GElf_Sym *sym)
{
	struct mew_executable *x = arg;

	x->hides_malloc |= name && !strncmp(name, "malloc", 6) && (!name[6] || name[6] == '.') &&
			   GELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF;
}

int mew_executable_read(int fd, struct mew_executable *ret)
{
	size_t n_ph = 0;
	int interp = 0, dynamic = 0;
	GElf_Ehdr eh;
	Elf *elf;

	memset(ret, 0, sizeof *ret);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return -ENOMEM;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) ||
	    (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)) {
		elf_end(elf);
		return -ENOEXEC;
	}
	if (elf_getphdrnum(elf, &n_ph) < 0) {
		elf_end(elf);
		return -EPROTO;
	}
	for (size_t i = 0; i < n_ph; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph))
			continue;
		interp |= ph.p_type == PT_INTERP;
		dynamic |= ph.p_type == PT_DYNAMIC;
		if (ph.p_type == PT_NOTE)
			read_notes(elf, &ph, ret);
	}
	ret->is_static = !interp;
	if (dynamic)
		mew_section_symbols(elf, SHT_DYNSYM, read_dynamic, ret);
	/* A program that asks for malloc has none of its own, so its many symbols are not read. */
	if (dynamic && !ret->calls_malloc)
		mew_section_symbols(elf, SHT_SYMTAB, read_own, ret);
	elf_end(elf);
	return 0;
}
