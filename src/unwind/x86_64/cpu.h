/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h: x86-64 for the walk (System V ABI, figure 3.36: DWARF register numbers). The return
 * address lies below the CFA, so a CFA is a multiple of 8 that grows with each frame.
 */
#ifndef MEW_UNWIND_X86_64_CPU_H
#define MEW_UNWIND_X86_64_CPU_H

#include <stdint.h>

#define MEW_CPU_EM 62 /* EM_X86_64 */
#define MEW_CPU_REGS 17
#define MEW_CPU_FP 6
#define MEW_CPU_SP 7
#define MEW_CPU_PC 16
#define MEW_CPU_HAS_LR 0
#define MEW_CPU_FP_STEP 1    /* a frame pointer tells the caller's sp: it lies 16 bytes above */
#define MEW_CPU_LR 0         /* none */
#define MEW_CPU_RED_ZONE 128 /* bytes below sp that a leaf may use */

/* What a function gives back as it found it, beside fp and sp: RBX, R12 to R15. */
#define MEW_CPU_SAVED_N 5
#define MEW_CPU_SAVED_MASK (1u << 3 | 0xfu << 12)

static const uint8_t mew_cpu_saved[MEW_CPU_SAVED_N] = {3, 12, 13, 14, 15};

/*
 * struct ucontext as the kernel leaves it (arch/x86/include/uapi/asm/sigcontext.h): the registers
 * are consecutive words from MEW_CPU_CONTEXT_REGS on, in the order of mew_cpu_context.
 */
#define MEW_CPU_CONTEXT_REGS 40
#define MEW_CPU_CONTEXT_SP 160 /* offset of the word that holds RSP */
#define MEW_CPU_CONTEXT_WORDS 17

static const uint8_t mew_cpu_context[MEW_CPU_CONTEXT_WORDS] = {
	8, 9, 10, 11, 12, 13, 14, 15, 5, 4, MEW_CPU_FP, 3, 1, 0, 2, MEW_CPU_SP, MEW_CPU_PC,
};

/* The CFA in a PLT stub of 16 bytes: its push of the index at byte `push` has run or not. */
static inline uint64_t mew_cpu_plt_cfa(uint64_t pc, uint64_t sp, uint8_t push)
{
	return sp + 8 + ((pc & 15) >= push ? 8 : 0);
}

static inline uint64_t mew_cpu_return_address(uint64_t saved)
{
	return saved;
}

#endif
