/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h: what one ELF file gives to every process that maps it: where its code lies, its build-id,
 * its unwind rules. Each file is read once, whatever the number of cases that run it. Knows no
 * process.
 */
#ifndef MEW_UNWIND_FILE_H
#define MEW_UNWIND_FILE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "unwind/cfi.h"
#include "unwind/modules.h"

#define MEW_FILE_LOADS 16 /* executable segments of a file at most */

/* An executable PT_LOAD segment. */
struct mew_file_load {
	uint64_t vaddr, file_off, bytes;
};

struct mew_file {
	struct stat st; /* st_ino 0: the vDSO */
	struct mew_file_load loads[MEW_FILE_LOADS];
	unsigned n_loads;
	uint8_t build_id[MEW_BUILD_ID_BYTES];
	uint32_t build_id_bytes;
	struct mew_cfi cfi; /* no rules: error says why */
	int error;          /* negative errno of reading it */
	uint64_t table_ns;
};

/*
 * The file open at fd, of which nothing is kept; read again only when it has changed. It lives as
 * long as the process, and may be asked for by any thread. A file that cannot be read is one with
 * `error`. NULL only without memory or when fd is not open.
 */
const struct mew_file *mew_file_at(int fd);

/*
 * Takes fd, at which f is open; returns the one descriptor of f, open as long as f lives: this one
 * when it is the first. So many processes that map a file take no more descriptors than one.
 */
int mew_file_keep(const struct mew_file *f, int fd);

/* The vDSO, ours: the kernel maps the same one into every process. NULL: there is none. */
const struct mew_file *mew_file_vdso(void);

/* Its image, in our own memory. NULL: there is none. */
const void *mew_file_vdso_image(size_t *ret_bytes);

/* What must be added to a vaddr of the file to get the pc, for a mapping. */
uint64_t mew_file_bias(const struct mew_file *f, uint64_t start_pc, uint64_t file_off);

/* The build-id of an ELF file: its bytes at *ret, borrowed from the Elf; 0: it has none. */
uint32_t mew_file_build_id(Elf *elf, const uint8_t **ret);

#endif
