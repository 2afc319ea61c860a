/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "symbol/allocator.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/array.h"

/* What each allocator calls first: all of its other names come with one of these. */
static const char *const names[] = {
	"je_malloc",    "je_mallocx",    /* jemalloc, as servers build it in */
	"_rjem_malloc", "_rjem_mallocx", /* and Rust's crate of it */
	"mi_malloc",    "mi_malloc_aligned", "tc_malloc",       "rpmalloc",         "sn_malloc",
	"scudo_malloc", "dlmalloc",          "PyObject_Malloc", "runtime.mallocgc",
};

static const char *known(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name[0] == names[i][0] && !strcmp(name, names[i]))
			return names[i];
	return NULL;
}

/* What the symbols of one file say. */
struct seen {
	const char *has, *calls;
	int has_malloc; /* for others */
};

static void take(const char *name, const GElf_Sym *sym, int is_dynamic, struct seen *seen)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return;
	if (sym->st_shndx != SHN_UNDEF) {
		seen->has_malloc |= is_dynamic && !strcmp(name, "malloc");
		if (!seen->has && type != STT_NOTYPE)
			seen->has = known(name);
	} else if (is_dynamic && !seen->calls) {
		seen->calls = known(name);
	}
}

static void read_symbols(Elf *elf, GElf_Word wanted, struct seen *seen)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &sh) && sh.sh_type == wanted
					 ? elf_getdata(scn, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);

			if (name)
				take(name, &sym, wanted == SHT_DYNSYM, seen);
		}
	}
}

const char *mew_allocator_in(int fd)
{
	struct seen seen = {0};
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		read_symbols(elf, SHT_DYNSYM, &seen);
		if (!seen.calls && !seen.has_malloc)
			read_symbols(elf, SHT_SYMTAB, &seen);
	}
	elf_end(elf);
	return seen.calls || seen.has_malloc ? seen.calls : seen.has;
}

const char *mew_allocator_of(const struct mew_module *module)
{
	static struct known_file {
		const struct mew_file *file;
		const char *name;
	} * files;
	static size_t n_files, cap_files;
	const char *name;

	if (module->fd < 0 || !module->file)
		return NULL;
	for (size_t i = 0; i < n_files; i++)
		if (files[i].file == module->file)
			return files[i].name;
	name = mew_allocator_in(module->fd);
	if (!MEW_ARRAY_PUSH(files, n_files, cap_files))
		files[n_files++] = (struct known_file){module->file, name};
	return name;
}
