/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unit.h"
#include "unwind/cpu.h"
#include "unwind/walk.h"
#include "unwind_space.h"

#include <dwarf.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#define MODULE 0x10000
#define LO 0x7ffc00000000 /* address of the copied stack's first byte */
#define WORDS 64

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
	ROOT_FUNCTION = 0x90000, /* in another place, no module needed */
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

struct fixture {
	struct space space;
	uint64_t words[WORDS]; /* the stack from LO on */
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	struct mew_walk_root root;
	struct mew_walk_result result;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct mew_unwind_table_module *module;

	memset(&f, 0, sizeof(f));
	f.space = space_new();
	module = space_add(&f.space, MODULE, MODULE_END, rules, sizeof(rules) / sizeof(rules[0]));
	space_refer(&f.space, module, saves, sizeof(saves) / sizeof(saves[0]), ops,
		    sizeof(ops) / sizeof(ops[0]));
	f.start.pc = LEAF;
	f.start.sp = LO;
	f.stack.lo = LO;
	f.stack.hi = LO + sizeof(f.words);
	f.stack.bytes = (const uint8_t *)f.words;
	f.root.lo = ROOT_FUNCTION;
	f.root.hi = ROOT_FUNCTION + 0x100;
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	space_free(&f->space);
	return 0;
}

static void walk(struct fixture *f)
{
	memset(&f->result, 0xff, sizeof(f->result));
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, NULL, &f->result);
}

static int exact(const struct fixture *f, unsigned i)
{
	return f->result.exact[i / 64] >> i % 64 & 1;
}

static void the_root_ends_a_stack_and_is_not_in_it(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 5;
	f->words[4] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.pcs[0], LEAF);
	assert_int_equal(f->result.pcs[1], SMALL + 5);
	assert_true(exact(f, 0));
	assert_false(exact(f, 1));
	assert_int_equal(f->result.broke_at, 0);
	f->words[4] = ROOT_FUNCTION + 0xff;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->words[4] = ROOT_FUNCTION + 0x100;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
}

static void a_return_address_is_looked_up_one_byte_before(void **state)
{
	struct fixture *f = *state;

	/* The call was the last instruction of SMALL: FRAMED's rule would go wrong. */
	f->words[0] = FRAMED;
	f->words[4] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->start.pc = FRAMED;
	f->start.pc_is_return = 1;
	f->words[3] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
	assert_false(exact(f, 0));
}

static void the_start_in_the_root_function_is_no_return_address(void **state)
{
	struct fixture *f = *state;

	f->root.lo = LEAF;
	f->root.hi = LEAF + 1;
	f->words[0] = END + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 2);
}

static void frame_pointers_are_followed_and_restored(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FRAMED + 4;
	f->start.fp = LO + 8 * 4;
	f->words[4] = LO + 8 * 10; /* saved fp */
	f->words[5] = FRAMED + 9;
	f->words[10] = 0;
	f->words[11] = END + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[1], FRAMED + 9);
}

static void a_realigned_stack_keeps_its_cfa_in_memory(void **state)
{
	struct fixture *f = *state;

	f->start.pc = REALIGNED + 4;
	f->start.fp = LO + 8 * 4;
	f->words[3] = LO + 8 * 9; /* CFA */
	f->words[4] = LO + 8 * 20;
	f->words[8] = FRAMED + 1;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);

	f->start.pc = DEREF_SP;
	f->words[2] = LO + 8 * 8;
	f->words[8] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
}

static void another_register_is_lost_in_a_call_that_does_not_save_it(void **state)
{
	struct fixture *f = *state;
	uint64_t regs[MEW_WALK_REGS] = {[10] = LO + 8 * 6};

	f->start.pc = BY_R10;
	f->words[5] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.broke_at, BY_R10);
	f->start.regs = regs;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	f->start.known = 1u << 10;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->words[5] = BY_R10 + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.broke_at, BY_R10 + 1);
}

