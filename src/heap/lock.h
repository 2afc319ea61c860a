/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h: a lock of one word, usable inside malloc, and additions that threads share. A process of
 * one thread pays for neither. Zeroed to start. Not recursive: whoever may be interrupted by a
 * signal handler that allocates says so first (recorder.c).
 *
 * Who waits asks again, at last between sleeps, and who releases wakes nobody: so that it is a
 * plain store. A futex(2) takes an exchange there, as dear as taking the lock, each time; waits are
 * few.
 */
#ifndef MEW_HEAP_LOCK_H
#define MEW_HEAP_LOCK_H

#include <stdint.h>
#if __has_include(<sys/single_threaded.h>) /* glibc 2.32 */
#include <sys/single_threaded.h>
#define MEW_HAS_SINGLE_THREADED 1
#else
#define MEW_HAS_SINGLE_THREADED 0
#endif

struct mew_lock {
	uint32_t word; /* 0 free, 1 held */
};

/* Not 0 as long as nobody but the caller runs. glibc's flag becomes 0 before a second thread
 * starts, so what was done plainly until then is seen by that thread. */
static inline int mew_lock_alone(void)
{
#if MEW_HAS_SINGLE_THREADED
	return __libc_single_threaded;
#else
	return 0;
#endif
}

void mew_lock_wait(struct mew_lock *lock);

static inline void mew_lock_acquire(struct mew_lock *lock)
{
	uint32_t is_free = 0;

	if (mew_lock_alone())
		lock->word = 1;
	else if (!__atomic_compare_exchange_n(&lock->word, &is_free, 1, 0, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED))
		mew_lock_wait(lock);
}

static inline void mew_lock_release(struct mew_lock *lock)
{
	__atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE);
}

/* 1: the caller holds the lock now. 0: somebody else does. */
static inline int mew_lock_try(struct mew_lock *lock)
{
	if (!mew_lock_alone())
		return __atomic_exchange_n(&lock->word, 1, __ATOMIC_ACQUIRE) == 0;
	if (lock->word)
		return 0;
	lock->word = 1;
	return 1;
}

/* *p += n, whoever else does; returns what it was. */
static inline uint64_t mew_lock_add(uint64_t *p, uint64_t n)
{
	if (!mew_lock_alone())
		return __atomic_fetch_add(p, n, __ATOMIC_RELAXED);
	*p += n;
	return *p - n;
}

#endif
