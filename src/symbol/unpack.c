/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/unpack.h"

#include <errno.h>
#include <gelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "symbol/section.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI, Section Compression */
#endif

#define SECTION_ALIGN UINT64_C(16)
#define LZMA_MEMORY_MAX (UINT64_C(128) << 20)

void mew_unpacked_done(struct mew_unpacked *u)
{
	elf_end(u->elf);
	if (u->bytes)
		munmap(u->bytes, u->n);
	*u = (struct mew_unpacked){0};
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

/* ---- zstd sections ---- */

/* A section that is compressed by zstd: where its bytes are and what becomes of them. */
struct packed {
	uint64_t off, bytes; /* in the file, after the compression header */
	uint64_t size, align;
};

static bool is_packed(const Elf64_Shdr *s, const uint8_t *file, uint64_t file_bytes,
		      struct packed *ret)
{
	Elf64_Chdr c;

	if (!(s->sh_flags & SHF_COMPRESSED) || s->sh_type == SHT_NOBITS || s->sh_size < sizeof(c) ||
	    s->sh_offset > file_bytes || s->sh_size > file_bytes - s->sh_offset)
		return false;
	memcpy(&c, file + s->sh_offset, sizeof(c));
	if (c.ch_type != ELFCOMPRESS_ZSTD)
		return false;
	*ret = (struct packed){s->sh_offset + sizeof(c), s->sh_size - sizeof(c), c.ch_size,
			       c.ch_addralign};
	return true;
}

/* What the zstd sections of elf will take, by their headers; 0: it has none. */
static uint64_t unpacked_bytes(Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint64_t n = 0;
	GElf_Shdr shdr;
	GElf_Chdr chdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_COMPRESSED) ||
		    !gelf_getchdr(scn, &chdr) || chdr.ch_type != ELFCOMPRESS_ZSTD)
			continue;
		if (chdr.ch_size > MEW_UNPACK_FILE_MAX - n)
			return MEW_UNPACK_FILE_MAX + 1;
		n += chdr.ch_size + SECTION_ALIGN;
	}
	return n;
}

static int read_whole(int fd, uint8_t *to, size_t n)
{
	size_t at = 0;

	while (at < n) {
		ssize_t got = pread(fd, to + at, n - at, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EPROTO;
		at += (size_t)got;
	}
	return 0;
}

/* The table of section headers: inside of the file, of our own size. Or NULL. */
static Elf64_Shdr *section_headers(uint8_t *file, uint64_t bytes, size_t *ret_n)
{
	Elf64_Ehdr e;

	if (bytes < sizeof(e))
		return NULL;
	memcpy(&e, file, sizeof(e));
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
	    e.e_shentsize != sizeof(Elf64_Shdr) || !e.e_shnum || e.e_shoff % 8 ||
	    e.e_shoff > bytes || e.e_shnum > (bytes - e.e_shoff) / sizeof(Elf64_Shdr))
		return NULL;
	*ret_n = e.e_shnum;
	return (Elf64_Shdr *)(void *)(file + e.e_shoff);
}

/* The file, then the unpacked sections, to which its section headers now point. */
static int unpack_file(int fd, size_t bytes, size_t more, struct mew_unpacked *u)
{
	uint64_t end = bytes;
	struct packed p;
	Elf64_Shdr *s;
	uint8_t *file;
	size_t n = 0, i;
	int rc;

	u->n = bytes + more;
	u->bytes = file = room(u->n);
	if (!file)
		return -ENOMEM;
	rc = read_whole(fd, file, bytes);
	if (rc)
		return rc;
	s = section_headers(file, bytes, &n);
	for (i = 0; s && i < n; i++) {
		if (!is_packed(&s[i], file, bytes, &p))
			continue;
		end = (end + SECTION_ALIGN - 1) & -SECTION_ALIGN;
		if (end > u->n || p.size > u->n - end ||
		    ZSTD_decompress(file + end, p.size, file + p.off, p.bytes) != p.size)
			return -EPROTO;
		s[i].sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		s[i].sh_offset = end;
		s[i].sh_size = p.size;
		s[i].sh_addralign = p.align;
		end += p.size;
	}
	return open_image(u, end);
}

int mew_unpack_zstd(Elf *elf, int fd, struct mew_unpacked *ret)
{
	struct mew_unpacked u = {0};
	uint64_t more = unpacked_bytes(elf);
	struct stat st;
	int rc;

	if (!more)
		return -ENOENT;
	if (fstat(fd, &st))
		return -errno;
	if (st.st_size <= 0 || (uint64_t)st.st_size > MEW_UNPACK_FILE_MAX ||
	    more > MEW_UNPACK_FILE_MAX)
		return -EPROTO;
	rc = unpack_file(fd, (size_t)st.st_size, (size_t)more + SECTION_ALIGN, &u);
	if (rc)
		mew_unpacked_done(&u);
	else
		*ret = u;
	return rc;
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
