/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_table FILE...: what the unwind rules of each file are made of, one line a file ("[vdso]": our
 * own), how many of them are beyond the table (unsaid), and how many entries of .eh_frame_hdr have
 * no rule at their address.
 * cfi_table --mangle N FILE: reads N damaged copies of it, and checks what comes out.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unwind/cfi.h"
#include "unwind/file.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const struct mew_rule *find(const struct mew_cfi *c, uint64_t vaddr)
{
	const struct mew_rule *found = NULL;
	size_t i;

	for (i = 0; i < c->n_rules && c->rules[i].start <= vaddr - c->base_vaddr; i++)
		found = &c->rules[i];
	return found && found->cfa != MEW_CFA_NONE ? found : NULL;
}

/* The linker's own list of functions: pairs of 4 bytes relative to the section. */
static size_t count_uncovered(Elf *elf, const struct mew_cfi *c)
{
	size_t n = 0, names, i;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;
		Elf_Data *data;
		int32_t at;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		data = elf_rawdata(scn, NULL);
		if (!name || strcmp(name, ".eh_frame_hdr") != 0 || !data || data->d_size < 12)
			continue;
		/* One in a hundred, for find() is slow on purpose. */
		for (i = 12; i + 8 <= data->d_size; i += data->d_size > 80000 ? 800 : 8) {
			memcpy(&at, (const char *)data->d_buf + i, 4);
			n += !find(c, shdr.sh_addr + (uint64_t)(int64_t)at);
		}
	}
	return n;
}

static void show(const char *path, Elf *elf, const struct mew_cfi *c, double ms)
{
	size_t kinds[MEW_CFA_DEREF_SP + 1] = {0}, i;

	for (i = 0; i < c->n_rules; i++)
		kinds[c->rules[i].cfa]++;
	printf("%s fdes=%zu bad=%zu uncovered=%zu rules=%zu none=%zu end=%zu sp=%zu fp=%zu "
	       "deref_fp=%zu deref_sp=%zu other=%zu plt=%zu signal=%zu evaluate=%zu unsaid=%zu "
	       "saves=%zu ops=%zu ms=%.1f\n",
	       path, c->n_fdes, c->n_bad, count_uncovered(elf, c), c->n_rules, kinds[MEW_CFA_NONE],
	       kinds[MEW_CFA_END], kinds[MEW_CFA_SP], kinds[MEW_CFA_FP], kinds[MEW_CFA_DEREF_FP],
	       kinds[MEW_CFA_DEREF_SP], kinds[MEW_CFA_OTHER], kinds[MEW_CFA_PLT],
	       kinds[MEW_CFA_SIGNAL], kinds[MEW_CFA_EVALUATE], c->n_unsaid, c->n_saves, c->n_ops,
	       ms);
}

static int read_elf(const char *path, Elf *elf)
{
	struct mew_error error = {0};
	struct mew_cfi cfi = {0};
	double start = now_ms();
	int rc = mew_cfi_read(elf, &cfi, &error);

	if (rc)
		printf("%s error=%s\n", path, error.text);
	else
		show(path, elf, &cfi, now_ms() - start);
	mew_cfi_done(&cfi);
	elf_end(elf);
	return rc != 0;
}

static int read_file(const char *path)
{
	size_t bytes;
	const void *image;
	int fd, rc;

	if (!strcmp(path, "[vdso]")) {
		image = mew_file_vdso_image(&bytes);
		return read_elf(path, image ? elf_memory((char *)(uintptr_t)image, bytes) : NULL);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		printf("%s error=%s\n", path, strerror(errno));
		return 1;
	}
	rc = read_elf(path, elf_begin(fd, ELF_C_READ, NULL));
	close(fd);
	return rc;
}

static uint64_t random_state = 88172645463325252u;

static uint64_t rnd(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? random_state % below : 0;
}

static bool sorted(const struct mew_cfi *c)
{
	size_t i;

	for (i = 1; i < c->n_rules; i++) {
		if (c->rules[i].start <= c->rules[i - 1].start)
			return false;
	}
	return true;
}

/* Where most of what we read lies. */
static void find_frames(char *image, size_t size, size_t *ret_off, size_t *ret_bytes)
{
	Elf *elf = elf_memory(image, size);
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr shdr;

	elf_getshdrstrndx(elf, &names);
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr)) {
		const char *name = elf_strptr(elf, names, shdr.sh_name);

		if (name && !strcmp(name, ".eh_frame")) {
			*ret_off = shdr.sh_offset;
			*ret_bytes = shdr.sh_size;
		}
	}
	elf_end(elf);
}

static int mangle(unsigned n, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n_read = 0, n_refused = 0, size, off = 0, bytes = 0;
	char *image, *damaged;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return 99;
	size = (size_t)st.st_size;
	image = malloc(size);
	if (!image || read(fd, image, size) != (ssize_t)size)
		return 99;
	close(fd);
	find_frames(image, size, &off, &bytes);
	if (!bytes)
		return 99;
	while (n--) {
		size_t cut = rnd(4) ? size : rnd(size), i;
		struct mew_cfi cfi = {0};
		Elf *elf;

		/* Its own block, so that checkers see a read past the end. */
		damaged = malloc(cut ? cut : 1);
		if (!damaged)
			return 99;
		memcpy(damaged, image, cut);
		for (i = rnd(20); i--;) {
			size_t at = rnd(3) ? off + rnd(bytes) : rnd(4) ? rnd(1024) : rnd(size);

			if (at < cut)
				damaged[at] = (char)rnd(256);
		}
		elf = elf_memory(damaged, cut);
		if (mew_cfi_read(elf, &cfi, NULL))
			n_refused++;
		else if (!cfi.n_rules || !sorted(&cfi))
			return 1;
		else
			n_read++;
		mew_cfi_done(&cfi);
		elf_end(elf);
		free(damaged);
	}
	free(image);
	printf("read=%zu refused=%zu\n", n_read, n_refused);
	return !n_read || !n_refused;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	elf_version(EV_CURRENT);
	if (argc == 4 && !strcmp(argv[1], "--mangle"))
		return mangle((unsigned)strtoul(argv[2], NULL, 10), argv[3]);
	for (i = 1; i < argc; i++)
		failed |= read_file(argv[i]);
	return failed;
}
