/* SPDX-License-Identifier: Apache-2.0 */
/* regs.h: the registers of the CPU that this is built for: MEW_REGS_N, MEW_REGS_MASK,
 * mew_regs_dwarf. */
#ifndef MEW_KERNEL_REGS_H
#define MEW_KERNEL_REGS_H

#if defined(__x86_64__)
#include "kernel/x86_64/regs.h"
#elif defined(__aarch64__)
#include "kernel/aarch64/regs.h"
#else
#error "this CPU needs a src/kernel/<cpu>/regs.h"
#endif

#endif
