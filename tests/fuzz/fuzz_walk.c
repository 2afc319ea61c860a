/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over any stack, by any registers and any tables. The copy of the stack lies between
 * pages that cannot be touched, at the begin or at the end of its own; the tables end where such a
 * page begins. Every frame must be the same with a cache, and with the stack read in place.
 */
#include "config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "unwind/table.h"
#include "unwind/recall.h"
#include "unwind/trail.h"
#include "unwind/walk.h"

#define STACK_BYTES 16384u
#define RULES 256u
#define MODULES 8u
#define CODE 0x400000u
#define CODE_BYTES 0x1000u /* of a module */
#define SAVES 8u
#define OPS 128u
#define RULES_BYTES (RULES * sizeof(struct mew_rule))
#define SAVES_BYTES (SAVES * sizeof(struct mew_rule_saves))
#define OPS_BYTES (OPS * sizeof(struct mew_op))
#define SPACE_BYTES (sizeof(struct mew_unwind_table) + RULES_BYTES + SAVES_BYTES + OPS_BYTES)

static struct mew_unwind_table *table; /* SPACE_BYTES before a page that cannot be touched */
static uint8_t *stack_pages;           /* STACK_BYTES between two of them */
static uint64_t stack_lo;              /* the address that the copy stands for */

/* n bytes between pages that cannot be touched; n is a multiple of a page. */
static uint8_t *guarded(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *base = mmap(NULL, n + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED || mprotect(base + page, n, PROT_READ | PROT_WRITE))
		abort();
	return base + page;
}

static void set_up(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (SPACE_BYTES + page - 1) / page * page;

	if (table)
		return;
	table = (struct mew_unwind_table *)(void *)(guarded(bytes) + bytes - SPACE_BYTES);
	stack_pages = guarded(STACK_BYTES);
}

/* Most words are what stacks and registers hold: addresses of code and of the stack. */
static uint64_t take_word(struct fuzz_input *in)
{
	switch (fuzz_number(in, 1) & 7) {
	case 0:
		return fuzz_number(in, 8);
	case 1:
		return fuzz_number(in, 1) * 8;
	case 2:
	case 3:
	case 4:
		return stack_lo + (fuzz_number(in, 2) & ~7u);
	default:
		return CODE + fuzz_number(in, 2) % (MODULES * CODE_BYTES);
	}
}

static void take_rules(struct fuzz_input *in, struct mew_rule *rules)
{
	size_t n = fuzz_number(in, 1) + 1, i;
	uint32_t start = 0;

	memset(rules, 0, RULES_BYTES);
	for (i = 0; i < n; i++) {
		struct mew_rule *r = &rules[i];
		uint8_t how = (uint8_t)fuzz_number(in, 1);

		if (!in->left)
			break;
		if (how & 1) {
			fuzz_bytes(in, r, sizeof(*r));
			continue;
		}
		/* Rules as compilers have them. */
		start += (uint32_t)fuzz_number(in, 1);
		*r = (struct mew_rule){
			.start = start,
			.cfa = (how >> 1) % (MEW_CFA_DEREF_SP + 2),
			.cfa_off = (int8_t)fuzz_number(in, 1) * 8,
			.fp = (how >> 5) % (MEW_FP_AT_FP + 2),
			.fp_off = (int8_t)fuzz_number(in, 1),
			.aux = (uint8_t)fuzz_number(in, 1),
			.ra_off = -1,
		};
		r->saves = r->aux >> 4;
		if (r->cfa == MEW_CFA_EVALUATE)
			r->cfa_off = r->cfa_off / 8 & 127;
	}
}

static void take_saves(struct fuzz_input *in, struct mew_rule_saves *saves)
{
	size_t n = fuzz_number(in, 1) % (SAVES + 1);

	memset(saves, 0, SAVES_BYTES);
	fuzz_bytes(in, saves, n * sizeof(*saves));
}

/* Atoms are small numbers, and most operands, too. */
static void take_ops(struct fuzz_input *in, struct mew_op *ops)
{
	size_t n = fuzz_number(in, 1) % (OPS + 1), i;

	memset(ops, 0, OPS_BYTES);
	for (i = 0; i < n && in->left; i++) {
		uint8_t how = (uint8_t)fuzz_number(in, 1);

		ops[i].atom = (uint32_t)fuzz_number(in, how & 1 ? 4 : 1);
		if (how & 2)
			ops[i].reg = (uint32_t)fuzz_number(in, how & 4 ? 4 : 1);
		if (how & 8)
			ops[i].value =
				how & 16 ? (int64_t)fuzz_number(in, 8) : (int8_t)fuzz_number(in, 1);
		else if (!ops[i].atom)
			ops[i].value = MEW_OP_SAME + how / 16 % 4;
	}
}

