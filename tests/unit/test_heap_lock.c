/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/lock.h"
#include "unit.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 4
#define STEPS 20000

static struct mew_lock lock;
static uint64_t counter, shared;
static int is_waiting;

static void *count(void *arg)
{
	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		mew_lock_acquire(&lock);
		counter++;
		mew_lock_release(&lock);
		mew_lock_add(&shared, 3);
	}
	return NULL;
}

static void one_thread_at_a_time_holds_the_lock(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	counter = shared = 0;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counter, THREADS * STEPS);
	assert_int_equal(shared, THREADS * STEPS * 3);
	assert_int_equal(lock.word, 0);
}

static void *wait_for_it(void *arg)
{
	(void)arg;
	__atomic_store_n(&is_waiting, 1, __ATOMIC_RELEASE);
	mew_lock_acquire(&lock);
	counter++;
	mew_lock_release(&lock);
	return NULL;
}

/* Long enough for the waiter to spin, yield and sleep. */
static void a_lock_that_is_held_for_long_is_waited_for(void **state)
{
	pthread_t thread;

	(void)state;
	counter = 0;
	assert_int_equal(mew_lock_try(&lock), 1);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_it, NULL), 0);
	while (!__atomic_load_n(&is_waiting, __ATOMIC_ACQUIRE))
		usleep(100);
	usleep(20000);
	assert_int_equal(mew_lock_try(&lock), 0);
	assert_int_equal(counter, 0);
	mew_lock_release(&lock);
	pthread_join(thread, NULL);
	assert_int_equal(counter, 1);
	assert_int_equal(mew_lock_try(&lock), 1);
	mew_lock_release(&lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_at_a_time_holds_the_lock),
		cmocka_unit_test(a_lock_that_is_held_for_long_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
