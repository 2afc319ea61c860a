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

/*
 * Of NEW and DELETE they stay there when no library that the program starts with has the function:
 * C23's, and those of C++ in a C program that loads a C++ library for itself. They do by malloc and
 * free, as libstdc++ and libc++ do. What follows a failure, to call the new-handler and to throw,
 * is the library's own.
 */
static void *runtime_symbol(const char *name)
{
	static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
	void *f = NULL;

	for (size_t i = 0; !f && i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		void *handle = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);

		if (!handle)
			continue;
		f = dlsym(handle, name);
		mew_real_dlclose(handle); /* it stays: somebody else loaded it */
	}
	return f;
}

static void *plain_new(size_t bytes, size_t alignment)
{
	if (!bytes)
		bytes = 1;
	return alignment > POOL_ALIGNMENT ? mew_real.memalign(alignment, bytes)
					  : mew_real.malloc(bytes);
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
#define EARLY_NEW(name, parameters, arguments, bytes, alignment)                                   \
	static void *early_##name parameters                                                       \
	{                                                                                          \
		void *(*f)parameters, *ret, *symbol;                                               \
                                                                                                   \
		if (found() && mew_real.name != early_##name)                                      \
			return mew_real.name arguments;                                            \
		ret = plain_new(bytes, alignment);                                                 \
		symbol = ret ? NULL : runtime_symbol(#name);                                       \
		if (!symbol)                                                                       \
			return ret;                                                                \
		memcpy(&f, &symbol, sizeof(f));                                                    \
		return f arguments;                                                                \
	}
#define EARLY_DELETE(name, parameters, arguments, bytes, alignment)                                \
	static void early_##name parameters                                                        \
	{                                                                                          \
		if (found() && mew_real.name != early_##name)                                      \
			mew_real.name arguments;                                                   \
		else                                                                               \
			mew_real.free(p);                                                          \
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

/* ---- look-up ---- */

/* The C++ libraries whose operators are defined by malloc and free. */
static int is_of_runtime(const void *f)
{
	Dl_info info;
	const char *base;

	if (!f || !dladdr(f, &info) || !info.dli_fname)
		return 0;
	base = strrchr(info.dli_fname, '/');
	base = base ? base + 1 : info.dli_fname;
	return !strncmp(base, "libstdc++.so", 12) || !strncmp(base, "libc++.so", 9) ||
	       !strncmp(base, "libc++abi.so", 12);
}

static int is_one_module(const void *a, const void *b)
{
	Dl_info info_a, info_b;

	return a && b && dladdr(a, &info_a) && dladdr(b, &info_b) &&
	       info_a.dli_fbase == info_b.dli_fbase;
}

uint8_t mew_real_passes[MEW_N_ENTRIES];

void mew_real_symbol(const char *name, void *ret_function)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f)
		memcpy(ret_function, &f, sizeof(f));
}

void mew_real_find(void)
{
	int unknown = UNKNOWN;
	struct mew_real real = mew_real;
	void *f;

	if (!__atomic_compare_exchange_n((int *)&state, &unknown, LOOKING, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	f = dlsym(RTLD_NEXT, #name);                                                               \
	if (f)                                                                                     \
		memcpy(&real.name, &f, sizeof(f));                                                 \
	mew_real_passes[MEW_ENTRY_##name] = is_of_runtime(f);
#include "channel/hooks.def"
#undef MEW_HOOK
	mew_real_symbol("dlclose", &mew_real_dlclose);
	/* What was not found has left a message that the program must not see. All of this takes
	 * from the pool, so the program's heap is as it would be. */
	dlerror();
#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	__atomic_store_n(&mew_real.name, real.name, __ATOMIC_RELAXED);
#include "channel/hooks.def"
#undef MEW_HOOK
	__atomic_store_n((int *)&state, FOUND, __ATOMIC_RELEASE);
}

int mew_real_new_is_own(void)
{
	const void *f = dlsym(RTLD_DEFAULT, "_Znwm");

	return f && !is_one_module(f, mew_pool);
}

void mew_real_try_new(void)
{
	void *new_symbol = dlsym(RTLD_DEFAULT, "_Znwm");
	void *delete_symbol = dlsym(RTLD_DEFAULT, "_ZdlPv");
	void *(*new)(size_t size);
	void (*delete)(void *p);

	if (!new_symbol || !delete_symbol)
		return;
	memcpy(&new, &new_symbol, sizeof(new));
	memcpy(&delete, &delete_symbol, sizeof(delete));
	delete (new (1));
}