static void a_frame_is_found_by_a_register_that_its_callees_saved(void **state)
{
	struct fixture *f = *state;
	uint64_t regs[MEW_WALK_REGS] = {[3] = LO + 8 * 40};

	/* SAVES_RBX is called by SMALL, that by BY_RBX, whose frame ends where its rbx says. */
	f->start.pc = SAVES_RBX + 1;
	f->words[1] = LO + 8 * 20; /* rbx */
	f->words[2] = SMALL + 1;
	f->words[6] = BY_RBX + 1;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	/* SMALL does not say what it does with rbx. */
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.broke_at, BY_RBX + 1);
	f->words[2] = BY_RBX + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.pcs[1], BY_RBX + 1);

	/* Nobody saved it: it is what the sample says, if that says anything. */
	f->start.pc = IN_RDI + 1;
	f->start.regs = regs;
	f->start.known = 1u << 5;
	regs[5] = BY_RBX + 1;
	f->words[41] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.n_frames, 2);
	f->start.known |= 1u << 3;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
}

static void what_is_no_rule_is_evaluated(void **state)
{
	struct fixture *f = *state;
	uint64_t regs[MEW_WALK_REGS] = {[5] = SMALL + 1, [9] = 2};

	f->start.regs = regs;
	f->start.known = 1u << 5 | 1u << 9;
	f->start.pc = IN_RDI;
	f->words[3] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);

	f->start.pc = COUNTED;
	f->words[3] = LO + 8 * 30;
	f->words[30] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
	f->words[3] = LO + sizeof(f->words) + 64;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	f->words[3] = LO - 64;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);

	f->start.pc = CHANGES;
	regs[5] = LO + 8 * 50;
	f->words[50] = FRAMED + 1;
	f->words[51] = LO + 8 * 8; /* sp */
	f->words[52] = LO + 8 * 9; /* fp */
	f->words[10] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	/* Back to where it was: no progress but for the innermost frame. */
	f->words[50] = CHANGES + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE); /* rdi is not kept */
}

static void a_plt_stub_has_pushed_its_index_or_not(void **state)
{
	struct fixture *f = *state;

	f->words[0] = ROOT_FUNCTION;
	f->words[1] = SMALL; /* what is found when the stub is taken for pushed */
	f->start.pc = PLT + 0x10;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->start.pc = PLT + 0x1a;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->words[0] = 3; /* the index */
	f->words[1] = ROOT_FUNCTION;
	f->start.pc = PLT + 0x1b;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 1);
}

/* A ucontext at words[at]. */
static void put_context(struct fixture *f, unsigned at, uint64_t pc, uint64_t sp, uint64_t fp)
{
	unsigned first = at + MEW_CPU_CONTEXT_REGS / 8, i;

	for (i = 0; i < MEW_CPU_CONTEXT_WORDS; i++) {
		unsigned reg = mew_cpu_context[i];

		f->words[first + i] = reg == MEW_CPU_PC   ? pc
				      : reg == MEW_CPU_SP ? sp
				      : reg == MEW_CPU_FP ? fp
							  : LO + 8 * 50;
	}
	assert_int_equal(f->words[at + MEW_CPU_CONTEXT_SP / 8], sp);
}

static void a_signal_frame_gives_all_registers_and_an_exact_pc(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SIGNAL + 1; /* LEAF is the handler */
	put_context(f, 1, FRAMED, LO + 8 * 30, LO + 8 * 40);
	f->words[40] = 0;
	f->words[41] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[2], FRAMED); /* its first instruction: pc - 1 is SMALL */
	assert_false(exact(f, 1));
	assert_true(exact(f, 2));

	put_context(f, 1, BY_R10, LO + 8 * 30, 0);
	f->words[49] = ROOT_FUNCTION; /* every other register is LO + 8 * 50 */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static void a_signal_may_have_come_on_another_stack_but_not_for_ever(void **state)
{
	struct fixture *f = *state;

	f->start.sp = LO + 8 * 10;
	f->words[10] = SIGNAL + 1;
	put_context(f, 11, LEAF, LO + 8 * 2, 0);
	f->words[2] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);

	/* The interrupted code returns into the same signal frame. */
	put_context(f, 11, LEAF, LO + 8 * 10, 0);
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	assert_true(f->result.n_frames < 64);

	/* On a copied stack the other one is not there. */
	put_context(f, 11, LEAF, LO - 0x10000, 0);
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ELSEWHERE);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.pcs[2], LEAF);
}

