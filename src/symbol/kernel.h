/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h: functions of the running kernel by their pcs. Its list of them (kallsyms.h) is read
 * when the first pc is looked up, and once.
 */
#ifndef MEW_SYMBOL_KERNEL_H
#define MEW_SYMBOL_KERNEL_H

#include <stdbool.h>

#include "base/map.h"
#include "symbol/binary.h"
#include "symbol/kallsyms.h"

/* The module of the kernel's own functions, and the name of those that have none. */
#define MEW_KERNEL_MODULE "[kernel]"

/* Zeroed to start. */
struct mew_kernel {
	bool read;
	int error; /* of reading the list: 0 or negative errno */
	struct mew_kallsyms list;
	struct mew_map found; /* pc -> struct mew_found *, the pool's */
	uint64_t n_lookups;   /* since lacks were taken last */
};

void mew_kernel_done(struct mew_kernel *k);

/*
 * The function at pc: name, and as module MEW_KERNEL_MODULE or "[ext4]". Without a list, and where
 * the list has nothing, "[kernel]". Pool's memory. split_clones: as for mew_symbols_split_clones.
 * NULL only without memory.
 */
const struct mew_found *mew_kernel_at(struct mew_kernel *k, struct mew_function_pool *pool,
				      int split_clones, uint64_t pc);

/* Look-ups since this was asked last, if there is no list; why that is. */
uint64_t mew_kernel_take_lack(struct mew_kernel *k, enum mew_symbol_lack *ret);

#endif
