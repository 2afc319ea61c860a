/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executable.h: what an ELF program's file says of it before it runs: whether it carries the note
 * of mew.h, whether a library can be preloaded into it. Reads headers and notes only.
 */
#ifndef MEW_SYMBOL_EXECUTABLE_H
#define MEW_SYMBOL_EXECUTABLE_H

struct mew_executable {
	int is_benchmark;   /* has the note of mew.h */
	int is_static;      /* no program interpreter */
	int is_sanitized;   /* built with -fsanitize=address, thread, memory or leak: its own malloc
			     */
	int calls_malloc;   /* its dynamic symbols name one of the functions that give a block */
	int hides_malloc;   /* they do not: its own malloc is for itself alone, in .symtab */
	char build_id[129]; /* hex; "" none */
};

/* fd stays the caller's. 0; -ENOEXEC: not an ELF program; -EPROTO: a damaged one; -ENOMEM. */
int mew_executable_read(int fd, struct mew_executable *ret);

#endif
