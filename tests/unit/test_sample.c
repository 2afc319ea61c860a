/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "session/sample.h"
#include "session/weigh.h"
#include "unit.h"

/* Innermost first. */
static const uint64_t kernel_pcs[] = {0xffffffff81000003, 0xffffffff81000002, 0xffffffff81000001};

static struct mew_record in_kernel(void)
{
	return (struct mew_record){.type = MEW_RECORD_SAMPLE,
				   .kernel_pcs = (const uint8_t *)kernel_pcs,
				   .n_kernel_pcs = 3};
}

/* The node of a stack in the kernel, and of the program's function that called it. */
static uint32_t stack_in_kernel(struct mew_collect *c, uint32_t *ret_caller)
{
	struct mew_record r = in_kernel();

	assert_int_equal(mew_collect_init(c), 0);
	*ret_caller = mew_collect_child(c, 0, 7, 0x401000, 0, MEW_COLLECT_WHOLE);
	return mew_sample_kernel(c, *ret_caller, &r);
}

static void tick(struct mew_collect *c, uint32_t thread, uint32_t node, unsigned n)
{
	while (n-- > 0)
		assert_int_equal(mew_collect_tick(c, thread, node, 1), 0);
}

static void frames_of_the_kernel_are_inside_of_the_programs(void **state)
{
	struct mew_record user = {.type = MEW_RECORD_SAMPLE, .user = 1};
	struct mew_collect c;
	uint32_t caller, node = stack_in_kernel(&c, &caller);

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(c.nodes[node].pc, kernel_pcs[i]);
		assert_int_equal(c.nodes[node].group, MEW_COLLECT_KERNEL);
		assert_int_equal(c.nodes[node].exact, i == 0);
		assert_int_equal(c.nodes[node].mark, MEW_COLLECT_WHOLE);
		node = c.nodes[node].parent;
	}
	assert_int_equal(node, caller);
	assert_int_equal(mew_sample_kernel(&c, caller, &user), caller);
	mew_collect_done(&c);
}

static void frames_of_the_kernel_without_a_caller_are_broken_and_counted(void **state)
{
	struct mew_record r = in_kernel();
	struct mew_breaks b = {0};
	struct mew_collect c;
	uint32_t node;

	(void)state;
	assert_int_equal(mew_collect_init(&c), 0);
	node = mew_sample_kernel_alone(&c, &b, &r);
	assert_int_equal(c.nodes[node].pc, kernel_pcs[0]);
	node = c.nodes[c.nodes[node].parent].parent;
	assert_int_equal(c.nodes[node].pc, kernel_pcs[2]);
	assert_int_equal(c.nodes[node].mark, MEW_COLLECT_BROKEN);
	assert_int_equal(c.nodes[node].parent, 0);
	assert_int_equal(b.n_broken, 1);
	assert_int_equal(b.n_stacks, 1);
	assert_int_equal(b.n_unread, 1);
	mew_breaks_done(&b);
	mew_collect_done(&c);
}

static void a_stack_that_the_kernel_could_not_read_is_not_deep(void **state)
{
	static struct mew_walk_result w = {.end = MEW_WALK_CUT, .n_frames = 1};
	struct mew_record r = in_kernel();
	struct mew_breaks b = {0};

	(void)state;
	assert_int_equal(mew_sample_breaks(&b, NULL, &r, &w, 1), 0);
	assert_int_equal(b.n_unread, 1);
	assert_int_equal(b.n_broken, 1);
	assert_int_equal(b.n[MEW_WALK_CUT], 0);
	/* One that was walked to its end is not broken. */
	w.end = MEW_WALK_OUTERMOST;
	assert_int_equal(mew_sample_breaks(&b, NULL, &r, &w, 0), 0);
	assert_int_equal(b.n_unread, 1);
	assert_int_equal(b.n_stacks, 2);
	assert_int_equal(b.n[MEW_WALK_OUTERMOST], 1);
	mew_breaks_done(&b);
}

static int first_thread(void *arg, uint32_t thread)
{
	(void)arg;
	return thread == 0;
}

static void samples_weigh_what_their_mode_took(void **state)
{
	/* ten ticks of the loop, four of them in the kernel, and five of the pool's thread there */
	struct mew_event event = {.kind = MEW_EVENT_CLOCK};
	struct mew_account a = {.wall_s = 1, .user_s = 1};
	struct mew_account_weights w;
	struct mew_cpu_row row;
	struct mew_collect c;
	uint32_t caller, node = stack_in_kernel(&c, &caller);

	(void)state;
	tick(&c, 0, caller, 6);
	tick(&c, 0, node, 4);
	tick(&c, 1, node, 5);
	mew_collect_settle(&c, 0, 0.01);
	mew_collect_settle(&c, 1, 0.01);
	mew_weigh(&c, &event, &a, first_thread, NULL, &w);
	assert_near(c.hits[0].weight_s, 0.6, 1e-9);
	assert_near(c.hits[1].weight_s, 0.4, 1e-9);
	assert_near(c.hits[2].weight_s, 0.5, 1e-9);
	row.user_time_s = 1.5; /* what a summary finds: all that they weigh */
	mew_weigh_row(&w, &row);
	assert_near(row.kernel_time_s, 0.4, 1e-9);
	assert_near(row.user_time_s, 1.1, 1e-9);
	mew_collect_done(&c);
}

static void occurrences_share_the_user_time_wherever_they_are(void **state)
{
	struct mew_event event = {.kind = MEW_EVENT_OTHER};
	struct mew_account a = {.wall_s = 1, .user_s = 0.6, .kernel_s = 0.4};
	struct mew_account_weights w;
	struct mew_cpu_row row;
	struct mew_collect c;
	uint32_t caller, node = stack_in_kernel(&c, &caller);

	(void)state;
	tick(&c, 0, caller, 1);
	tick(&c, 0, node, 1);
	mew_weigh(&c, &event, &a, NULL, NULL, &w);
	assert_near(c.hits[0].weight_s, 0.3, 1e-9);
	assert_near(c.hits[1].weight_s, 0.3, 1e-9);
	row.user_time_s = 0.6;
	mew_weigh_row(&w, &row);
	assert_near(row.kernel_time_s, 0.4, 1e-9);
	assert_near(row.user_time_s, 0.6, 1e-9);
	mew_collect_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_kernel_are_inside_of_the_programs),
		cmocka_unit_test(frames_of_the_kernel_without_a_caller_are_broken_and_counted),
		cmocka_unit_test(a_stack_that_the_kernel_could_not_read_is_not_deep),
		cmocka_unit_test(samples_weigh_what_their_mode_took),
		cmocka_unit_test(occurrences_share_the_user_time_wherever_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
