/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "unwind/trail.h"
#include "unit.h"

#include <string.h>

#include "unwind_program.h"

static const struct mew_walk_root no_root;

static int trail_walk_to(struct program *p, const struct mew_walk_root *root)
{
	struct mew_walk_start start = start_of(p);
	struct mew_walk_stack stack = stack_of(p);

	return mew_trail_walk(&p->trail, p->space.table, p->space.bytes, &start, &stack, root,
			      &p->cache);
}

static int trail_walk(struct program *p)
{
	return trail_walk_to(p, &no_root);
}

/* The trail holds what a walk from the start finds. */
static void check_whole(struct program *p, const struct mew_walk_root *root)
{
	struct mew_walk_start start = start_of(p);
	struct mew_walk_stack stack = stack_of(p);

	mew_walk(p->space.table, p->space.bytes, &start, &stack, root, NULL, &p->whole);
	assert_true(p->whole.end <= MEW_WALK_ZERO);
	assert_int_equal(p->trail.is_outermost, p->whole.end == MEW_WALK_OUTERMOST);
	assert_int_equal(p->trail.n_frames, p->whole.n_frames);
	for (uint32_t i = 0; i < p->whole.n_frames; i++)
		assert_int_equal(p->trail.frames[p->whole.n_frames - i].pc, p->whole.pcs[i]);
}

static void walk_and_check(struct program *p)
{
	assert_int_equal(trail_walk(p), 1);
	check_whole(p, &no_root);
}

static void the_same_stack_again_takes_no_step(void **state)
{
	struct program *p = program_new();

	(void)state;
	for (int i = 0; i < 5; i++)
		call(p, LEAVES_FP, 0);
	walk_and_check(p);
	assert_int_equal(p->trail.n_steps, 6);
	walk_and_check(p);
	assert_int_equal(p->trail.n_steps, 0);
	program_free(p);
}

static void new_frames_are_all_that_is_stepped_through(void **state)
{
	struct program *p = program_new();

	(void)state;
	for (int i = 0; i < 9; i++)
		call(p, LEAVES_FP, 0);
	walk_and_check(p);
	leave(p);
	leave(p);
	call(p, SAVES_FP, 3);
	call(p, BY_FP, 4);
	walk_and_check(p);
	/* The two, and their caller, which has another call in progress. */
	assert_int_equal(p->trail.n_steps, 3);
	program_free(p);
}

static void a_return_address_that_has_changed_far_outside_is_seen(void **state)
{
	struct program *p = program_new();
	uint32_t n;

	(void)state;
	for (int i = 0; i < 20; i++)
		call(p, LEAVES_FP, 0);
	walk_and_check(p);
	n = p->trail.n_frames;
	/* Into the start from another place: all frames inside of it are to be looked at. */
	*word_at(p, p->frames[1].cfa - 8) = call_in(START, 9);
	walk_and_check(p);
	assert_int_equal(p->trail.n_steps, n);
	*word_at(p, p->frames[11].cfa - 8) = call_in(LEAVES_FP, 9);
	walk_and_check(p);
	assert_int_equal(p->trail.n_steps, n - 10);
	program_free(p);
}

static void a_frame_pointer_counts_where_a_frame_is_found_by_it(void **state)
{
	struct program *p = program_new();
	uint64_t saved;

	(void)state;
	call(p, SAVES_FP, 0);
	call(p, BY_FP, 0);
	call(p, LEAVES_FP, 0);
	call(p, SAVES_FP, 0);
	walk_and_check(p);
	/* What the outermost SAVES_FP saved, and what runs in the register now, is nobody's. */
	*word_at(p, p->frames[1].cfa - 16) ^= 0xff00;
	p->fp ^= 0xff00;
	walk_and_check(p);
	assert_int_equal(p->trail.n_steps, 0);
	/* What the innermost one saved is by which BY_FP is left. */
	saved = *word_at(p, p->frames[4].cfa - 16);
	*word_at(p, p->frames[4].cfa - 16) = 8;
	assert_int_equal(trail_walk(p), 0);
	*word_at(p, p->frames[4].cfa - 16) = saved;
	assert_int_equal(trail_walk(p), 0); /* not tried: the one before failed */
	walk_and_check(p);
	program_free(p);
}

/* A step into a frame whose rule is kept where that of a frame inside of it was: of those two the
 * inner one saves what the outermost is found by, the other one does not. */
static void a_rule_that_takes_the_place_of_another_one_changes_no_step(void **state)
{
	const uint64_t inner = call_in(SAVES_FP, 0), outer = call_in(LEAVES_FP, 1);
	struct program *p = program_new();

	(void)state;
	assert_ptr_equal(mew_trail_quick_of(&p->trail, inner),
			 mew_trail_quick_of(&p->trail, outer));
	call(p, BY_FP, 0);
	call(p, SAVES_FP, 0);
	walk_and_check(p);
	assert_int_equal(mew_trail_quick_of(&p->trail, inner)->pc, inner);
	leave(p);
	call(p, LEAVES_FP, 0);
	call(p, SAVES_FP, 1);
	walk_and_check(p);
	assert_int_equal(mew_trail_quick_of(&p->trail, inner)->pc, outer);
	*word_at(p, p->frames[p->depth - 1].cfa - 16) = 8;
	assert_int_equal(trail_walk(p), 0);
	program_free(p);
}

