/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/lock.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 100 /* the lock is held for about as long as this takes */
#define YIELDS 20 /* for who holds it, but does not run */
#define SLEEP_LEAST_NS 20000
#define SLEEP_MOST_NS 1000000

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

static inline int take(struct mew_lock *lock)
{
	uint32_t is_free = 0;

	return __atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 &&
	       __atomic_compare_exchange_n(&lock->word, &is_free, 1, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Raw: what the C library has for it is a cancellation point, which malloc is not. */
void mew_lock_wait(struct mew_lock *lock)
{
	struct timespec pause = {.tv_nsec = SLEEP_LEAST_NS};

	for (int i = 0; i < SPINS; i++) {
		if (take(lock))
			return;
		relax();
	}
	for (int i = 0; i < YIELDS; i++) {
		syscall(SYS_sched_yield);
		if (take(lock))
			return;
	}
	/* It runs nowhere, or has much to do, or is of a lower priority. */
	while (!take(lock)) {
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
		if (pause.tv_nsec < SLEEP_MOST_NS)
			pause.tv_nsec *= 2;
	}
}
