/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points of hooks.def: what C cannot say on this CPU, the caller's sp. None has more than
 * five arguments, so that x5 to x7 are free for the caller's sp, frame pointer and return address.
 * No stack is used: its CFI is the initial one.
 */
#if defined(__aarch64__)
	.text
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment) \
	.globl name; \
	.type name, %function; \
	.p2align 4; \
name: \
	.cfi_startproc; \
	hint 34; /* a landing pad, bti c */ \
	mov x5, sp; \
	mov x6, x29; \
	mov x7, x30; \
	b mew_hook_##name; \
	.cfi_endproc; \
	.size name, . - name;
#include "channel/hooks.def"
#undef MEW_HOOK
#endif
	.section .note.GNU-stack, "", %progbits
