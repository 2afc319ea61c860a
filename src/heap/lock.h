/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h: a lock of one word on a futex(2), usable inside malloc. Zeroed to start. Not recursive:
 * whoever may be interrupted by a signal handler that allocates says so first (recorder.c).
 */
#ifndef MEW_HEAP_LOCK_H
#define MEW_HEAP_LOCK_H

#include <stdint.h>

struct mew_lock {
	uint32_t word; /* 0 free, 1 held, 2 held and others wait */
};

void mew_lock_wait(struct mew_lock *lock);
void mew_lock_wake(struct mew_lock *lock);

static inline void mew_lock_acquire(struct mew_lock *lock)
{
	uint32_t is_free = 0;

	if (!__atomic_compare_exchange_n(&lock->word, &is_free, 1, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		mew_lock_wait(lock);
}

static inline void mew_lock_release(struct mew_lock *lock)
{
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
		mew_lock_wake(lock);
}

#endif
