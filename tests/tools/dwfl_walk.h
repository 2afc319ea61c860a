/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwfl_walk.h: the walk over a copied stack as libdwfl does it: the other opinion of walk_oracle.
 * Shares no code with src/unwind but the numbers of registers; finds a file's place in the process
 * by itself.
 */
#ifndef MEW_TESTS_DWFL_WALK_H
#define MEW_TESTS_DWFL_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWFL_WALK_FRAMES 4096

enum dwfl_walk_end {
	DWFL_WALK_OUTERMOST, /* the return address is undefined, or 0 */
	DWFL_WALK_CUT,       /* a word above the copy was wanted */
	DWFL_WALK_NO_CFI,    /* no row covers the last pc */
	DWFL_WALK_STUCK,     /* a row, but a register or a word that it needs is not known */
};

struct dwfl_walk_result {
	enum dwfl_walk_end end;
	uint32_t n_frames;
	bool below_sp; /* leaving frame 0 took a word below sp that no copy holds */
	uint64_t pcs[DWFL_WALK_FRAMES];
	bool activation[DWFL_WALK_FRAMES]; /* as dwfl_frame_pc says */
};

struct dwfl_walk_stack {
	const uint64_t *regs; /* MEW_CPU_REGS by DWARF number */
	uint64_t lo, hi;
	const uint8_t *bytes; /* of [lo, hi) */
};

struct dwfl_walk;

struct dwfl_walk *dwfl_walk_new(void);
void dwfl_walk_free(struct dwfl_walk *w);

/* An executable mapping of the file at path; "[vdso]": ours. Until the first run. 0 or -errno. */
int dwfl_walk_add(struct dwfl_walk *w, const char *path, uint64_t start, uint64_t end,
		  uint64_t file_off);

/* 0, or -1: libdwfl cannot be set up. */
int dwfl_walk_run(struct dwfl_walk *w, const struct dwfl_walk_stack *stack,
		  struct dwfl_walk_result *ret);

/* Whether a row of CFI covers pc. Without one libdwfl guesses by the frame pointer. */
bool dwfl_walk_has_row(struct dwfl_walk *w, uint64_t pc);

/* Bytes from the entry point of pc's module to pc; UINT64_MAX: pc is before it. */
uint64_t dwfl_walk_from_entry(struct dwfl_walk *w, uint64_t pc);

/* "module+0x12", for people. Borrowed until the next call. */
const char *dwfl_walk_name(struct dwfl_walk *w, uint64_t pc);

#endif
