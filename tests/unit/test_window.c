/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/window.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

static struct mew_window *window_new(unsigned n_threads)
{
	struct mew_window *w = calloc(1, mew_window_bytes(n_threads));

	assert_non_null(w);
	w->magic = MEW_WINDOW_MAGIC;
	w->n_threads = n_threads;
	return w;
}

static void a_time_is_outside_before_the_loop_begins_and_after_it_ends(void **state)
{
	struct mew_window *w = window_new(1);
	struct mew_window_thread *t = &w->threads[0];

	(void)state;
	assert_int_equal(mew_window_place(w, 0, 150), MEW_WINDOW_OUTSIDE);
	mew_window_round(t);
	mew_window_begin(t, 100);
	assert_int_equal(mew_window_place(w, 0, 99), MEW_WINDOW_OUTSIDE);
	assert_int_equal(mew_window_place(w, 0, 100), MEW_WINDOW_INSIDE);
	assert_int_equal(mew_window_place(w, 0, 1000), MEW_WINDOW_INSIDE);
	mew_window_end(t, 200);
	assert_int_equal(mew_window_place(w, 0, 199), MEW_WINDOW_INSIDE);
	assert_int_equal(mew_window_place(w, 0, 200), MEW_WINDOW_OUTSIDE);
	free(w);
}

static void a_new_round_forgets_the_last_ones_borders(void **state)
{
	struct mew_window *w = window_new(1);
	struct mew_window_thread *t = &w->threads[0];

	(void)state;
	mew_window_round(t);
	mew_window_begin(t, 100);
	mew_window_pause(t, 110);
	mew_window_resume(t, 110, 130);
	mew_window_end(t, 200);
	assert_int_equal(t->paused_ns, 20);
	mew_window_round(t);
	assert_int_equal(t->paused_ns, 0);
	assert_int_equal(mew_window_place(w, 0, 150), MEW_WINDOW_OUTSIDE);
	mew_window_begin(t, 300);
	assert_int_equal(mew_window_place(w, 0, 150), MEW_WINDOW_OUTSIDE);
	assert_int_equal(mew_window_place(w, 0, 300), MEW_WINDOW_INSIDE);
	free(w);
}

static void a_time_in_a_pause_is_paused_up_to_its_end(void **state)
{
	struct mew_window *w = window_new(2);
	struct mew_window_thread *t = &w->threads[1];

	(void)state;
	mew_window_round(t);
	mew_window_begin(t, 100);
	mew_window_pause(t, 110);
	mew_window_resume(t, 110, 120);
	mew_window_pause(t, 140);
	assert_int_equal(mew_window_place(w, 1, 109), MEW_WINDOW_INSIDE);
	assert_int_equal(mew_window_place(w, 1, 110), MEW_WINDOW_PAUSED);
	assert_int_equal(mew_window_place(w, 1, 119), MEW_WINDOW_PAUSED);
	assert_int_equal(mew_window_place(w, 1, 120), MEW_WINDOW_INSIDE);
	assert_int_equal(mew_window_place(w, 1, 139), MEW_WINDOW_INSIDE);
	/* Still open: up to now. */
	assert_int_equal(mew_window_place(w, 1, 140), MEW_WINDOW_PAUSED);
	assert_int_equal(mew_window_place(w, 1, 9999), MEW_WINDOW_PAUSED);
	/* The other thread has not begun. */
	assert_int_equal(mew_window_place(w, 0, 140), MEW_WINDOW_OUTSIDE);
	free(w);
}

static void a_slot_that_is_not_there_is_outside(void **state)
{
	struct mew_window *w = window_new(1);

	(void)state;
	mew_window_begin(&w->threads[0], 1);
	assert_int_equal(mew_window_place(w, 1, 5), MEW_WINDOW_OUTSIDE);
	w->n_threads = UINT32_MAX;
	assert_int_equal(mew_window_place(w, MEW_WINDOW_THREADS, 5), MEW_WINDOW_OUTSIDE);
	free(w);
}

static void the_paused_part_of_a_span_is_summed(void **state)
{
	struct mew_window *w = window_new(1);
	struct mew_window_thread *t = &w->threads[0];
	int forgotten = 0;

	(void)state;
	mew_window_begin(t, 1);
	mew_window_pause(t, 100);
	mew_window_resume(t, 100, 200);
	mew_window_pause(t, 300);
	mew_window_resume(t, 300, 400);
	mew_window_pause(t, 500);
	assert_int_equal(mew_window_paused(w, 0, 0, 100, &forgotten), 0);
	assert_int_equal(mew_window_paused(w, 0, 150, 160, &forgotten), 10);
	assert_int_equal(mew_window_paused(w, 0, 150, 350, &forgotten), 100);
	assert_int_equal(mew_window_paused(w, 0, 0, 1000, &forgotten), 700);
	assert_int_equal(mew_window_paused(w, 0, 600, 600, &forgotten), 0);
	assert_int_equal(mew_window_paused(w, 0, 600, 500, &forgotten), 0);
	assert_int_equal(mew_window_paused(w, 1, 0, 1000, &forgotten), 0);
	assert_int_equal(forgotten, 0);
	free(w);
}

