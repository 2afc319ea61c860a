/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "channel/note.h"
#include "symbol/executable.h"

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

/* The run-time libraries are linked in (clang) or asked for (gcc): either way the program's symbol
 * table names their start. */
static void read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct mew_executable *x)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; data && !x->is_sanitized && gelf_getsym(data, i, &sym); i++)
		x->is_sanitized = names_sanitizer(elf_strptr(elf, sh->sh_link, sym.st_name));
}

int mew_executable_read(int fd, struct mew_executable *ret)
{
	size_t n_ph = 0;
	int interp = 0, dynamic = 0;
	Elf_Scn *scn = NULL;
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
	while (dynamic && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM)
			read_symbols(elf, scn, &sh, ret);
	}
	elf_end(elf);
	return 0;
}