/* Each of the arrays lies last for some inputs, before the page that cannot be touched. */
static void take_table(struct fuzz_input *in)
{
	uint8_t how = (uint8_t)fuzz_number(in, 1);
	uint32_t n = how % (MODULES + 1), i;
	size_t saves_off = sizeof(*table), ops_off, rules_off;

	if (how & 0x10)
		saves_off += OPS_BYTES + RULES_BYTES;
	ops_off = how & 0x10 ? sizeof(*table) : saves_off + SAVES_BYTES;
	if (how & 0x20)
		ops_off += RULES_BYTES;
	rules_off = how & 0x20 ? ops_off - RULES_BYTES : ops_off + OPS_BYTES;
	FUZZ_CHECK(rules_off + RULES_BYTES <= SPACE_BYTES && ops_off + OPS_BYTES <= SPACE_BYTES);

	table->magic = MEW_UNWIND_TABLE_MAGIC;
	table->bytes = SPACE_BYTES;
	table->generation++;
	table->n_modules = n;
	memset(table->modules, 0, MODULES * sizeof(table->modules[0]));
	for (i = 0; i < n; i++) {
		uint8_t first = (uint8_t)fuzz_number(in, 1);

		table->modules[i] = (struct mew_unwind_table_module){
			.start_pc = CODE + i * CODE_BYTES,
			.end_pc = CODE + (i + 1) * CODE_BYTES,
			.base = CODE + i * CODE_BYTES,
			.rules_off = rules_off + first % RULES * sizeof(struct mew_rule),
			.saves_off = saves_off,
			.ops_off = ops_off,
			.n_rules = RULES - first % RULES,
			.n_saves = SAVES,
			.n_ops = OPS,
			.id = i,
		};
	}
	/* A space that somebody else has written to. */
	if (how & 0x80 && n)
		fuzz_bytes(in, &table->modules[fuzz_number(in, 1) % n], sizeof(table->modules[0]));
	if (how & 0x40)
		table->n_modules = (uint32_t)fuzz_number(in, 4);
	take_rules(in, (struct mew_rule *)(void *)((char *)table + rules_off));
	take_saves(in, (struct mew_rule_saves *)(void *)((char *)table + saves_off));
	take_ops(in, (struct mew_op *)(void *)((char *)table + ops_off));
}

static void check(const struct mew_walk_result *r, const struct mew_walk_start *start)
{
	FUZZ_CHECK(r->n_frames >= 1 && r->n_frames <= MEW_WALK_FRAMES);
	FUZZ_CHECK((unsigned)r->end < MEW_WALK_ENDS);
	FUZZ_CHECK(r->pcs[0] == start->pc);
	/* What was made to run, and has not yet, is where it would begin: no return address. */
	FUZZ_CHECK((r->exact[0] & 1) == !start->pc_is_return ||
		   (r->n_frames == 1 && r->end == MEW_WALK_OUTERMOST));
	if (r->end == MEW_WALK_ROOT || r->end == MEW_WALK_OUTERMOST)
		FUZZ_CHECK(!r->broke_at);
}

static void check_same(const struct mew_walk_result *a, const struct mew_walk_result *b)
{
	FUZZ_CHECK(a->n_frames == b->n_frames && a->end == b->end && a->broke_at == b->broke_at);
	FUZZ_CHECK(!memcmp(a->pcs, b->pcs, a->n_frames * sizeof(a->pcs[0])));
	FUZZ_CHECK(!memcmp(a->exact, b->exact, (a->n_frames + 63) / 64 * sizeof(a->exact[0])));
}