/* Of a stack that the walk is not given. */
struct elsewhere {
	uint64_t lo, hi;
	unsigned n;
};

static uint64_t end_of(void *arg, uint64_t sp)
{
	struct elsewhere *e = arg;

	e->n++;
	return sp >= e->lo && sp < e->hi ? e->hi : sp;
}

static void a_live_walk_goes_on_in_the_stack_that_a_signal_interrupted(void **state)
{
	struct fixture *f = *state;
	uint64_t other[8] = {0};
	struct elsewhere e = {(uintptr_t)other, (uintptr_t)(other + 8), 0};

	f->start.sp = f->stack.lo = (uintptr_t)f->words;
	f->stack.hi = (uintptr_t)(f->words + WORDS);
	f->stack.bytes = NULL;
	f->stack.end_of = end_of;
	f->stack.arg = &e;
	f->words[0] = SIGNAL + 1;
	put_context(f, 1, SMALL, (uintptr_t)other, 0);
	other[3] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(e.n, 1);
	/* It ends earlier than its frame. */
	e.hi -= 5 * 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	/* Nobody knows it. */
	e.lo = e.hi = 0;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ELSEWHERE);
	f->stack.end_of = NULL;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ELSEWHERE);
}

static void code_without_rules_is_left_by_a_frame_pointer_that_can_be_one(void **state)
{
	struct fixture *f = *state;

	f->start.pc = NOTHING + 0x20;
	f->start.fp = LO + 8 * 4;
	f->words[4] = LO + 8 * 20; /* the caller's frame pointer */
	f->words[5] = FRAMED + 1;
	f->words[20] = 0;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
	assert_int_equal(f->result.n_by_fp, 1);
	f->words[5] = 0x77777; /* in no module */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	assert_int_equal(f->result.n_by_fp, 0);
	f->words[5] = FRAMED + 1;
	f->start.sp = LO + 8 * 5; /* the pointer is below it */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	f->start.sp = LO;
	f->start.fp = LO + 8 * 4 + 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	f->start.fp = LO + sizeof(f->words) - 8; /* the word above it is not there */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);

	/* Code that no module covers. */
	f->start.pc = 0x5000;
	f->start.fp = LO + 8 * 4;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->start.fp = 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
}

static void a_return_to_the_first_instruction_of_a_function_is_a_made_stack(void **state)
{
	struct fixture *f = *state;

	/* BACKWARDS comes after NOTHING: no call is there to have left its address. */
	f->words[0] = BACKWARDS;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_OUTERMOST);
	assert_int_equal(f->result.n_frames, 2);
	assert_true(exact(f, 1));
	/* Behind SMALL there may be a call. */
	f->words[0] = FRAMED;
	f->words[4] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static void a_stack_that_ends_early_is_cut_and_not_bad(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 1;
	f->words[4] = SMALL + 2;
	f->words[8] = ROOT_FUNCTION;
	f->stack.hi = LO + 8 * 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	assert_int_equal(f->result.n_frames, 3);
	assert_int_equal(f->result.broke_at, SMALL + 2);
	f->stack.hi = LO + 8 * 8 + 7; /* one byte short */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	f->stack.hi = LO + 8 * 8 + 8;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	f->stack.hi = LO; /* no byte at all */
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	assert_int_equal(f->result.n_frames, 1);

	/* A ucontext of which the half is there. */
	f->words[0] = SIGNAL + 1;
	f->stack.hi = LO + 8 * 12;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_CUT);
	assert_int_equal(f->result.n_frames, 2);
}

