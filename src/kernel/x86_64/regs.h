/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_64/regs.h: the registers that a sample carries and where each belongs by DWARF's numbering
 * (System V ABI, AMD64 supplement, figure 3.36). The kernel writes them lowest bit of
 * sample_regs_user first, in the order of <asm/perf_regs.h>.
 */
#ifndef MEW_KERNEL_X86_64_REGS_H
#define MEW_KERNEL_X86_64_REGS_H

#include <asm/perf_regs.h>
#include <stdint.h>

#define MEW_REGS_N 17 /* RAX to R15, and RIP as DWARF's return address column */

/* For perf_event_attr.sample_regs_user: all but flags and segments. */
#define MEW_REGS_MASK (0x1ffull | 0xffull << PERF_REG_X86_R8)

/* DWARF number of each register in MEW_REGS_MASK, in the kernel's order. */
static const uint8_t mew_regs_dwarf[MEW_REGS_N] = {
	0,                             /* AX */
	3,                             /* BX */
	2,                             /* CX */
	1,                             /* DX */
	4,                             /* SI */
	5,                             /* DI */
	6,                             /* BP */
	7,                             /* SP */
	16,                            /* IP */
	8,  9, 10, 11, 12, 13, 14, 15, /* R8 to R15 */
};

#endif
