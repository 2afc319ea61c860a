/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 100 /* the lock is held for about as long as this takes */

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

void mew_lock_wait(struct mew_lock *lock)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t is_free = 0;

		if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&lock->word, &is_free, 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		relax();
	}
	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0)
		syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void mew_lock_wake(struct mew_lock *lock)
{
	syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