static void an_address_that_is_no_stack_is_bad(void **state)
{
	struct fixture *f = *state;
	static const uint64_t fps[] = {
		0, 8, LO - 0x1000, LO + 3, LO + (1ull << 40), UINT64_MAX - 7, UINT64_MAX, 1 << 20,
	};
	size_t i;

	f->start.pc = FRAMED + 1;
	for (i = 0; i < sizeof(fps) / sizeof(fps[0]); i++) {
		f->start.fp = fps[i];
		walk(f);
		assert_int_equal(f->result.end, MEW_WALK_BAD);
		assert_int_equal(f->result.n_frames, 1);
		assert_int_equal(f->result.broke_at, FRAMED + 1);
	}
	f->start.pc = BACKWARDS + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
}

static void a_frame_that_does_not_advance_ends_the_walk(void **state)
{
	struct fixture *f = *state;

	/* fp points to its own slot: the CFA would stay. */
	f->start.pc = FRAMED + 1;
	f->start.fp = LO + 8 * 4;
	f->words[4] = LO + 8 * 4;
	f->words[5] = FRAMED + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_BAD);
	assert_int_equal(f->result.n_frames, 2);
}

static void rules_that_cannot_be_said_break_the_stack(void **state)
{
	struct fixture *f = *state;

	f->words[0] = HARD + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.broke_at, HARD + 1);
	f->words[0] = NOTHING + 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_RULE);
	f->words[0] = 0xdeadbeef;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
	assert_int_equal(f->result.broke_at, 0xdeadbeef);
	assert_int_equal(f->result.n_frames, 2);
}

static void a_return_address_of_zero_ends_a_stack(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 1;
	f->words[4] = 0;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ZERO);
	assert_int_equal(f->result.n_frames, 2);
}

static void a_lost_frame_pointer_breaks_only_who_needs_it(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FP_LOST;
	f->start.fp = LO + 8 * 20;
	f->words[1] = SMALL + 1;
	f->words[5] = FRAMED + 1;
	f->words[20] = 0;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
	assert_int_equal(f->result.n_frames, 3);
	f->words[5] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
}

static void a_frame_pointer_popped_in_the_epilogue_is_in_its_register(void **state)
{
	struct fixture *f = *state;

	f->start.pc = FP_POPPED + 8;
	f->start.fp = LO + 8 * 20;
	f->words[0] = FRAMED + 1;
	f->words[20] = 0;
	f->words[21] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	/* Below a return address there is no such slot. */
	f->start.pc_is_return = 1;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_EVALUATE);
}

static void the_deepest_stack_that_fits_is_whole_and_one_more_is_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t *words = calloc(MEW_WALK_FRAMES + 1, 8);
	unsigned i;

	assert_non_null(words);
	for (i = 0; i < MEW_WALK_FRAMES; i++)
		words[i] = LEAF + 1;
	f->stack.bytes = (const uint8_t *)words;
	f->stack.hi = LO + 8 * (MEW_WALK_FRAMES + 1);
	words[MEW_WALK_FRAMES] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_DEEP);
	assert_int_equal(f->result.n_frames, MEW_WALK_FRAMES);
	words[MEW_WALK_FRAMES - 1] = ROOT_FUNCTION;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, MEW_WALK_FRAMES);
	free(words);
}

