/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/debugfile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "symbol/debuginfod.h"

#define DEBUG_ROOTS "/usr/lib/debug"

struct wanted {
	const uint8_t *build_id;
	ssize_t build_id_bytes; /* 0: none */
	const char *link;       /* file name; NULL: none */
	GElf_Word crc;
};

/* The CRC-32 of zlib and of .gnu_debuglink. */
static bool has_crc(int fd, uint32_t want)
{
	uint32_t table[256], crc = UINT32_MAX, i, bit;
	uint8_t bytes[65536];
	off_t at = 0;
	ssize_t n, k;

	for (i = 0; i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		for (k = 0; k < n; k++)
			crc = crc >> 8 ^ table[(crc ^ bytes[k]) & 0xff];
		at += n;
	}
	return n == 0 && ~crc == want;
}

static bool is_wanted(int fd, const struct wanted *w)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const void *id;
	ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	bool same;

	if (n > 0 && w->build_id_bytes > 0)
		same = n == w->build_id_bytes && !memcmp(id, w->build_id, (size_t)n);
	else
		same = elf && w->link && has_crc(fd, w->crc);
	elf_end(elf);
	return same;
}

static int try(const struct mew_buffer *path, const struct wanted *w)
{
	int fd = path->error ? -1 : open(path->data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_wanted(fd, w))
		return fd;
	close(fd);
	return -ENOENT;
}

/* The file at `below` in each of the directories of debug files. */
static int try_roots(const struct wanted *w, struct mew_buffer *path, const char *below)
{
	const char *roots = getenv("MEW_DEBUG_DIR"), *end;
	int fd = -ENOENT;

	for (roots = roots && *roots ? roots : DEBUG_ROOTS; fd < 0 && *roots; roots = end) {
		end = roots + strcspn(roots, ":");
		mew_buffer_reset(path);
		mew_buffer_add(path, roots, (size_t)(end - roots));
		mew_buffer_puts(path, below);
		if (end > roots)
			fd = try(path, w);
		end += *end == ':';
	}
	return fd;
}

static int try_build_id(const struct wanted *w, struct mew_buffer *path)
{
	struct mew_buffer below = MEW_BUFFER_INIT;
	ssize_t i;
	int fd;

	mew_buffer_printf(&below, "/.build-id/%02x/", w->build_id[0]);
	for (i = 1; i < w->build_id_bytes; i++)
		mew_buffer_printf(&below, "%02x", w->build_id[i]);
	mew_buffer_puts(&below, ".debug");
	fd = below.error ? below.error : try_roots(w, path, below.data);
	mew_buffer_done(&below);
	return fd;
}

/* Beside the file, in .debug there, and in the same place below the roots of debug files. */
static int try_link(const struct wanted *w, const char *of, struct mew_buffer *path)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s"};
	const char *slash = strrchr(of, '/');
	struct mew_buffer below = MEW_BUFFER_INIT;
	int len = slash ? (int)(slash - of) : 0, fd = -ENOENT;
	size_t i;

	for (i = 0; slash && fd < 0 && i < sizeof(forms) / sizeof(forms[0]); i++) {
		mew_buffer_reset(path);
		mew_buffer_printf(path, forms[i], len, of, w->link);
		fd = try(path, w);
	}
	if (slash && fd < 0) {
		mew_buffer_printf(&below, "%.*s/%s", len, of, w->link);
		fd = below.error ? below.error : try_roots(w, path, below.data);
	}
	mew_buffer_done(&below);
	return fd;
}

int mew_debugfile_open(Elf *elf, const char *path)
{
	struct mew_buffer buffer = MEW_BUFFER_INIT;
	struct wanted w = {0};
	const void *id = NULL;
	int fd = -ENOENT;
	char *real;

	w.build_id_bytes = dwelf_elf_gnu_build_id(elf, &id);
	if (w.build_id_bytes < 0)
		w.build_id_bytes = 0;
	w.build_id = id;
	w.link = dwelf_elf_gnu_debuglink(elf, &w.crc);
	if (w.link && (!*w.link || strchr(w.link, '/')))
		w.link = NULL;
	if (w.build_id_bytes > 1)
		fd = try_build_id(&w, &buffer);
	if (fd < 0 && w.link)
		fd = try_link(&w, path, &buffer);
	if (fd < 0 && w.link) {
		real = realpath(path, NULL);
		if (real && strcmp(real, path) != 0)
			fd = try_link(&w, real, &buffer);
		free(real);
	}
	if (buffer.error && fd < 0)
		fd = buffer.error;
	if (fd == -ENOENT && w.build_id_bytes > 1) {
		fd = mew_debuginfod_find(w.build_id, (size_t)w.build_id_bytes);
		if (fd >= 0 && !is_wanted(fd, &w)) {
			close(fd);
			fd = -ENOENT;
		}
	}
	mew_buffer_done(&buffer);
	return fd;
}
