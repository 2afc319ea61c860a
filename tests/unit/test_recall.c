/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unwind/recall.h"
#include "unit.h"

#include <string.h>

#include "unwind_program.h"

#define KEY 7

struct memory {
	struct program *program;
	struct mew_recall recall;
	struct mew_walk_root root;
};

static int set_up(void **state)
{
	struct memory *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->program = program_new();
	*state = m;
	return 0;
}

static int tear_down(void **state)
{
	struct memory *m = *state;

	program_free(m->program);
	free(m);
	return 0;
}

static int find(struct memory *m, uint64_t key, uint32_t *ret_tag)
{
	struct mew_walk_start start = start_of(m->program);
	struct mew_walk_stack stack = stack_of(m->program);

	return mew_recall_find(&m->recall, m->program->space.table, &start, &stack, &m->root, key,
			       ret_tag);
}

/* Walks by the trail, which must take it, and keeps it if it comes often. */
static void keep(struct memory *m, uint64_t key, uint32_t tag)
{
	struct program *p = m->program;
	struct mew_walk_start start = start_of(p);
	struct mew_walk_stack stack = stack_of(p);

	assert_int_equal(mew_trail_walk(&p->trail, p->space.table, p->space.bytes, &start, &stack,
					&m->root, &p->cache),
			 1);
	mew_recall_keep(&m->recall, &p->trail, &start, &stack, key, tag);
}

static void know(struct memory *m, uint32_t tag)
{
	uint32_t found;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(find(m, KEY, &found), 0);
		keep(m, KEY, tag);
	}
	assert_int_equal(find(m, KEY, &found), 1);
	assert_int_equal(found, tag);
}

static void a_stack_that_comes_again_is_known(void **state)
{
	struct memory *m = *state;
	uint32_t found;

	call(m->program, LEAVES_FP, 1);
	call(m->program, SAVES_FP, 2);
	know(m, 5);
	/* Others meanwhile. */
	call(m->program, LEAVES_FP, 3);
	know(m, 6);
	leave(m->program);
	m->program->pc = call_in(SAVES_FP, 0);
	assert_int_equal(find(m, KEY, &found), 1);
	assert_int_equal(found, 5);
}

static void each_word_that_it_depends_on_counts(void **state)
{
	struct memory *m = *state;
	struct program *p = m->program;
	uint32_t found;

	for (int n = 0; n < 9; n++) {
		call(p, LEAVES_FP, 0);
		for (unsigned i = 1; i < p->depth; i++) {
			uint64_t *word = word_at(p, p->frames[i].cfa - 8), saved = *word;

			memset(&m->recall, 0, sizeof(m->recall));
			know(m, 1);
			*word ^= 1;
			assert_int_equal(find(m, KEY, &found), 0);
			*word = saved;
			/* It has been forgotten. */
			assert_int_equal(find(m, KEY, &found), 0);
		}
	}
}

static void a_frame_pointer_counts_where_a_frame_is_found_by_it(void **state)
{
	struct memory *m = *state;
	struct program *p = m->program;
	uint64_t *saved;
	uint32_t found;

	call(p, BY_FP, 0);
	call(p, SAVES_FP, 0);
	know(m, 1);
	p->fp ^= 0xff00; /* which the innermost one uses for something else */
	assert_int_equal(find(m, KEY, &found), 1);
	saved = word_at(p, p->frames[2].cfa - 16);
	*saved += 8;
	assert_int_equal(find(m, KEY, &found), 0);
	*saved -= 8;
	leave(p);
	call(p, LEAVES_FP, 0);
	know(m, 2);
	p->fp += 8;
	assert_int_equal(find(m, KEY, &found), 0);
}

static void what_is_not_the_same_call_is_not_known(void **state)
{
	struct memory *m = *state;
	struct program *p = m->program;
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	uint32_t found;

	call(p, LEAVES_FP, 0);
	call(p, LEAVES_FP, 0);
	know(m, 1);
	assert_int_equal(find(m, KEY + 1, &found), 0);
	p->pc++;
	assert_int_equal(find(m, KEY, &found), 0);
	p->pc--;
	p->sp -= 8;
	assert_int_equal(find(m, KEY, &found), 0);
	p->sp += 8;
	start = start_of(p);
	stack = stack_of(p);
	stack.hi -= 8;
	assert_int_equal(
		mew_recall_find(&m->recall, p->space.table, &start, &stack, &m->root, KEY, &found),
		0);
	assert_int_equal(find(m, KEY, &found), 1);
}

