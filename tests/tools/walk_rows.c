/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_rows.c: frames whose rows no compiler writes, each a function of x86-64 assembly that takes
 * int (*call)(void *) and void *arg, and returns what call(arg) gave.
 */
#include "config.h"

#if defined(__x86_64__)

/* Found by rbx, as the dynamic linker's resolvers are; what is called saves it, or not. */
__asm__("\t.text\n"
	"\t.globl\twalk_row_rbx\n"
	"\t.type\twalk_row_rbx, @function\n"
	"walk_row_rbx:\n"
	"\t.cfi_startproc\n"
	"\tpush\t%rbx\n"
	"\t.cfi_adjust_cfa_offset 8\n"
	"\t.cfi_rel_offset %rbx, 0\n"
	"\tmov\t%rsp, %rbx\n"
	"\t.cfi_def_cfa_register %rbx\n"
	"\tand\t$-64, %rsp\n"
	"\tsub\t$192, %rsp\n"
	"\tmov\t%rdi, %rax\n"
	"\tmov\t%rsi, %rdi\n"
	"\tcall\t*%rax\n"
	"\tmov\t%rbx, %rsp\n"
	"\t.cfi_def_cfa_register %rsp\n"
	"\tpop\t%rbx\n"
	"\t.cfi_adjust_cfa_offset -8\n"
	"\t.cfi_restore %rbx\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size\twalk_row_rbx, .-walk_row_rbx\n");

/* The old rsp at the bottom of a realigned frame, as in libcrypto. */
__asm__("\t.text\n"
	"\t.globl\twalk_row_deref\n"
	"\t.type\twalk_row_deref, @function\n"
	"walk_row_deref:\n"
	"\t.cfi_startproc\n"
	"\tmov\t%rsp, %rax\n"
	"\t.cfi_def_cfa_register %rax\n"
	"\tsub\t$128, %rsp\n"
	"\tand\t$-64, %rsp\n"
	"\tmov\t%rax, (%rsp)\n"
	/* DW_CFA_def_cfa_expression: DW_OP_breg7 0, DW_OP_deref, DW_OP_plus_uconst 8 */
	"\t.cfi_escape 0x0f, 5, 0x77, 0x00, 0x06, 0x23, 0x08\n"
	"\tmov\t%rdi, %rax\n"
	"\tmov\t%rsi, %rdi\n"
	"\tcall\t*%rax\n"
	"\tmov\t(%rsp), %rsp\n"
	"\t.cfi_def_cfa %rsp, 8\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size\twalk_row_deref, .-walk_row_deref\n");

/* The same, at a distance that a register counts: rsp + 8 + r12 * 8. */
__asm__("\t.text\n"
	"\t.globl\twalk_row_counted\n"
	"\t.type\twalk_row_counted, @function\n"
	"walk_row_counted:\n"
	"\t.cfi_startproc\n"
	"\tpush\t%r12\n"
	"\t.cfi_adjust_cfa_offset 8\n"
	"\t.cfi_rel_offset %r12, 0\n"
	"\tmov\t%rsp, %rax\n"
	"\t.cfi_def_cfa_register %rax\n"
	"\tsub\t$256, %rsp\n"
	"\tand\t$-64, %rsp\n"
	"\tmov\t$5, %r12d\n"
	"\tmov\t%rax, 48(%rsp)\n"
	/* DW_OP_breg7 8, DW_OP_breg12 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus, DW_OP_deref,
	   DW_OP_plus_uconst 16 */
	"\t.cfi_escape 0x0f, 10, 0x77, 0x08, 0x7c, 0x00, 0x38, 0x1e, 0x22, 0x06, 0x23, 0x10\n"
	"\tmov\t%rdi, %rax\n"
	"\tmov\t%rsi, %rdi\n"
	"\tcall\t*%rax\n"
	"\tmov\t48(%rsp), %rsp\n"
	"\t.cfi_def_cfa %rsp, 16\n"
	"\tpop\t%r12\n"
	"\t.cfi_adjust_cfa_offset -8\n"
	"\t.cfi_restore %r12\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size\twalk_row_counted, .-walk_row_counted\n");

/* The return address in r13, and nowhere else. */
__asm__("\t.text\n"
	"\t.globl\twalk_row_register\n"
	"\t.type\twalk_row_register, @function\n"
	"walk_row_register:\n"
	"\t.cfi_startproc\n"
	"\tpush\t%r13\n"
	"\t.cfi_adjust_cfa_offset 8\n"
	"\t.cfi_rel_offset %r13, 0\n"
	"\tmov\t8(%rsp), %r13\n"
	"\t.cfi_register %rip, %r13\n"
	"\tmovq\t$0, 8(%rsp)\n"
	"\tmov\t%rdi, %rax\n"
	"\tmov\t%rsi, %rdi\n"
	"\tcall\t*%rax\n"
	"\tmov\t%r13, 8(%rsp)\n"
	"\t.cfi_offset %rip, -8\n"
	"\tpop\t%r13\n"
	"\t.cfi_adjust_cfa_offset -8\n"
	"\t.cfi_restore %r13\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size\twalk_row_register, .-walk_row_register\n");

/* The frame pointer saved where an expression says: at r12, which holds an address of the frame. */
__asm__("\t.text\n"
	"\t.globl\twalk_row_fp\n"
	"\t.type\twalk_row_fp, @function\n"
	"walk_row_fp:\n"
	"\t.cfi_startproc\n"
	"\tpush\t%r12\n"
	"\t.cfi_adjust_cfa_offset 8\n"
	"\t.cfi_rel_offset %r12, 0\n"
	"\tsub\t$48, %rsp\n"
	"\t.cfi_adjust_cfa_offset 48\n"
	"\tlea\t16(%rsp), %r12\n"
	"\tmov\t%rbp, (%r12)\n"
	/* DW_CFA_expression rbp: DW_OP_breg12 0 */
	"\t.cfi_escape 0x10, 0x06, 2, 0x7c, 0x00\n"
	"\tmov\t$1, %ebp\n"
	"\tmov\t%rdi, %rax\n"
	"\tmov\t%rsi, %rdi\n"
	"\tcall\t*%rax\n"
	"\tmov\t(%r12), %rbp\n"
	"\t.cfi_restore %rbp\n"
	"\tadd\t$48, %rsp\n"
	"\t.cfi_adjust_cfa_offset -48\n"
	"\tpop\t%r12\n"
	"\t.cfi_adjust_cfa_offset -8\n"
	"\t.cfi_restore %r12\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size\twalk_row_fp, .-walk_row_fp\n");

#endif