/* Of the frames, and how they end. */
static uint32_t hash_of(const struct mew_walk_result *w)
{
	uint64_t h = (uint64_t)w->end + w->n_frames;

	for (uint32_t i = 0; i < w->n_frames; i++)
		h = (h ^ w->pcs[i]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

/* Walks by the trail and by what is recalled, while words of the stack change: what it says is what
 * mew_walk() finds. */
static void follow_trail(const uint8_t *data, size_t size, size_t space,
			 const struct mew_walk_start *from, const struct mew_walk_stack *stack,
			 const struct mew_walk_root *root)
{
	static struct mew_walk_result whole;
	static struct mew_walk_cache cache;
	static struct mew_trail trail;
	static struct mew_recall recall;
	struct mew_walk_start start = {
		.pc = from->pc, .sp = from->sp, .fp = from->fp, .pc_is_return = 1};
	struct fuzz_input in = {data, size};
	size_t n = (size_t)(stack->hi - stack->lo) / 8;
	uint32_t i, tag;
	int round;

	mew_recall_forget(&recall, 0, root);
	trail.n_frames = trail.n_tagged = trail.n_failed = trail.n_skip = 0;
	trail.generation = 0;
	for (round = 0; round < 6; round++) {
		mew_walk(table, space, &start, stack, root, NULL, &whole);
		if (mew_recall_find(&recall, table, &start, stack, root, 0, &tag))
			FUZZ_CHECK(tag == hash_of(&whole));
		if (mew_trail_walk(&trail, table, space, &start, stack, root, &cache)) {
			FUZZ_CHECK(whole.end == MEW_WALK_ROOT || whole.end == MEW_WALK_OUTERMOST ||
				   whole.end == MEW_WALK_ZERO);
			FUZZ_CHECK(trail.n_frames == whole.n_frames);
			for (i = 0; i < whole.n_frames; i++)
				FUZZ_CHECK(trail.frames[whole.n_frames - i].pc == whole.pcs[i]);
			trail.n_tagged = trail.n_frames;
			mew_recall_keep(&recall, &trail, &start, stack, 0, hash_of(&whole));
		}
		if (n) {
			uint64_t word = take_word(&in);
			size_t at = fuzz_number(&in, 2) % n;

			memcpy((uint8_t *)(uintptr_t)stack->bytes + at * 8, &word, sizeof(word));
		}
		if (round == 3)
			start.sp += 8;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mew_walk_result first, again;
	static struct mew_walk_cache cache;
	struct fuzz_input in = {data, size};
	uint8_t how = (uint8_t)fuzz_number(&in, 1);
	size_t n = fuzz_number(&in, 2) % (STACK_BYTES + 1), i, space = SPACE_BYTES;
	uint64_t regs[MEW_WALK_REGS];
	struct mew_walk_start start = {.pc_is_return = how & 1, .known = MEW_WALK_REGS_ALL};
	struct mew_walk_stack stack;
	struct mew_walk_root root = {0, 0};
	uint8_t *copy;

	set_up();
	if (!(how & 2))
		n &= ~(size_t)7;
	copy = how & 4 ? stack_pages : stack_pages + STACK_BYTES - n;
	stack_lo = (uintptr_t)copy;
	if ((how & 0x18) == 0x18) /* around the end of the address space, and anywhere */
		stack_lo = how & 0x20 ? -(uint64_t)n / 2 : fuzz_number(&in, 8);
	take_table(&in);
	for (i = 0; i < MEW_WALK_REGS; i++)
		regs[i] = take_word(&in);
	start.pc = regs[MEW_CPU_PC];
	start.sp = how & 0x40 ? regs[MEW_CPU_SP] : stack_lo;
	start.fp = regs[MEW_CPU_FP];
	start.regs = how & 0x80 ? NULL : regs;
	if (fuzz_number(&in, 1) & 1)
		start.known = fuzz_number(&in, 8);
	if (fuzz_number(&in, 1) & 1) {
		root.lo = take_word(&in);
		root.hi = root.lo + fuzz_number(&in, 1);
	}
	if (fuzz_number(&in, 1) == 0xff)
		space = fuzz_number(&in, 4) % (SPACE_BYTES + 1);
	for (i = 0; i < n; i += 8) {
		uint64_t word = in.left ? take_word(&in) : i;

		memcpy(copy + i, &word, n - i < 8 ? n - i : 8);
	}

	stack = (struct mew_walk_stack){.lo = stack_lo, .hi = stack_lo + n, .bytes = copy};
	mew_walk(table, space, &start, &stack, &root, NULL, &first);
	check(&first, &start);
	for (i = 0; i < 2; i++) {
		mew_walk(table, space, &start, &stack, &root, &cache, &again);
		check_same(&first, &again);
	}
	if (stack_lo == (uintptr_t)copy) {
		stack.bytes = NULL;
		mew_walk(table, space, &start, &stack, &root, NULL, &again);
		check_same(&first, &again);
		stack.bytes = copy;
	}
	follow_trail(data, size, space, &start, &stack, &root);
	return 0;
}
