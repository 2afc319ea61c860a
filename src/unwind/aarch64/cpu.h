/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h: aarch64 for the walk (DWARF for the Arm 64-bit Architecture, 4.1: DWARF register numbers).
 * A call leaves the return address in x30; a function that calls another one saves it, most often
 * beside x29, and a leaf need not. It may be signed (pointer authentication).
 */
#ifndef MEW_UNWIND_AARCH64_CPU_H
#define MEW_UNWIND_AARCH64_CPU_H

#include <stdint.h>

#define MEW_CPU_EM 183 /* EM_AARCH64 */
#define MEW_CPU_REGS 33
#define MEW_CPU_FP 29
#define MEW_CPU_SP 31
#define MEW_CPU_PC 32
#define MEW_CPU_HAS_LR 1
#define MEW_CPU_FP_STEP 0 /* a frame record lies anywhere in its frame */
#define MEW_CPU_LR 30
#define MEW_CPU_RED_ZONE 0

/* What a function gives back as it found it, beside x29 and sp: x19 to x28. */
#define MEW_CPU_SAVED_N 10
#define MEW_CPU_SAVED_MASK (0x3ffu << 19)

static const uint8_t mew_cpu_saved[MEW_CPU_SAVED_N] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28};

/*
 * struct rt_sigframe and struct ucontext as the kernel leaves them at sp
 * (arch/arm64/kernel/signal.c, arch/arm64/include/uapi/asm/sigcontext.h): x0 to x30, sp and pc are
 * consecutive words from MEW_CPU_CONTEXT_REGS on.
 */
#define MEW_CPU_SIGINFO_BYTES 128 /* before the ucontext */
#define MEW_CPU_CONTEXT_REGS 184
#define MEW_CPU_CONTEXT_WORDS 33

static const uint8_t mew_cpu_context[MEW_CPU_CONTEXT_WORDS] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

/* No stub here counts on where it stands. */
static inline uint64_t mew_cpu_plt_cfa(uint64_t pc, uint64_t sp, uint8_t push)
{
	(void)pc;
	(void)push;
	return sp;
}

/*
 * Without its signature. How many bits that has depends on the kernel; the CPU knows, and the
 * instruction does nothing where there are no signatures. Elsewhere (tests) addresses have 48 bits.
 */
static inline uint64_t mew_cpu_return_address(uint64_t saved)
{
#if defined(__aarch64__) && !defined(MEW_CPU_AARCH64)
	register uint64_t lr __asm__("x30") = saved;

	__asm__("hint 7" : "+r"(lr)); /* xpaclri */
	return lr;
#else
	return saved & (((uint64_t)1 << 48) - 1);
#endif
}

#endif