static void a_cache_follows_the_generation(void **state)
{
	struct fixture *f = *state;
	struct mew_walk_cache *cache = calloc(1, sizeof(*cache));
	struct mew_rule changed[2] = {{.start = 0, .cfa = MEW_CFA_SP, .cfa_off = 16, .ra_off = -1}};

	assert_non_null(cache);
	f->words[0] = f->words[1] = ROOT_FUNCTION;
	f->words[1] = END + 1;
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, cache, &f->result);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	/* Without a change of generation the cache is what is used ... */
	f->space.table->modules[0].end_pc = 0;
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, cache, &f->result);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	/* ... and with it the new rules are. */
	space_add(&f->space, MODULE, MODULE + 0x700, changed, 1);
	mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root, cache, &f->result);
	assert_int_equal(f->result.end, MEW_WALK_NO_MODULE);
	assert_int_equal(f->result.pcs[1], END + 1);
	free(cache);
}

static void a_live_stack_is_read_in_place(void **state)
{
	struct fixture *f = *state;

	f->words[0] = SMALL + 1;
	f->words[4] = ROOT_FUNCTION;
	f->start.sp = f->stack.lo = (uintptr_t)f->words;
	f->stack.hi = (uintptr_t)(f->words + WORDS);
	f->stack.bytes = NULL;
	walk(f);
	assert_int_equal(f->result.end, MEW_WALK_ROOT);
	assert_int_equal(f->result.n_frames, 2);
}

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? random_state % below : 0;
}

/* A number as an attacker would choose it: often a pc, often near an edge of the stack. */
static uint64_t rnd_word(uint64_t lo, uint64_t hi)
{
	switch (rnd(8)) {
	case 0:
		return rnd(4) ? rnd(UINT64_MAX) : 0;
	case 1:
		return hi - 16 + rnd(32);
	case 2:
		return lo - 16 + rnd(32);
	case 3:
	case 4:
		return lo + rnd((hi - lo) / 8) * 8;
	default:
		return MODULE + rnd(MODULE_END - MODULE);
	}
}

/*
 * Between two pages that nobody may touch: reading one byte outside ends the test. Tables, stacks
 * and registers are random.
 */
