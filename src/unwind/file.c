/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/file.h"

#include <errno.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/clock.h"

#define VDSO_BYTES_MAX (1u << 20)

struct node {
	struct mew_file file;
	int fd; /* -1: none is kept */
	struct node *next;
};

/* Every file that was ever asked for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *files;

static void read_loads(struct mew_file *f, Elf *elf)
{
	size_t n, i;

	if (elf_getphdrnum(elf, &n))
		return;
	for (i = 0; i < n && f->n_loads < MEW_FILE_LOADS; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X))
			continue;
		f->loads[f->n_loads++] =
			(struct mew_file_load){phdr.p_vaddr, phdr.p_offset, phdr.p_filesz};
	}
}

uint32_t mew_file_build_id(Elf *elf, const uint8_t **ret)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	if (n <= 0 || n > MEW_BUILD_ID_BYTES)
		return 0;
	*ret = bytes;
	return (uint32_t)n;
}

static void read_elf(struct mew_file *f, Elf *elf)
{
	uint64_t start = mew_monotonic_ns();
	const uint8_t *build_id;

	f->error = mew_cfi_read(elf, &f->cfi, NULL);
	if (f->error == -ENOEXEC)
		return;
	read_loads(f, elf);
	f->build_id_bytes = mew_file_build_id(elf, &build_id);
	if (f->build_id_bytes)
		memcpy(f->build_id, build_id, f->build_id_bytes);
	f->table_ns = mew_monotonic_ns() - start;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Both with the lock held. */
static struct mew_file *find_file(const struct stat *st)
{
	struct node *node;

	for (node = files; node; node = node->next) {
		if (same_file(&node->file.st, st))
			return &node->file;
	}
	return NULL;
}

/* Takes elf, which may be NULL. */
static struct mew_file *add_file(const struct stat *st, Elf *elf)
{
	struct node *node = calloc(1, sizeof(*node));

	if (node) {
		node->fd = -1;
		node->file.st = *st;
		node->file.error = -ENOEXEC;
		if (elf)
			read_elf(&node->file, elf);
	}
	elf_end(elf);
	if (!node || node->file.error == -ENOMEM) {
		free(node);
		return NULL;
	}
	node->next = files;
	files = node;
	return &node->file;
}

const struct mew_file *mew_file_at(int fd)
{
	struct mew_file *f;
	struct stat st;
	Elf *elf = NULL;

	if (fstat(fd, &st))
		return NULL;
	pthread_mutex_lock(&lock);
	f = find_file(&st);
	if (!f) {
		elf_version(EV_CURRENT);
		/* Not mapped: a file that shrinks meanwhile would be a SIGBUS. */
		if (S_ISREG(st.st_mode))
			elf = elf_begin(fd, ELF_C_READ, NULL);
		f = add_file(&st, elf);
	}
	pthread_mutex_unlock(&lock);
	return f;
}

int mew_file_keep(const struct mew_file *f, int fd)
{
	struct node *node;

	pthread_mutex_lock(&lock);
	for (node = files; &node->file != f; node = node->next)
		;
	if (node->fd < 0)
		node->fd = fd;
	else
		close(fd);
	fd = node->fd;
	pthread_mutex_unlock(&lock);
	return fd;
}

const void *mew_file_vdso_image(size_t *ret_bytes)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	uint64_t bytes;

	if (!ehdr || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	/* Its section headers come last. */
	bytes = ehdr->e_shoff + (uint64_t)ehdr->e_shnum * ehdr->e_shentsize;
	if (!ehdr->e_shoff || bytes > VDSO_BYTES_MAX)
		return NULL;
	*ret_bytes = (size_t)bytes;
	return ehdr;
}

const struct mew_file *mew_file_vdso(void)
{
	static const struct stat none;
	const void *image;
	struct mew_file *f;
	size_t bytes;

	image = mew_file_vdso_image(&bytes);
	if (!image)
		return NULL;
	pthread_mutex_lock(&lock);
	f = find_file(&none);
	if (!f) {
		elf_version(EV_CURRENT);
		f = add_file(&none, elf_memory((char *)(uintptr_t)image, bytes));
	}
	pthread_mutex_unlock(&lock);
	return f;
}

uint64_t mew_file_bias(const struct mew_file *f, uint64_t start_pc, uint64_t file_off)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned i;

	for (i = 0; i < f->n_loads; i++) {
		const struct mew_file_load *l = &f->loads[i];

		if (file_off >= (l->file_off & -page) && file_off < l->file_off + l->bytes)
			return start_pc - (l->vaddr + (file_off - l->file_off));
	}
	return start_pc - file_off;
}
