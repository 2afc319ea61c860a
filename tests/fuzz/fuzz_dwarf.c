/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file with damaged debug info, on its way through the look-ups of addresses: sections
 * unpacked, units, functions, chains of inlined ones, their names, files and lines. Two bytes say
 * which addresses are asked for; the rest is the file.
 */
#include "config.h"

#include <errno.h>

#include "fuzz.h"
#include "symbol/dwarf.h"
#include "symbol/unpack.h"

static void describe(struct mew_dwarf *d, struct mew_dwarf_level *level)
{
	struct mew_buffer name = MEW_BUFFER_INIT;
	const char *linkage = mew_dwarf_linkage(&level->die);
	const char *file = mew_dwarf_file(d, &level->die);

	FUZZ_CHECK(!mew_dwarf_name(d, &level->die, &name));
	FUZZ_CHECK(!name.len || strlen(name.data) == name.len);
	FUZZ_CHECK((!linkage || strlen(linkage) < SIZE_MAX) && (!file || strlen(file) < SIZE_MAX));
	mew_dwarf_line(d, &level->die);
	mew_buffer_done(&name);
}

static void look_up(struct mew_dwarf *d, uint64_t vaddr)
{
	struct mew_dwarf_chain chain;
	unsigned i;

	FUZZ_CHECK(!mew_dwarf_at(d, vaddr, &chain));
	FUZZ_CHECK(chain.n <= MEW_DWARF_DEPTH);
	for (i = 0; i < chain.n; i++)
		describe(d, &chain.levels[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mew_unpacked_sections sections = {0};
	struct fuzz_input in = {data, size};
	uint64_t first = fuzz_number(&in, 1) * 16, step = fuzz_number(&in, 1) + 1, vaddr;
	char *image = malloc(in.left ? in.left : 1);
	size_t n = in.left;
	struct mew_dwarf *d = NULL;
	Elf *elf;
	int rc;

	if (!image)
		abort();
	elf_version(EV_CURRENT);
	fuzz_bytes(&in, image, n);
	elf = n ? elf_memory(image, n) : NULL;
	if (elf) {
		rc = mew_unpack_sections(elf, &sections);
		FUZZ_CHECK(rc == 0 || rc == -EPROTO);
		FUZZ_CHECK(!mew_dwarf_new(elf, &d));
		for (vaddr = first; d && vaddr < first + 64 * step; vaddr += step)
			look_up(d, vaddr);
		if (d)
			mew_dwarf_lacks_alt(d);
	}
	mew_dwarf_free(d);
	elf_end(elf);
	mew_unpacked_sections_done(&sections);
	free(image);
	return 0;
}
