/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: one perf record, decoded for the attr of its event: sizes checked before fields.
 * Pointers are into the record.
 */
#ifndef MEW_KERNEL_RECORD_H
#define MEW_KERNEL_RECORD_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/regs.h"

enum mew_record_type {
	MEW_RECORD_SAMPLE,
	MEW_RECORD_LOST,     /* n_lost */
	MEW_RECORD_THROTTLE, /* and UNTHROTTLE: on 0 or 1 */
	MEW_RECORD_SWITCH,   /* out 0 or 1, preempted 0 or 1 */
	MEW_RECORD_MMAP,     /* start, bytes, file_off, dev, ino, path, executable */
	MEW_RECORD_FORK,     /* pid, tid new; ppid, ptid the parent's */
	MEW_RECORD_EXIT,
	MEW_RECORD_COMM, /* comm in path, is_exec */
	MEW_RECORD_OTHER,
};

#define MEW_RECORD_REGS MEW_REGS_N /* the pc last */
#define MEW_RECORD_KERNEL_PCS 8191 /* of a sample at most: a record's size is 16 bits */

struct mew_record {
	enum mew_record_type type;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu;
	/* SAMPLE */
	uint64_t ip;
	uint64_t count;  /* the event's own count at the sample (PERF_SAMPLE_READ) */
	uint64_t period; /* stale for cpu-clock after IOC_PERIOD: the caller knows better */
	int user;        /* cpumode is user */
	int has_regs;
	uint64_t regs[MEW_RECORD_REGS]; /* DWARF numbering */
	const uint8_t *stack;           /* copied user stack from regs[sp], or NULL */
	uint32_t stack_bytes;           /* valid bytes (dyn_size) */
	uint32_t stack_asked; /* size asked for: equal to stack_bytes when the copy may be too small
			       */
	/* Innermost first, 8 bytes each, maybe not aligned; only of events that ask for the
	 * kernel's part of the stack. One that was taken in the kernel has at least one. */
	const uint8_t *kernel_pcs;
	uint32_t n_kernel_pcs;
	/* others */
	uint64_t n_lost;
	int on, out, preempted, executable, is_exec;
	uint32_t ppid, ptid;
	uint64_t start, bytes, file_off;
	uint64_t dev, ino; /* as makedev(3) has it; 0: no file, or not told */
	const char *path;
};

/* The most that a sample of attr takes in a ring without its stack, as long as the kernel's limits
 * of call chains (kernel.perf_event_max_stack, ..._max_contexts_per_stack) are those that it starts
 * with. */
uint32_t mew_record_rest_bytes(const struct perf_event_attr *attr);

/* The kernel's frame i of a sample; 0 is the innermost. */
uint64_t mew_record_kernel_pc(const struct mew_record *r, uint32_t i);

/* Decode. 0, or -EPROTO: a size or field that cannot be. attr is the event's whose ring it came
 * from. */
int mew_record_decode(const struct perf_event_attr *attr, const struct perf_event_header *header,
		      struct mew_record *ret);

#endif