static void nothing_outside_the_stack_is_read_whatever_the_tables_say(void **state)
{
	struct fixture *f = *state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *area = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mew_rule *table_rules;
	struct mew_op *table_ops;
	struct mew_walk_cache *cache = calloc(1, sizeof(*cache));
	uint64_t regs[MEW_WALK_REGS];
	unsigned ends[MEW_WALK_DEEP + 1] = {0}, i, j;

	assert_true(area != MAP_FAILED && cache);
	assert_int_equal(mprotect(area + page, page, PROT_READ | PROT_WRITE), 0);
	random_state = 88172645463325252u;
	table_rules = (struct mew_rule *)(void *)((char *)f->space.table +
						  f->space.table->modules[0].rules_off);
	table_ops = (struct mew_op *)(void *)((char *)f->space.table +
					      f->space.table->modules[0].ops_off);
	f->start.regs = regs;
	for (i = 0; i < 30000; i++) {
		size_t bytes = rnd(page / 8 + 1) * 8 + (rnd(8) ? 0 : rnd(8));
		uint8_t *at = area + page;
		bool live = rnd(2);
		uint64_t lo, hi;

		if (bytes > page)
			bytes = page;
		if (rnd(2))
			at += page - bytes; /* the upper guard page follows */
		lo = live ? (uintptr_t)at : LO;
		hi = lo + bytes;
		for (j = 0; j < 64; j++) {
			uint64_t value = rnd_word(lo, hi);

			if (bytes >= 8)
				memcpy(at + rnd(bytes / 8) * 8, &value, 8);
		}
		for (j = 0; j < sizeof(rules) / sizeof(rules[0]); j++) {
			struct mew_rule *r = &table_rules[j];

			*r = rules[j];
			if (rnd(2)) {
				r->cfa = (uint8_t)rnd(MEW_CFA_DEREF_SP + 3);
				r->fp = (uint8_t)rnd(MEW_FP_AT_FP + 3);
				r->cfa_off =
					rnd(4) ? (int32_t)rnd(64) * 8 : (int32_t)rnd(1ull << 32);
				if (r->cfa == MEW_CFA_EVALUATE)
					r->cfa_off = (int32_t)rnd(sizeof(ops) / sizeof(ops[0]) + 2);
				r->fp_off = rnd(4) ? (int16_t)-rnd(8) : (int16_t)rnd(1u << 16);
				r->aux = (uint8_t)rnd(256);
				r->ra_off = rnd(4) ? -1 : (int16_t)rnd(1u << 16);
				r->saves = (uint8_t)rnd(4);
			}
		}
		for (j = 0; j < sizeof(ops) / sizeof(ops[0]); j++) {
			table_ops[j] = ops[j];
			if (!rnd(8))
				table_ops[j].atom = (uint32_t)rnd(0xa0);
			if (!rnd(8))
				table_ops[j].value = (int64_t)rnd(UINT64_MAX);
			if (!rnd(8))
				table_ops[j].reg = (uint32_t)rnd(20);
		}
		for (j = 0; j < MEW_WALK_REGS; j++)
			regs[j] = rnd_word(lo, hi);
		f->start.pc = rnd_word(lo, hi);
		f->start.sp = rnd(8) ? lo + rnd(16) * 8 : rnd_word(lo, hi);
		f->start.fp = rnd_word(lo, hi);
		f->start.known = (uint32_t)rnd(1ull << 32);
		f->start.pc_is_return = (int)rnd(2);
		f->stack.lo = lo;
		f->stack.hi = hi;
		f->stack.bytes = live ? NULL : at;
		f->space.table->generation++;
		mew_walk(f->space.table, f->space.bytes, &f->start, &f->stack, &f->root,
			 rnd(2) ? cache : NULL, &f->result);
		assert_in_range(f->result.end, MEW_WALK_ROOT, MEW_WALK_DEEP);
		assert_in_range(f->result.n_frames, 1, MEW_WALK_FRAMES);
		assert_int_equal(f->result.pcs[0], f->start.pc);
		ends[f->result.end]++;
	}
	/* It went everywhere but to the deepest frame. */
	for (i = MEW_WALK_OUTERMOST; i < MEW_WALK_DEEP; i++)
		assert_true(ends[i] > 10);
	munmap(area, 3 * page);
	free(cache);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_root_ends_a_stack_and_is_not_in_it),
		TEST(a_return_address_is_looked_up_one_byte_before),
		TEST(the_start_in_the_root_function_is_no_return_address),
		TEST(frame_pointers_are_followed_and_restored),
		TEST(a_realigned_stack_keeps_its_cfa_in_memory),
		TEST(another_register_is_lost_in_a_call_that_does_not_save_it),
		TEST(a_frame_is_found_by_a_register_that_its_callees_saved),
		TEST(what_is_no_rule_is_evaluated),
		TEST(a_plt_stub_has_pushed_its_index_or_not),
		TEST(a_signal_frame_gives_all_registers_and_an_exact_pc),
		TEST(a_signal_may_have_come_on_another_stack_but_not_for_ever),
		TEST(a_live_walk_goes_on_in_the_stack_that_a_signal_interrupted),
		TEST(code_without_rules_is_left_by_a_frame_pointer_that_can_be_one),
		TEST(a_return_to_the_first_instruction_of_a_function_is_a_made_stack),
		TEST(a_stack_that_ends_early_is_cut_and_not_bad),
		TEST(an_address_that_is_no_stack_is_bad),
		TEST(a_frame_that_does_not_advance_ends_the_walk),
		TEST(rules_that_cannot_be_said_break_the_stack),
		TEST(a_return_address_of_zero_ends_a_stack),
		TEST(a_lost_frame_pointer_breaks_only_who_needs_it),
		TEST(a_frame_pointer_popped_in_the_epilogue_is_in_its_register),
		TEST(the_deepest_stack_that_fits_is_whole_and_one_more_is_deep),
		TEST(a_cache_follows_the_generation),
		TEST(a_live_stack_is_read_in_place),
		TEST(nothing_outside_the_stack_is_read_whatever_the_tables_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
