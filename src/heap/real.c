/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define POOL_ALIGNMENT 16u

char mew_pool[MEW_POOL_BYTES] __attribute__((aligned(POOL_ALIGNMENT)));
static size_t pool_used;

static enum { UNKNOWN, LOOKING, FOUND } state;

/* ---- pool: each block has its size in the 16 bytes before it ---- */

void *mew_pool_allocate(size_t bytes, size_t alignment)
{
	size_t used = __atomic_load_n(&pool_used, __ATOMIC_RELAXED), at, end;

	if (alignment < POOL_ALIGNMENT)
		alignment = POOL_ALIGNMENT;
	do {
		uintptr_t start = (uintptr_t)mew_pool + used + POOL_ALIGNMENT;

		at = used + POOL_ALIGNMENT + (size_t)(-start & (alignment - 1));
		/* A block of none is an address of its own, and one that lies in the pool. */
		if (bytes > MEW_POOL_BYTES || at >= MEW_POOL_BYTES ||
		    (bytes ? bytes : 1) > MEW_POOL_BYTES - at) {
			errno = ENOMEM;
			return NULL;
		}
		end = at + (bytes ? bytes : 1);
		end += -end & (POOL_ALIGNMENT - 1);
	} while (!__atomic_compare_exchange_n(&pool_used, &used, end, 0, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	memcpy(mew_pool + at - sizeof(bytes), &bytes, sizeof(bytes));
	return mew_pool + at;
}

size_t mew_pool_size(const void *p)
{
	size_t bytes;

	memcpy(&bytes, (const char *)p - sizeof(bytes), sizeof(bytes));
	return bytes;
}

void *mew_pool_resize(void *p, size_t bytes)
{
	size_t old = mew_pool_size(p);
	void *q;

	if (!bytes)
		return NULL; /* as glibc: freed */
	q = mew_real.malloc(bytes);
	if (q)
		memcpy(q, p, old < bytes ? old : bytes);
	return q;
}

/* ---- what stands in the table until the real ones are found ---- */

static int found(void)
{
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == UNKNOWN)
		mew_real_find();
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == FOUND;
}

static int pool_place(void **ret_p, size_t bytes, size_t alignment)
{
	void *p;

	if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1)))
		return EINVAL;
	p = mew_pool_allocate(bytes, alignment);
	if (!p)
		return ENOMEM;
	*ret_p = p;
	return 0;
}

/* Nothing that is not the pool's is resized or asked for before the real functions are known. */
static void *early_resize(void *p, size_t bytes)
{
	return p ? mew_pool_resize(p, bytes) : mew_pool_allocate(bytes, POOL_ALIGNMENT);
}

#define EARLY_ALLOCATE(name, parameters, arguments, bytes, alignment)                              \
	static void *early_##name parameters                                                       \
	{                                                                                          \
		if (found())                                                                       \
			return mew_real.name arguments;                                            \
		return mew_pool_allocate(bytes, alignment);                                        \
	}
#define EARLY_RESIZE(name, parameters, arguments, bytes, alignment)                                \
	static void *early_##name parameters                                                       \
	{                                                                                          \
		return found() ? mew_real.name arguments : early_resize(p, bytes);                 \
	}
#define EARLY_PLACE(name, parameters, arguments, bytes, alignment)                                 \
	static int early_##name parameters                                                         \
	{                                                                                          \
		return found() ? mew_real.name arguments : pool_place(ret_p, bytes, alignment);    \
	}
#define EARLY_FREE(name, parameters, arguments, bytes, alignment)                                  \
	static void early_##name parameters                                                        \
	{                                                                                          \
		if (found())                                                                       \
			mew_real.name arguments;                                                   \
	}
#define EARLY_ASK(name, parameters, arguments, bytes, alignment)                                   \
	static size_t early_##name parameters                                                      \
	{                                                                                          \
		return found() ? mew_real.name arguments : 0;                                      \
	}
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	EARLY_##kind(name, parameters, arguments, bytes, alignment)
#include "channel/hooks.def"
#undef MEW_HOOK

struct mew_real mew_real = {
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment) .name = early_##name,
#include "channel/hooks.def"
#undef MEW_HOOK
};

static int early_dlclose(void *handle)
{
	mew_real_find();
	return mew_real_dlclose == early_dlclose ? -1 : mew_real_dlclose(handle);
}

int (*mew_real_dlclose)(void *handle) = early_dlclose;

int mew_real_new_goes_by;

/* ---- look-up ---- */

/* C23's, which a C library may not have yet: defined to do as free. */
static void plain_free_sized(void *p, size_t size)
{
	(void)size;
	mew_real.free(p);
}

static void plain_free_aligned_sized(void *p, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	mew_real.free(p);
}

static int is_one_module(const void *a, const void *b)
{
	Dl_info info_a, info_b;

	return a && b && dladdr(a, &info_a) && dladdr(b, &info_b) &&
	       info_a.dli_fbase == info_b.dli_fbase;
}

void mew_real_find(void)
{
	int unknown = UNKNOWN;
	struct mew_real real = mew_real;
	void *f;

	if (!__atomic_compare_exchange_n((int *)&state, &unknown, LOOKING, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	real.free_sized = plain_free_sized;
	real.free_aligned_sized = plain_free_aligned_sized;
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	f = dlsym(RTLD_NEXT, #name);                                                               \
	if (f)                                                                                     \
		memcpy(&real.name, &f, sizeof(f));
#include "channel/hooks.def"
#undef MEW_HOOK
	mew_real_new_goes_by = is_one_module(dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "_Znwm"));
	f = dlsym(RTLD_NEXT, "dlclose");
	if (f)
		memcpy(&mew_real_dlclose, &f, sizeof(f));
	/* What was not found has left a message that the program must not see. All of this takes
	 * from the pool, so the program's heap is as it would be. */
	dlerror();
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	__atomic_store_n(&mew_real.name, real.name, __ATOMIC_RELAXED);
#include "channel/hooks.def"
#undef MEW_HOOK
	__atomic_store_n((int *)&state, FOUND, __ATOMIC_RELEASE);
}
