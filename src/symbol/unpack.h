/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h: compressed sections (zlib, zstd), and the small ELF file of functions that
 * distributions put into .gnu_debugdata (xz). libelf 0.188 knows zlib alone, and libdw would have
 * it unpack all sections, the largest of which no look-up reads. Input is not trusted: sizes are
 * bounded. Knows no DWARF.
 */
#ifndef MEW_SYMBOL_UNPACK_H
#define MEW_SYMBOL_UNPACK_H

#include <libelf.h>
#include <stddef.h>

#define MEW_UNPACK_FILE_MAX (UINT64_C(8) << 30)   /* bytes of a file's unpacked sections */
#define MEW_UNPACK_MINI_MAX (UINT64_C(256) << 20) /* bytes of an unpacked .gnu_debugdata */

/* Unpacked bytes, which may be an ELF image; zeroed: none. */
struct mew_unpacked {
	void *bytes; /* owned */
	size_t n;
	Elf *elf; /* owned, of these bytes; NULL: they are none */
};

/* Ends the Elf and its memory; what was borrowed from it ends, too. */
void mew_unpacked_done(struct mew_unpacked *u);

/* Those of the sections of a file; zeroed: none. */
struct mew_unpacked_sections {
	struct mew_unpacked *items; /* owned */
	size_t n, cap;
};

/* After elf_end() of the file. */
void mew_unpacked_sections_done(struct mew_unpacked_sections *u);

/*
 * Makes the compressed sections of elf plain, in place: elf borrows them from *u, which is zeroed
 * before and is to be kept however this ends. Those that look-ups do without become SHT_NOBITS.
 * 0; -EPROTO: some were damaged or too large, and are SHT_NOBITS now; -ENOMEM.
 */
int mew_unpack_sections(Elf *elf, struct mew_unpacked_sections *u);

/* What .gnu_debugdata of elf holds. 0; -ENOENT: there is none; -EPROTO; -ENOMEM. */
int mew_unpack_mini(Elf *elf, struct mew_unpacked *ret);

#endif