static void other_tables_and_other_roots_forget_it(void **state)
{
	struct memory *m = *state;
	struct program *p = m->program;
	uint32_t found;

	call(p, LEAVES_FP, 0);
	call(p, LEAVES_FP, 0);
	know(m, 1);
	p->space.table->generation++;
	assert_int_equal(find(m, KEY, &found), 0);
	keep(m, KEY, 2); /* it came before, so it is known at once */
	assert_int_equal(find(m, KEY, &found), 1);
	assert_int_equal(found, 2);
	m->root = (struct mew_walk_root){CODE, CODE + SPAN};
	assert_int_equal(find(m, KEY, &found), 0);
	keep(m, KEY, 3);
	assert_int_equal(find(m, KEY, &found), 1);
	assert_int_equal(found, 3);
}

static void a_stack_that_changes_each_time_is_seldom_kept(void **state)
{
	struct memory *m = *state;
	struct program *p = m->program;
	struct mew_recall_stack *s;
	struct mew_walk_start start;
	uint32_t found;
	int n_kept = 0;

	call(p, LEAVES_FP, 0);
	call(p, LEAVES_FP, 0);
	call(p, LEAVES_FP, 0);
	start = start_of(p);
	s = mew_recall_at(&m->recall, &start);
	for (int i = 0; i < 10000; i++) {
		*word_at(p, p->frames[2].cfa - 8) = call_in(LEAVES_FP, (uint64_t)i);
		assert_int_equal(find(m, KEY, &found), 0);
		keep(m, KEY, (uint32_t)i);
		n_kept += s->is_known != 0;
	}
	assert_in_range(n_kept, 2, 10000 / 50);
	/* It stays now. */
	for (int i = 0; !find(m, KEY, &found); i++) {
		assert_true(i < 100);
		keep(m, KEY, 10000);
	}
	assert_int_equal(found, 10000);
}

static void a_stack_that_depends_on_too_much_is_not_kept(void **state)
{
	struct memory *m = *state;
	struct program *p = m->program;
	uint32_t found;

	/* The return address and the frame pointer of each but the last. */
	for (unsigned i = 0; i < MEW_RECALL_WORDS / 2; i++)
		call(p, BY_FP, 0);
	know(m, 1);
	call(p, BY_FP, 0);
	for (int i = 0; i < 10; i++) {
		keep(m, KEY, 2);
		assert_int_equal(find(m, KEY, &found), 0);
	}
}

/* Stacks as the whole walk finds them; the index is the tag. */
struct known {
	uint32_t n_frames;
	enum mew_walk_end end;
	uint64_t pcs[64];
};

static struct known known_of(struct program *p)
{
	struct mew_walk_start start = start_of(p);
	struct mew_walk_stack stack = stack_of(p);
	static const struct mew_walk_root no_root;
	struct known k = {0};

	mew_walk(p->space.table, p->space.bytes, &start, &stack, &no_root, NULL, &p->whole);
	assert_true(p->whole.n_frames <= 64);
	k.n_frames = p->whole.n_frames;
	k.end = p->whole.end;
	memcpy(k.pcs, p->whole.pcs, k.n_frames * sizeof(k.pcs[0]));
	return k;
}

static void whatever_the_program_does_what_is_known_is_the_whole_walk(void **state)
{
	enum { ROUNDS = 100000 };

	struct memory *m = *state;
	struct program *p = m->program;
	struct known *known = calloc(ROUNDS, sizeof(*known)), now;
	uint32_t found, n_found = 0;

	assert_non_null(known);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		wander(p);
		if (i % 3) /* or it would seldom be the same place */
			p->pc = call_in(p->frames[p->depth - 1].kind, 0);
		now = known_of(p);
		if (find(m, KEY, &found)) {
			assert_memory_equal(&known[found], &now, sizeof(now));
			n_found++;
		} else {
			known[i] = now;
			keep(m, KEY, i);
		}
	}
	assert_true(n_found > ROUNDS / 10);
	free(known);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_stack_that_comes_again_is_known),
		TEST(each_word_that_it_depends_on_counts),
		TEST(a_frame_pointer_counts_where_a_frame_is_found_by_it),
		TEST(what_is_not_the_same_call_is_not_known),
		TEST(other_tables_and_other_roots_forget_it),
		TEST(a_stack_that_changes_each_time_is_seldom_kept),
		TEST(a_stack_that_depends_on_too_much_is_not_kept),
		TEST(whatever_the_program_does_what_is_known_is_the_whole_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