static void tags_stay_with_the_frames_that_stay(void **state)
{
	struct program *p = program_new();

	(void)state;
	for (int i = 0; i < 4; i++)
		call(p, LEAVES_FP, 0);
	walk_and_check(p);
	assert_int_equal(p->trail.n_tagged, 0);
	for (uint32_t i = 1; i <= 4; i++)
		p->trail.frames[i].tag = 100 + i;
	p->trail.n_tagged = 4;
	leave(p);
	call(p, LEAVES_FP, 1);
	walk_and_check(p);
	assert_int_equal(p->trail.n_frames, 5);
	assert_int_equal(p->trail.n_tagged, 3);
	assert_int_equal(p->trail.frames[3].tag, 103);
	program_free(p);
}

static void other_tables_and_other_roots_forget_it(void **state)
{
	struct program *p = program_new();
	const struct mew_walk_root root = {CODE, CODE + SPAN};

	(void)state;
	call(p, LEAVES_FP, 0);
	call(p, LEAVES_FP, 0);
	walk_and_check(p);
	p->space.table->generation++;
	walk_and_check(p);
	assert_int_equal(p->trail.n_steps, 3);
	assert_int_equal(trail_walk_to(p, &root), 1);
	check_whole(p, &root);
	assert_int_equal(p->trail.n_frames, 2);
	assert_int_equal(trail_walk_to(p, &root), 1);
	assert_int_equal(p->trail.n_steps, 0);
	program_free(p);
}

static void a_stack_that_breaks_is_not_for_the_trail_and_rarely_tried(void **state)
{
	struct program *p = program_new();
	int n_tried = 0;

	(void)state;
	call(p, LEAVES_FP, 0);
	call(p, LEAVES_FP, 0);
	*word_at(p, p->frames[1].cfa - 8) = 0x999;
	for (int i = 0; i < 10000; i++) {
		p->trail.n_steps = 0;
		assert_int_equal(trail_walk(p), 0);
		n_tried += p->trail.n_steps != 0;
	}
	assert_in_range(n_tried, 2, 10000 / 50);
	*word_at(p, p->frames[1].cfa - 8) = call_in(START, 0);
	for (int i = 0; !trail_walk(p); i++)
		assert_true(i < 100);
	check_whole(p, &no_root);
	program_free(p);
}

/* The outermost words of the remembered stack are not there any more. */
static void nothing_beyond_the_stack_is_read(void **state)
{
	struct program *p = program_new();
	struct mew_walk_start start;
	struct mew_walk_stack stack;
	uint8_t *piece;

	(void)state;
	for (int i = 0; i < 6; i++)
		call(p, LEAVES_FP, 0);
	walk_and_check(p);
	start = start_of(p);
	stack = stack_of(p);
	stack.hi = stack.lo + 64;
	piece = malloc(64);
	assert_non_null(piece);
	memcpy(piece, stack.bytes, 64);
	stack.bytes = piece;
	assert_int_equal(mew_trail_walk(&p->trail, p->space.table, p->space.bytes, &start, &stack,
					&no_root, &p->cache),
			 0);
	free(piece);
	program_free(p);
}

static void whatever_the_program_does_the_trail_is_the_whole_walk(void **state)
{
	struct program *p = program_new();
	uint64_t n_steps = 0, n_frames = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		wander(p);
		walk_and_check(p);
		n_steps += p->trail.n_steps;
		n_frames += p->trail.n_frames;
		p->trail.n_tagged = p->trail.n_frames;
	}
	/* It would be of no use else. */
	assert_true(n_steps < n_frames / 3);
	program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_stack_again_takes_no_step),
		cmocka_unit_test(new_frames_are_all_that_is_stepped_through),
		cmocka_unit_test(a_return_address_that_has_changed_far_outside_is_seen),
		cmocka_unit_test(a_frame_pointer_counts_where_a_frame_is_found_by_it),
		cmocka_unit_test(a_rule_that_takes_the_place_of_another_one_changes_no_step),
		cmocka_unit_test(tags_stay_with_the_frames_that_stay),
		cmocka_unit_test(other_tables_and_other_roots_forget_it),
		cmocka_unit_test(a_stack_that_breaks_is_not_for_the_trail_and_rarely_tried),
		cmocka_unit_test(nothing_beyond_the_stack_is_read),
		cmocka_unit_test(whatever_the_program_does_the_trail_is_the_whole_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
