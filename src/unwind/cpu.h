/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h: what the walk and the reading of CFI must know of the CPU: MEW_CPU_FP, MEW_CPU_SP,
 * MEW_CPU_PC (DWARF numbers), MEW_CPU_EM (ELF's name of it), MEW_CPU_RED_ZONE, and where a signal
 * frame keeps the registers. One folder a CPU.
 */
#ifndef MEW_UNWIND_CPU_H
#define MEW_UNWIND_CPU_H

#if defined(__x86_64__) && defined(__LP64__)
#include "unwind/x86_64/cpu.h"
#else
#error "mew-perf unwinds x86-64 only: another CPU needs a folder beside src/unwind/x86_64"
#endif

#endif
