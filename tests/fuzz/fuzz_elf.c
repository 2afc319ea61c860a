/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an ELF file, on its way through all that reads one but DWARF: segments, build-id,
 * CFI, symbols, the debug file's name, notes, compressed sections. Once as a file, once in memory.
 */
#include "config.h"

#include <sys/mman.h>

#include "fuzz.h"
#include "symbol/debugfile.h"
#include "symbol/allocator.h"
#include "symbol/executable.h"
#include "symbol/symtab.h"
#include "symbol/unpack.h"
/* What mew_file_at does without its cache, which would keep every input. */
#include "unwind/file.c"

static void read_file(Elf *elf)
{
	struct mew_file f = {.error = -ENOEXEC};
	uint64_t off;

	read_elf(&f, elf);
	FUZZ_CHECK(f.n_loads <= MEW_FILE_LOADS && f.build_id_bytes <= MEW_BUILD_ID_BYTES);
	FUZZ_CHECK((f.error == 0) == (f.cfi.n_rules > 0));
	for (off = 0; off < 0x10000; off += 0x1000)
		mew_file_bias(&f, 0x7f0000000000 + off, off);
	mew_cfi_done(&f.cfi);
}

static void read_symbols(Elf *elf)
{
	const struct mew_symtab_entry *e;
	struct mew_symtab t = {0};
	size_t i, n_bytes = 0;

	if (mew_symtab_add(elf, 0, &t) || mew_symtab_add(elf, -(uint64_t)0x1000, &t))
		return;
	for (i = 0; i < t.n; i++) {
		FUZZ_CHECK(t.entries[i].linkage && t.entries[i].lo <= t.entries[i].hi);
		n_bytes += strlen(t.entries[i].linkage);
		e = mew_symtab_find(&t, t.entries[i].lo);
		FUZZ_CHECK(!e || e->lo <= t.entries[i].lo);
		mew_symtab_find(&t, t.entries[i].hi);
		if (i > 64)
			break;
	}
	for (i = 0; i < 64; i++)
		mew_symtab_find(&t, i * 0x100);
	FUZZ_CHECK(n_bytes < SIZE_MAX);
	mew_symtab_done(&t);
}

static void unpack_mini(Elf *elf)
{
	struct mew_unpacked u = {0};

	if (!mew_unpack_mini(elf, &u)) {
		read_symbols(u.elf);
		mew_unpacked_done(&u);
	}
}

static void read_all(Elf *elf)
{
	struct mew_unpacked_sections sections = {0};
	int debug, rc;

	if (!elf)
		return;
	read_file(elf);
	read_symbols(elf);
	unpack_mini(elf);
	debug = mew_debugfile_open(elf, "/nonexistent/program");
	if (debug >= 0)
		close(debug);
	rc = mew_unpack_sections(elf, &sections);
	FUZZ_CHECK(rc == 0 || rc == -EPROTO);
	read_symbols(elf);
	elf_end(elf);
	mew_unpacked_sections_done(&sections);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct mew_executable executable;
	char *image = malloc(size ? size : 1);

	elf_version(EV_CURRENT);
	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (!image || fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	read_all(elf_begin(fd, ELF_C_READ, NULL));
	if (!mew_executable_read(fd, &executable))
		FUZZ_CHECK(strlen(executable.build_id) < sizeof(executable.build_id));
	mew_allocator_in(fd);
	if (size) {
		memcpy(image, data, size);
		read_all(elf_memory(image, size));
	}
	free(image);
	return 0;
}
