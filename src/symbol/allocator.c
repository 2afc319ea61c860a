/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "symbol/allocator.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/array.h"
#include "symbol/section.h"

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

static int is_code(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static void take_own(void *arg, const char *name, const GElf_Sym *sym)
{
	struct seen *seen = arg;

	if (name && !seen->has && sym->st_shndx != SHN_UNDEF && is_code(sym))
		seen->has = known(name);
}

/* What is asked of other files may have no type. */
static void take_dynamic(void *arg, const char *name, const GElf_Sym *sym)
{
	struct seen *seen = arg;

	take_own(seen, name, sym);
	if (name && sym->st_shndx != SHN_UNDEF)
		seen->has_malloc |= is_code(sym) && !strcmp(name, "malloc");
	else if (name && !seen->calls && GELF_ST_TYPE(sym->st_info) != STT_OBJECT)
		seen->calls = known(name);
}

const char *mew_allocator_in(int fd)
{
	struct seen seen = {0};
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		mew_section_symbols(elf, SHT_DYNSYM, take_dynamic, &seen);
		if (!seen.calls && !seen.has_malloc)
			mew_section_symbols(elf, SHT_SYMTAB, take_own, &seen);
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
