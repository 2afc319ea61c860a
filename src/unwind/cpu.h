/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h: what the walk and the reading of CFI must know of the CPU: how many registers rules know
 * (MEW_CPU_REGS), which they are (MEW_CPU_FP, _SP, _PC, and _LR where MEW_CPU_HAS_LR: DWARF
 * numbers), ELF's name of it (MEW_CPU_EM), MEW_CPU_RED_ZONE, where a signal frame keeps the
 * registers, and what of a saved return address is the address,
 * whether a frame can be left by its frame pointer alone (MEW_CPU_FP_STEP), and which registers
 * functions save (MEW_CPU_SAVED_N, _MASK, mew_cpu_saved). One folder a CPU.
 */
#ifndef MEW_UNWIND_CPU_H
#define MEW_UNWIND_CPU_H

#if defined(MEW_CPU_AARCH64) /* the tests of a CPU run on every other one */
#include "unwind/aarch64/cpu.h"
#elif defined(MEW_CPU_X86_64)
#include "unwind/x86_64/cpu.h"
#elif defined(__x86_64__) && defined(__LP64__)
#include "unwind/x86_64/cpu.h"
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
#include "unwind/aarch64/cpu.h"
#else
#error "mew-perf unwinds x86-64 and aarch64: another CPU needs a folder beside src/unwind/x86_64"
#endif

#endif
