/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: the unwind tables of one process: for every module a sorted array of rules, each valid
 * from its pc up to the next one. One format, used by the drainer on copied stacks and, through a
 * shared memfd, by the heap hook on live ones. Position independent: offsets from the start of the
 * space, never pointers. Knows no ELF and no DWARF (cfi.h makes the rules).
 *
 * One writer (mew-perf) appends; readers take no lock: a module is complete before n_modules is
 * raised with release, and what is there never moves. A module that went away gets end_pc 0 ... and
 * generation is raised with each change.
 */
#ifndef MEW_UNWIND_TABLE_H
#define MEW_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define MEW_UNWIND_TABLE_MAGIC 0x31454c42415457ull
#define MEW_UNWIND_TABLE_MODULES 4096 /* mappings in a space at most */

/* How the CFA is found. Registers are the CPU's: sp and fp stand for RSP and RBP, or SP and X29. */
enum mew_rule_cfa {
	MEW_CFA_NONE = 0, /* no rule covers this pc: the stack is broken here */
	MEW_CFA_END,      /* return address undefined: the outermost frame */
	MEW_CFA_SP,       /* sp + cfa_off */
	MEW_CFA_FP,       /* fp + cfa_off */
	MEW_CFA_DEREF_FP, /* *(fp + cfa_off): realigned stacks */
	MEW_CFA_OTHER,    /* register aux (DWARF number) + cfa_off */
	MEW_CFA_PLT,      /* sp + 8 + ((pc & 15) >= aux) * 8: x86 PLT stubs */
	MEW_CFA_SIGNAL,   /* signal frame: all registers from the ucontext on the stack (cpu part
			     knows where) */
	MEW_CFA_EVALUATE, /* by the programs at ops[cfa_off]; cfa_off -1: there are none, the stack
			     is broken here. aux 1: the caller was interrupted by a signal */
	MEW_CFA_DEREF_SP, /* *(sp + cfa_off) + aux: stacks realigned by hand-written assembly */
};

enum mew_rule_fp {
	MEW_FP_SAME = 0,
	MEW_FP_AT_CFA, /* saved at CFA + fp_off */
	MEW_FP_UNDEFINED,
	MEW_FP_AT_FP, /* saved at fp + fp_off (DW_CFA_expression breg6 in realigned frames) */
};

/* 16 bytes. The return address is at CFA + ra_off (x86: always -8); ra_off 0: still in the link
 * register (arm64). */
struct mew_rule {
	uint32_t start; /* pc - base of the module: valid from here up to the next rule's start */
	int32_t cfa_off;
	int16_t fp_off, ra_off; /* in units of 8 bytes */
	uint8_t cfa;            /* enum mew_rule_cfa */
	uint8_t fp;             /* enum mew_rule_fp */
	uint8_t aux;
	uint8_t saves; /* index in the module's saves: where the other registers are */
};

#define MEW_RULE_REGS 10   /* registers that functions save, beside fp: mew_cpu_saved names them */
#define MEW_RULE_SAVES 256 /* of a module at most; the first one is "none is known" */

/*
 * Where a frame keeps the registers that it must give back. Few frames ask for one of them (the
 * dynamic linker's, which are found by RBX), so they are followed only for these.
 */
struct mew_rule_saves {
	struct {
		int16_t off; /* in units of 8 bytes; _AT_CFA and _AT_FP */
		uint8_t at;  /* enum mew_rule_fp, as for fp */
		uint8_t pad;
	} of[MEW_RULE_REGS];
};

/* How a program of MEW_CFA_EVALUATE ends. */
enum mew_op_end {
	MEW_OP_SAME = 1,  /* no program: SP is the CFA, another register keeps its value */
	MEW_OP_UNDEFINED, /* likewise: nobody knows it */
	MEW_OP_VALUE,     /* the top of the stack is the register's value */
	MEW_OP_LOCATION,  /* it is the address of the value */
};

/*
 * An operation of a DWARF expression. A rule of MEW_CFA_EVALUATE has four programs, one after the
 * other: of the CFA, of the return address, of SP and of FP; each ends with an operation of atom 0
 * and an enum mew_op_end in value.
 */
struct mew_op {
	int64_t value; /* DW_OP_skip and _bra: operations to go on by, from the next one */
	uint32_t reg;  /* DW_OP_breg*, _reg*: DWARF number; _deref_size, _pick: their operand */
	uint32_t atom; /* DW_OP_*; those with a number in their name as the first of these */
};

/* One executable mapping of a module. Arrays are at offsets from the start of the space; 8-aligned.
 */
struct mew_unwind_table_module {
	uint64_t start_pc, end_pc; /* of the mapping; end_pc 0: gone */
	uint64_t base;             /* pc that rule start 0 stands for */
	uint64_t rules_off;        /* of struct mew_rule */
	uint64_t saves_off;        /* of struct mew_rule_saves */
	uint64_t ops_off;          /* of struct mew_op */
	uint32_t n_rules, n_saves, n_ops;
	uint32_t id; /* the caller's: index into its own list of modules */
};

struct mew_unwind_table {
	uint64_t magic;
	uint64_t bytes; /* of the space in use */
	uint64_t generation;
	uint32_t n_modules;
	uint32_t epoch; /* raised, before generation, when code takes the place of other code */
	struct mew_unwind_table_module
		modules[MEW_UNWIND_TABLE_MODULES]; /* in order of arrival, not of pc */
};

/* The rule for pc, or NULL: no module there, or no rule. *ret_module (may be NULL) is set when a
 * module covers pc. Every offset that a hostile or torn space holds is checked against space_bytes.
 */
const struct mew_rule *mew_unwind_table_find(const struct mew_unwind_table *t, size_t space_bytes,
					     uint64_t pc,
					     const struct mew_unwind_table_module **ret_module);

/* Where rule keeps the other registers; NULL: nowhere. Checked likewise. */
const struct mew_rule_saves *mew_unwind_table_saves(const struct mew_unwind_table *t,
						    size_t space_bytes,
						    const struct mew_unwind_table_module *m,
						    uint8_t index);

/* The operations from index on; *ret_n of them are there. NULL: none. Checked likewise. */
const struct mew_op *mew_unwind_table_ops(const struct mew_unwind_table *t, size_t space_bytes,
					  const struct mew_unwind_table_module *m, int32_t index,
					  uint32_t *ret_n);

#endif
