/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aarch64/regs.h: the registers that a sample carries and where each belongs by DWARF's numbering
 * (DWARF for the Arm 64-bit Architecture, 4.1). The kernel writes them lowest bit of
 * sample_regs_user first, in the order of <asm/perf_regs.h>: the same.
 */
#ifndef MEW_KERNEL_AARCH64_REGS_H
#define MEW_KERNEL_AARCH64_REGS_H

#include <asm/perf_regs.h>
#include <stdint.h>

#define MEW_REGS_N 33 /* x0 to x30, sp, pc */

/* For perf_event_attr.sample_regs_user. */
#define MEW_REGS_MASK ((1ull << (PERF_REG_ARM64_PC + 1)) - 1)

/* DWARF number of each register in MEW_REGS_MASK, in the kernel's order. */
static const uint8_t mew_regs_dwarf[MEW_REGS_N] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

#endif
