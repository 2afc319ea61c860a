/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h: the modules that a process has mapped, and their unwind tables (table.h) as they come.
 * Made from /proc/PID/maps and from MMAP2 records. Opens each file once a process-wide cache (dev,
 * inode, mtime), takes its build-id, turns its CFI into rules. mew-perf only.
 */
#ifndef MEW_UNWIND_MODULES_H
#define MEW_UNWIND_MODULES_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct mew_unwind_table; /* table.h */
struct mew_file;         /* file.h */

#define MEW_BUILD_ID_BYTES 64

/* A file (or the vDSO) that was mapped executable. Kept open until the set is freed, so that a
 * replaced binary is still read right. */
struct mew_module {
	uint32_t id;                 /* index in the set */
	const char *path;            /* as the process sees it; "[vdso]" */
	int fd;                      /* -1: could not be opened (error says why), or the vDSO */
	int error;                   /* errno of opening or parsing, 0: none */
	const struct mew_file *file; /* as it was when it was mapped; NULL: not opened */
	uint8_t build_id[MEW_BUILD_ID_BYTES];
	uint32_t build_id_bytes; /* 0: it has none */
	uint64_t n_rules;
	uint64_t table_bytes; /* of its rules and what they refer to */
	uint64_t table_ns;    /* what building the table took */
	int has_cfi;
};

/* A mapping of a module. */
struct mew_mapping {
	uint64_t start_pc, end_pc, file_off;
	uint32_t module;    /* id; UINT32_MAX: anonymous executable memory */
	uint64_t load_bias; /* vaddr = pc - load_bias */
	uint64_t from_ns;   /* CLOCK_MONOTONIC: valid since; 0: from the start */
};

struct mew_modules;

/* The space for tables: memory of the caller's (a shared memfd mapping, or anonymous), at least
 * sizeof(struct mew_unwind_table), kept until the set is freed. Initialises it. NULL, error: no
 * memory. */
struct mew_modules *mew_modules_new(void *space, size_t space_bytes, struct mew_error *error);
void mew_modules_free(struct mew_modules *m);

/* Read a maps file (an open descriptor of /proc/PID/maps, read from offset 0) and add what is new:
 * tables are built for each new executable mapping. 0, or negative errno (-ENOSPC: the space is
 * full). */
int mew_modules_read_maps(struct mew_modules *m, int maps_fd, struct mew_error *error);

/* A mapping as the kernel tells of it. */
struct mew_mapped {
	uint64_t start_pc, end_pc, file_off;
	uint64_t dev, ino; /* as makedev(3) has it; ino 0: not known */
	uint64_t from_ns;  /* as of struct mew_mapping */
	const char *path;
};

/* Whose mappings are added from now on: while it is alive, its root and what it has mapped are
 * looked into for files that their paths do not name. Else that of the maps read last. */
void mew_modules_set_process(struct mew_modules *m, uint32_t pid);

/* One mapping by a MMAP2 record: executable ones only. A mapping that overlaps older ones replaces
 * them (from_ns on). A file at its path that is another one by now, or was written to since, is not
 * taken for it: the module has error ESTALE. */
int mew_modules_add(struct mew_modules *m, const struct mew_mapped *mapped,
		    struct mew_error *error);

/* What from has mapped by now, into a set that is new. 0, or negative errno (-ENOSPC: as above). */
int mew_modules_copy(struct mew_modules *m, const struct mew_modules *from,
		     struct mew_error *error);

const struct mew_unwind_table *mew_modules_table(const struct mew_modules *m);
/* The mapping that covered pc at time_ns (0: the newest one), or NULL. Borrowed until the next
 * change. */
const struct mew_mapping *mew_modules_find(const struct mew_modules *m, uint64_t pc,
					   uint64_t time_ns);
/*
 * Between two epochs, counted from 0, code was replaced by other code at the same place: pcs of
 * different epochs are of different functions. The epoch at time_ns; and the last moment of an
 * epoch, 0: it lasts.
 */
uint32_t mew_modules_epoch(const struct mew_modules *m, uint64_t time_ns);
/* Replacements beyond MEW_MODULES_EPOCHS, which are not told from what they replaced. */
#define MEW_MODULES_EPOCHS 4096
uint64_t mew_modules_n_mixed(const struct mew_modules *m);
uint64_t mew_modules_epoch_end(const struct mew_modules *m, uint32_t epoch);
const struct mew_module *mew_modules_get(const struct mew_modules *m, uint32_t id);
uint32_t mew_modules_count(const struct mew_modules *m);

#endif
