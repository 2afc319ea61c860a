/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h: what libelf 0.188 cannot unpack: sections compressed by zstd, and the small ELF file
 * of functions that distributions put into .gnu_debugdata (xz). Both become ELF images in memory.
 * Input is not trusted: sizes are bounded. Knows no DWARF.
 */
#ifndef MEW_SYMBOL_UNPACK_H
#define MEW_SYMBOL_UNPACK_H

#include <libelf.h>
#include <stddef.h>

#define MEW_UNPACK_FILE_MAX (UINT64_C(8) << 30)   /* bytes of a file, and of what it unpacks to */
#define MEW_UNPACK_MINI_MAX (UINT64_C(256) << 20) /* bytes of an unpacked .gnu_debugdata */

/* An ELF image in memory; zeroed: none. */
struct mew_unpacked {
	void *bytes; /* owned */
	size_t n;
	Elf *elf; /* owned, of these bytes */
};

/* Ends the Elf and its memory; what was borrowed from it ends, too. */
void mew_unpacked_done(struct mew_unpacked *u);

/*
 * The file of elf, open at fd, with its zstd sections unpacked. 0; -ENOENT: it has none; -EPROTO:
 * they are damaged or too large; -ENOMEM; else the errno of reading.
 */
int mew_unpack_zstd(Elf *elf, int fd, struct mew_unpacked *ret);

/* What .gnu_debugdata of elf holds. 0; -ENOENT: there is none; -EPROTO; -ENOMEM. */
int mew_unpack_mini(Elf *elf, struct mew_unpacked *ret);

#endif