/* Pause i lasts from 10 i + 10 to 10 i + 15. */
static void log_pause(struct mew_window_thread *t, uint64_t i)
{
	mew_window_pause(t, 10 * i + 10);
	mew_window_resume(t, 10 * i + 10, 10 * i + 15);
}

static void times_of_overwritten_pauses_are_forgotten(void **state)
{
	struct mew_window *w = window_new(1);
	struct mew_window_thread *t = &w->threads[0];
	const uint64_t n = MEW_WINDOW_PAUSES + 100;
	uint64_t i;
	int forgotten = 0;

	(void)state;
	mew_window_begin(t, 1);
	for (i = 0; i < n; i++)
		log_pause(t, i);
	assert_int_equal(mew_window_place(w, 0, 12), MEW_WINDOW_FORGOTTEN);
	assert_int_equal(mew_window_place(w, 0, 10 * 100 + 12), MEW_WINDOW_FORGOTTEN);
	/* Pause 101 is the oldest whose slot the next pause does not take. */
	assert_int_equal(mew_window_place(w, 0, 10 * 101 + 12), MEW_WINDOW_PAUSED);
	assert_int_equal(mew_window_place(w, 0, 10 * 101 + 17), MEW_WINDOW_INSIDE);
	assert_int_equal(mew_window_place(w, 0, 10 * n + 3), MEW_WINDOW_PAUSED);
	assert_int_equal(mew_window_place(w, 0, 10 * n + 7), MEW_WINDOW_INSIDE);

	assert_int_equal(mew_window_paused(w, 0, 10 * n, 10 * n + 10, &forgotten), 5);
	assert_int_equal(forgotten, 0);
	mew_window_paused(w, 0, 10, 10 * n, &forgotten);
	assert_int_equal(forgotten, 1);
	free(w);
}

struct writer {
	struct mew_window_thread *t;
	uint64_t n;
};

static void *write_pauses(void *arg)
{
	struct writer *writer = arg;
	uint64_t i;

	for (i = 0; i < writer->n; i++)
		log_pause(writer->t, i);
	return NULL;
}

static void a_writer_that_overtakes_the_reader_makes_no_wrong_answer(void **state)
{
	struct mew_window *w = window_new(1);
	struct writer writer = {&w->threads[0], 8 * MEW_WINDOW_PAUSES};
	uint64_t random = 1, n_opened;
	unsigned n_wrong = 0;
	pthread_t thread;

	(void)state;
	mew_window_begin(writer.t, 1);
	assert_int_equal(pthread_create(&thread, NULL, write_pauses, &writer), 0);
	do {
		uint64_t time_ns, part;
		int forgotten = 0;
		enum mew_window_place place;

		n_opened = __atomic_load_n(&writer.t->n_opened, __ATOMIC_ACQUIRE);
		if (n_opened < 2)
			continue;
		random = random * 6364136223846793005u + 1442695040888963407u;
		/* Near the end of what is kept, where the two meet; never in the newest pause. */
		part = random >> 33;
		time_ns = n_opened > MEW_WINDOW_PAUSES
				  ? 10 * (n_opened - MEW_WINDOW_PAUSES) + part % 2000
				  : part % (10 * (n_opened - 1));
		if (time_ns < 10)
			continue;
		place = mew_window_place(w, 0, time_ns);
		if (place != MEW_WINDOW_FORGOTTEN &&
		    place != (time_ns % 10 < 5 ? MEW_WINDOW_PAUSED : MEW_WINDOW_INSIDE))
			n_wrong++;
		part = mew_window_paused(w, 0, time_ns - time_ns % 10, time_ns - time_ns % 10 + 10,
					 &forgotten);
		if (!forgotten && part != 5)
			n_wrong++;
	} while (n_opened < writer.n);
	pthread_join(thread, NULL);
	assert_int_equal(n_wrong, 0);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_outside_before_the_loop_begins_and_after_it_ends),
		cmocka_unit_test(a_new_round_forgets_the_last_ones_borders),
		cmocka_unit_test(a_time_in_a_pause_is_paused_up_to_its_end),
		cmocka_unit_test(a_slot_that_is_not_there_is_outside),
		cmocka_unit_test(the_paused_part_of_a_span_is_summed),
		cmocka_unit_test(times_of_overwritten_pauses_are_forgotten),
		cmocka_unit_test(a_writer_that_overtakes_the_reader_makes_no_wrong_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
