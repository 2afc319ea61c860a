/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h: which memory is the stack that a call runs on, so that a walk reads nothing else. Found
 * once a thread in its maps file in /proc, by system calls alone.
 */
#ifndef MEW_HEAP_STACK_H
#define MEW_HEAP_STACK_H

#include <stddef.h>
#include <stdint.h>

#define MEW_STACK_FOREIGN_BYTES (256u << 10) /* read above sp on a stack that is no thread's */

struct mew_stack_range {
	uint64_t lo, hi; /* sp in [lo, hi): readable from sp to hi. 0,0: none */
};

/* The stacks that a thread has run on. Zeroed to start. */
struct mew_stack {
	struct mew_stack_range own;     /* the thread's: there as long as it runs */
	struct mew_stack_range foreign; /* a coroutine's or a signal handler's: may go away */
};

/* What a maps file says of an address, fed in pieces of any size. */
struct mew_stack_scan {
	uint64_t sp;         /* looked for */
	uint64_t start, end; /* the mapping that holds it; 0,0: not seen yet */
	uint64_t end_before; /* end of the mapping before it */
	int is_main;         /* it is the kernel's [stack], which grows down */
	/* The line in hand. */
	uint64_t number, first;
	char name[8];
	uint8_t n_name, field;
};

/* 1 when the mapping is found, 0 when more is wanted. */
int mew_stack_scan(struct mew_stack_scan *scan, const char *text, size_t n);

/*
 * The end of what may be read above sp; sp when that cannot be told. thread_pointer: the C library
 * keeps a thread's descriptor at the upper end of its stack. buf: room for reading, n_buf >= 64.
 */
uint64_t mew_stack_end(struct mew_stack *stack, uint64_t sp, uint64_t thread_pointer, char *buf,
		       size_t n_buf);

#endif
