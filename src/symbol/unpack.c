/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/unpack.h"

#include <errno.h>
#include <gelf.h>
#include <libdeflate.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "base/array.h"
#include "symbol/section.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI, Section Compression */
#endif

#define LZMA_MEMORY_MAX (UINT64_C(128) << 20)

void mew_unpacked_done(struct mew_unpacked *u)
{
	elf_end(u->elf);
	if (u->bytes)
		munmap(u->bytes, u->n);
	*u = (struct mew_unpacked){0};
}

void mew_unpacked_sections_done(struct mew_unpacked_sections *u)
{
	while (u->n)
		mew_unpacked_done(&u->items[--u->n]);
	free(u->items);
	*u = (struct mew_unpacked_sections){0};
}

/* Only what is written becomes memory. */
static void *room(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Makes an Elf of the first n bytes. 0, -EPROTO or -ENOMEM. */
static int open_image(struct mew_unpacked *u, size_t n)
{
	u->elf = elf_memory(u->bytes, n);
	if (!u->elf)
		return -ENOMEM;
	return elf_kind(u->elf) == ELF_K_ELF ? 0 : -EPROTO;
}

/* ---- sections ---- */

/* What no look-up reads: where variables are, macros, tables of names, frames. */
static bool is_needed(const char *name)
{
	static const char *const others[] = {
		".debug_loc",      ".debug_loclists", ".debug_macro",        ".debug_macinfo",
		".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames", ".debug_gnu_pubtypes",
		".debug_names",    ".debug_aranges",  ".debug_frame",
	};
	size_t i;

	for (i = 0; name && i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(name, others[i]))
			return false;
	}
	return true;
}

/* to has room for exactly what should come out. 0, -EPROTO or -ENOMEM. */
static int unpack_bytes(unsigned type, const uint8_t *from, size_t n_from, void *to, size_t n_to)
{
	struct libdeflate_decompressor *zlib;
	bool ok;

	if (type == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(to, n_to, from, n_from) == n_to ? 0 : -EPROTO;
	if (type != ELFCOMPRESS_ZLIB)
		return -EPROTO;
	zlib = libdeflate_alloc_decompressor();
	if (!zlib)
		return -ENOMEM;
	ok = libdeflate_zlib_decompress(zlib, from, n_from, to, n_to, NULL) == LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(zlib);
	return ok ? 0 : -EPROTO;
}

/* left: the bytes that may still be unpacked; what this one takes is taken off. 0, -EPROTO,
 * -ENOMEM. */
static int unpack_section(Elf *elf, Elf_Scn *scn, uint64_t *left, struct mew_unpacked *ret)
{
	size_t header = gelf_getclass(elf) == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct mew_unpacked u = {0};
	GElf_Chdr chdr;
	int rc;

	if (!data || !data->d_buf || data->d_size < header || !gelf_getchdr(scn, &chdr) ||
	    !chdr.ch_size || chdr.ch_size > *left)
		return -EPROTO;
	u.n = chdr.ch_size;
	u.bytes = room(u.n);
	if (!u.bytes)
		return -ENOMEM;
	rc = unpack_bytes(chdr.ch_type, (const uint8_t *)data->d_buf + header,
			  data->d_size - header, u.bytes, u.n);
	if (rc) {
		mew_unpacked_done(&u);
		return rc;
	}
	*left -= u.n;
	*ret = u;
	return 0;
}

/* The section is from now on u, or nothing when u has no bytes. */
static int replace(Elf_Scn *scn, GElf_Shdr *shdr, const struct mew_unpacked *u)
{
	Elf_Data *data = u->bytes ? elf_getdata(scn, NULL) : NULL;

	shdr->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	shdr->sh_size = data ? u->n : 0;
	if (data) {
		data->d_buf = u->bytes;
		data->d_size = u->n;
		data->d_type = ELF_T_BYTE;
	} else {
		shdr->sh_type = SHT_NOBITS;
	}
	return gelf_update_shdr(scn, shdr) ? 0 : -EPROTO;
}

int mew_unpack_sections(Elf *elf, struct mew_unpacked_sections *u)
{
	uint64_t left = MEW_UNPACK_FILE_MAX;
	int rc = 0, damaged = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while (rc != -ENOMEM && (scn = elf_nextscn(elf, scn))) {
		struct mew_unpacked one = {0};

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_COMPRESSED) ||
		    shdr.sh_type == SHT_NOBITS)
			continue;
		if (MEW_ARRAY_PUSH(u->items, u->n, u->cap))
			return -ENOMEM;
		rc = is_needed(elf_strptr(elf, names, shdr.sh_name))
			     ? unpack_section(elf, scn, &left, &one)
			     : 0;
		u->items[u->n++] = one;
		if (replace(scn, &shdr, &one) || rc)
			damaged = -EPROTO;
	}
	return rc == -ENOMEM ? rc : damaged;
}

/* ---- .gnu_debugdata ---- */

int mew_unpack_mini(Elf *elf, struct mew_unpacked *ret)
{
	struct mew_unpacked u = {.n = MEW_UNPACK_MINI_MAX};
	uint64_t memory = LZMA_MEMORY_MAX;
	size_t in = 0, out = 0;
	lzma_ret done;
	GElf_Shdr shdr;
	Elf_Scn *scn = mew_section_named(elf, ".gnu_debugdata", &shdr);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	int rc;

	if (!data || !data->d_buf)
		return -ENOENT;
	u.bytes = room(u.n);
	if (!u.bytes)
		return -ENOMEM;
	done = lzma_stream_buffer_decode(&memory, 0, NULL, data->d_buf, &in, data->d_size, u.bytes,
					 &out, u.n);
	rc = done == LZMA_OK ? open_image(&u, out) : done == LZMA_MEM_ERROR ? -ENOMEM : -EPROTO;
	if (rc)
		mew_unpacked_done(&u);
	else
		*ret = u;
	return rc;
}
