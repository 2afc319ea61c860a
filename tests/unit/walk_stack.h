/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of walk.h: a module that has a function of each kind. */
#ifndef MEW_TESTS_WALK_STACK_H
#define MEW_TESTS_WALK_STACK_H

#include <dwarf.h>

#include "walk_fixture.h"

/* One function a rule, 0x100 bytes each: the return addresses below name them. */
enum {
	LEAF = MODULE,              /* CFA = sp + 8 */
	SMALL = MODULE + 0x100,     /* CFA = sp + 32 */
	FRAMED = MODULE + 0x200,    /* CFA = fp + 16, fp at CFA - 16 */
	REALIGNED = MODULE + 0x300, /* CFA = *(fp - 8), fp at fp + 0 */
	BY_R10 = MODULE + 0x400,    /* CFA = r10 + 0 */
	PLT = MODULE + 0x500,       /* push at byte 11 */
	SIGNAL = MODULE + 0x600,    /* ucontext at sp */
	END = MODULE + 0x700,       /* return address undefined */
	HARD = MODULE + 0x800,      /* evaluate */
	NOTHING = MODULE + 0x900,   /* none */
	BACKWARDS = MODULE + 0xa00, /* CFA = sp - 8 */
	FP_LOST = MODULE + 0xb00,   /* CFA = sp + 16, fp undefined */
	DEREF_SP = MODULE + 0xc00,  /* CFA = *(sp + 16) + 8 */
	FP_POPPED = MODULE + 0xd00, /* CFA = sp + 8, fp at CFA - 16 */
	BY_RBX = MODULE + 0xe00,    /* CFA = rbx + 16 */
	SAVES_RBX = MODULE + 0xf00, /* CFA = sp + 24, rbx at CFA - 16 */
	IN_RDI = MODULE + 0x1000,   /* by programs: CFA = sp, return address in rdi, rbx saved */
	COUNTED = MODULE + 0x1100,  /* by programs: CFA = *(sp + 8 + r9 * 8) + 8 */
	CHANGES = MODULE + 0x1200,  /* by programs: sp and fp and pc are in the memory at rdi */
	MODULE_END = MODULE + 0x1300,
};

static const struct mew_rule rules[] = {
	{.start = 0x000, .cfa = MEW_CFA_SP, .cfa_off = 8, .ra_off = -1},
	{.start = 0x100, .cfa = MEW_CFA_SP, .cfa_off = 32, .ra_off = -1},
	{.start = 0x200,
	 .cfa = MEW_CFA_FP,
	 .cfa_off = 16,
	 .fp = MEW_FP_AT_CFA,
	 .fp_off = -2,
	 .ra_off = -1},
	{.start = 0x300,
	 .cfa = MEW_CFA_DEREF_FP,
	 .cfa_off = -8,
	 .fp = MEW_FP_AT_FP,
	 .fp_off = 0,
	 .ra_off = -1},
	{.start = 0x400, .cfa = MEW_CFA_OTHER, .aux = 10, .ra_off = -1},
	{.start = 0x500, .cfa = MEW_CFA_PLT, .aux = 11, .ra_off = -1},
	{.start = 0x600, .cfa = MEW_CFA_SIGNAL},
	{.start = 0x700, .cfa = MEW_CFA_END},
	{.start = 0x800, .cfa = MEW_CFA_EVALUATE, .cfa_off = -1},
	{.start = 0x900, .cfa = MEW_CFA_NONE},
	{.start = 0xa00, .cfa = MEW_CFA_SP, .cfa_off = -8, .ra_off = -1},
	{.start = 0xb00, .cfa = MEW_CFA_SP, .cfa_off = 16, .fp = MEW_FP_UNDEFINED, .ra_off = -1},
	{.start = 0xc00, .cfa = MEW_CFA_DEREF_SP, .cfa_off = 16, .aux = 8, .ra_off = -1},
	{.start = 0xd00,
	 .cfa = MEW_CFA_SP,
	 .cfa_off = 8,
	 .fp = MEW_FP_AT_CFA,
	 .fp_off = -2,
	 .ra_off = -1},
	{.start = 0xe00, .cfa = MEW_CFA_OTHER, .cfa_off = 16, .aux = 3, .ra_off = -1},
	{.start = 0xf00, .cfa = MEW_CFA_SP, .cfa_off = 24, .ra_off = -1, .saves = 1},
	{.start = 0x1000, .cfa = MEW_CFA_EVALUATE, .cfa_off = 0, .saves = 2},
	{.start = 0x1100, .cfa = MEW_CFA_EVALUATE, .cfa_off = 6},
	{.start = 0x1200, .cfa = MEW_CFA_EVALUATE, .cfa_off = 19},
};

/* Of RBX, R12 to R15. */
static const struct mew_rule_saves saves[] = {
	{{{.at = MEW_FP_UNDEFINED}}},
	{{{.at = MEW_FP_AT_CFA, .off = -2}}},
	{{{.at = MEW_FP_SAME}}},
};

#define BREG(number, off)                                                                          \
	{                                                                                          \
		.atom = DW_OP_breg0, .reg = (number), .value = (off)                               \
	}
#define ENDS(how)                                                                                  \
	{                                                                                          \
		.value = MEW_OP_##how                                                              \
	}

static const struct mew_op ops[] = {
	/* IN_RDI, as vfork of libc */
	BREG(7, 0),
	ENDS(VALUE),
	{.atom = DW_OP_reg0, .reg = 5},
	ENDS(VALUE),
	ENDS(SAME),
	ENDS(SAME),
	/* COUNTED, as in libcrypto */
	BREG(7, 8),
	BREG(9, 0),
	{.atom = DW_OP_const8s, .value = 8},
	{.atom = DW_OP_mul},
	{.atom = DW_OP_plus},
	{.atom = DW_OP_deref_size, .reg = 8},
	{.atom = DW_OP_plus_uconst, .value = 8},
	ENDS(VALUE),
	{.atom = DW_OP_call_frame_cfa},
	{.atom = DW_OP_plus_uconst, .value = -8},
	ENDS(LOCATION),
	ENDS(SAME),
	ENDS(SAME),
	/* CHANGES, as longjmp */
	BREG(5, 0),
	ENDS(VALUE),
	{.atom = DW_OP_call_frame_cfa},
	ENDS(LOCATION),
	{.atom = DW_OP_call_frame_cfa},
	{.atom = DW_OP_plus_uconst, .value = 8},
	ENDS(LOCATION),
	{.atom = DW_OP_call_frame_cfa},
	{.atom = DW_OP_plus_uconst, .value = 16},
	ENDS(LOCATION),
};

static inline int set_up(void **state)
{
	struct fixture *f = fixture_anew();
	struct mew_unwind_table_module *module =
		space_add(&f->space, MODULE, MODULE_END, rules, sizeof(rules) / sizeof(rules[0]));

	space_refer(&f->space, module, saves, sizeof(saves) / sizeof(saves[0]), ops,
		    sizeof(ops) / sizeof(ops[0]));
	*state = f;
	return 0;
}

static inline int exact(const struct fixture *f, unsigned i)
{
	return f->result.exact[i / 64] >> i % 64 & 1;
}

#endif
