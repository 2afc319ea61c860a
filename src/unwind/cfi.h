/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi.h: from the call frame information of one ELF file (.eh_frame, or .debug_frame when there is
 * none) to the rules of table.h. Knows no process and no mapping. The file is not trusted: what
 * cannot be read is left out and counted.
 */
#ifndef MEW_UNWIND_CFI_H
#define MEW_UNWIND_CFI_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/table.h"

#define MEW_CFI_RULES_MAX (16u << 20) /* of a file; the largest libraries have a million */

struct mew_cfi {
	struct mew_rule *rules; /* owned; sorted by start, which counts from base_vaddr */
	size_t n_rules;
	struct mew_rule_saves *saves; /* owned; [0]: none is known */
	size_t n_saves;
	struct mew_op *ops; /* owned; programs of MEW_CFA_EVALUATE */
	size_t n_ops;
	uint64_t base_vaddr; /* of the lowest loaded segment */
	size_t n_fdes;       /* FDEs that gave rules */
	size_t n_bad;        /* FDEs that could not be read: no rules there */
	size_t n_evaluate;   /* rules of kind MEW_CFA_EVALUATE */
	size_t n_unsaid;     /* those of them that have no program */
};

/*
 * Reads the CFI of an ELF file or of an image in memory. 0, and the caller frees *ret with
 * mew_cfi_done; -ENODATA: it has none; -ENOTSUP: another CPU's; -ENOEXEC: no ELF file, or a broken
 * one; -EFBIG: too many rules; -EBADMSG: its CFI is made to deceive; -ENOMEM.
 */
int mew_cfi_read(Elf *elf, struct mew_cfi *ret, struct mew_error *error);
void mew_cfi_done(struct mew_cfi *c);

#endif
