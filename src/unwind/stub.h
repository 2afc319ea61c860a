/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub.h: code that linkers and kernels write without CFI, and that can be left nevertheless. In
 * the folder of the CPU.
 */
#ifndef MEW_UNWIND_STUB_H
#define MEW_UNWIND_STUB_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table.h"

#define MEW_STUBS_MAX 32 /* of a file */

struct mew_stub {
	uint64_t lo, hi; /* vaddr */
	struct mew_rule rule;
};

/* Into ret; how many. */
size_t mew_stubs_find(Elf *elf, struct mew_stub ret[MEW_STUBS_MAX]);

#endif
