/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points of hooks.def, one function a kind, and dlclose(). They stay thin: what finds the
 * caller's registers, and one branch to the real function when nothing is recorded.
 */
#include "config.h"

#include <dlfcn.h>

#include "channel/entry.h"
#include "heap/real.h"
#include "heap/recorder.h"

#define EXPORT __attribute__((visibility("default"), noinline))
#define SLOW static __attribute__((noinline))
#define NUMBER(name) __attribute__((unused)) uint64_t name

#if defined(__x86_64__)
/*
 * The builtin makes the compiler, gcc and clang alike, set up a frame pointer in the entry point:
 * at it lies the caller's, then the return address, then the caller's stack. The frame is gone when
 * the slow part runs, which may be a tail call, but for the return address.
 */
#define FRAME ((const uint64_t *)__builtin_frame_address(0))
#define ENTRY(name, returns, parameters) EXPORT returns name parameters
#define WITH_CALLER(...) ((uint64_t)(uintptr_t)(FRAME + 2), FRAME[0], FRAME[1], __VA_ARGS__)
#elif defined(__aarch64__)
/*
 * A frame pointer there says nothing of the caller's sp. aarch64/entry.S has the entry points: they
 * put sp, x29 and x30 into the sixth to eighth argument and jump here.
 */
#define HIDDEN __attribute__((visibility("hidden"), noinline))
#define FIRST_5(a, b, c, d, e, ...) a, b, c, d, e
#define FIVE(...) FIRST_5(__VA_ARGS__, NUMBER(n1), NUMBER(n2), NUMBER(n3), NUMBER(n4), )
#define AND_REGISTERS(...) (FIVE(__VA_ARGS__), NUMBER(sp), NUMBER(fp), NUMBER(pc))
#define ENTRY(name, returns, parameters) HIDDEN returns mew_hook_##name AND_REGISTERS parameters
#define WITH_CALLER(...) (sp, fp, pc, __VA_ARGS__)
#else
#error "how are the caller's registers found on this CPU?"
#endif

#define MEW_UNPACK(...) __VA_ARGS__
#define AND_CALLER(...) (NUMBER(sp), NUMBER(fp), NUMBER(pc), __VA_ARGS__)
#define CALLER ((struct mew_stacks_caller){.pc = pc, .sp = sp, .fp = fp})

static inline int is_on(uint32_t bits)
{
	mew_recorder_thread.n_calls++;
	return __builtin_expect((__atomic_load_n(&mew_recorder_mode, __ATOMIC_RELAXED) & bits) != 0,
				0);
}

#define DEFINE_ALLOCATE(name, parameters, arguments, bytes)                                        \
	SLOW void *slow_##name AND_CALLER parameters                                               \
	{                                                                                          \
		struct mew_stacks_caller caller = CALLER;                                          \
		void *ret;                                                                         \
                                                                                                   \
		if (!mew_recorder_enter(sp, 1))                                                    \
			return mew_real.name arguments;                                            \
		ret = mew_real.name arguments;                                                     \
		mew_recorder_allocated(&caller, MEW_ENTRY_##name, ret, bytes);                     \
		return ret;                                                                        \
	}                                                                                          \
	ENTRY(name, void *, parameters)                                                            \
	{                                                                                          \
		if (is_on(MEW_RECORDER_CALLS))                                                     \
			return slow_##name WITH_CALLER arguments;                                  \
		return mew_real.name arguments;                                                    \
	}

/*
 * An exception may leave the real function: the call is over then. The unwinder calls the
 * personality routine of each frame that it takes away, and this one has no other use; it asks
 * nothing of the C++ library, which need not be there (Itanium C++ ABI, Exception Handling, 2.5.2).
 */
#define URC_CONTINUE_UNWIND 8
#define UA_CLEANUP_PHASE 2

int mew_hook_left(int version, int actions, uint64_t type, void *exception, void *context)
	__attribute__((visibility("hidden"), used));
int mew_hook_left(int version, int actions, uint64_t type, void *exception, void *context)
{
	(void)version;
	(void)type;
	(void)exception;
	(void)context;
	if (actions & UA_CLEANUP_PHASE)
		mew_recorder_freed();
	return URC_CONTINUE_UNWIND;
}

/* 0x1b: four bytes, from where they stand */
#define LEAVE_WHEN_UNWOUND __asm__ volatile(".cfi_personality 0x1b, mew_hook_left")

#define DEFINE_NEW(name, parameters, arguments, bytes)                                             \
	SLOW void *recorded_##name(const struct mew_stacks_caller *caller, MEW_UNPACK parameters)  \
	{                                                                                          \
		void *ret;                                                                         \
                                                                                                   \
		LEAVE_WHEN_UNWOUND;                                                                \
		ret = mew_real.name arguments;                                                     \
		mew_recorder_allocated(caller, MEW_ENTRY_##name, ret, bytes);                      \
		return ret;                                                                        \
	}                                                                                          \
	SLOW void *slow_##name AND_CALLER parameters                                               \
	{                                                                                          \
		struct mew_stacks_caller caller = CALLER;                                          \
                                                                                                   \
		if (!mew_recorder_enter(sp, 1))                                                    \
			return mew_real.name arguments;                                            \
		return recorded_##name(&caller, MEW_UNPACK arguments);                             \
	}                                                                                          \
	ENTRY(name, void *, parameters)                                                            \
	{                                                                                          \
		if (is_on(MEW_RECORDER_CALLS) && !mew_real_passes[MEW_ENTRY_##name])               \
			return slow_##name WITH_CALLER arguments;                                  \
		return mew_real.name arguments;                                                    \
	}

#define DEFINE_PLACE(name, parameters, arguments, bytes)                                           \
	SLOW int slow_##name AND_CALLER parameters                                                 \
	{                                                                                          \
		struct mew_stacks_caller caller = CALLER;                                          \
		int rc;                                                                            \
                                                                                                   \
		if (!mew_recorder_enter(sp, 1))                                                    \
			return mew_real.name arguments;                                            \
		rc = mew_real.name arguments;                                                      \
		mew_recorder_allocated(&caller, MEW_ENTRY_##name, rc ? NULL : *ret_p, bytes);      \
		return rc;                                                                         \
	}                                                                                          \
	ENTRY(name, int, parameters)                                                               \
	{                                                                                          \
		if (is_on(MEW_RECORDER_CALLS))                                                     \
			return slow_##name WITH_CALLER arguments;                                  \
		return mew_real.name arguments;                                                    \
	}

#define DEFINE_RESIZE(name, parameters, arguments, bytes)                                          \
	static void *resize_##name parameters                                                      \
	{                                                                                          \
		return mew_pool_owns(p) ? mew_pool_resize(p, bytes) : mew_real.name arguments;     \
	}                                                                                          \
	SLOW void *slow_##name AND_CALLER parameters                                               \
	{                                                                                          \
		struct mew_stacks_caller caller = CALLER;                                          \
		struct mew_live_block old;                                                         \
		int is_tracked;                                                                    \
		void *ret;                                                                         \
                                                                                                   \
		if (!mew_recorder_enter(sp, 1))                                                    \
			return resize_##name arguments;                                            \
		if (!p) {                                                                          \
			ret = mew_real.name arguments;                                             \
			mew_recorder_allocated(&caller, MEW_ENTRY_##name, ret, bytes);             \
			return ret;                                                                \
		}                                                                                  \
		is_tracked = mew_recorder_resizing(p, &old);                                       \
		ret = resize_##name arguments;                                                     \
		mew_recorder_resized(&caller, MEW_ENTRY_##name, is_tracked ? &old : NULL, ret,     \
				     bytes);                                                       \
		return ret;                                                                        \
	}                                                                                          \
	ENTRY(name, void *, parameters)                                                            \
	{                                                                                          \
		if (is_on(MEW_RECORDER_CALLS | MEW_RECORDER_FREES))                                \
			return slow_##name WITH_CALLER arguments;                                  \
		return resize_##name arguments;                                                    \
	}

#define DEFINE_FREE(name, parameters, arguments, bytes)                                            \
	SLOW void slow_##name AND_CALLER parameters                                                \
	{                                                                                          \
		int is_recorded = mew_recorder_enter(sp, 0);                                       \
                                                                                                   \
		/* Before the real call: after it the address may be another block's. */           \
		if (is_recorded)                                                                   \
			mew_recorder_freeing(p);                                                   \
		if (!mew_pool_owns(p))                                                             \
			mew_real.name arguments;                                                   \
		if (is_recorded)                                                                   \
			mew_recorder_freed();                                                      \
	}                                                                                          \
	ENTRY(name, void, parameters)                                                              \
	{                                                                                          \
		if (is_on(MEW_RECORDER_FREES) && !mew_real_passes[MEW_ENTRY_##name])               \
			slow_##name WITH_CALLER arguments;                                         \
		else if (!mew_pool_owns(p))                                                        \
			mew_real.name arguments;                                                   \
	}
#define DEFINE_DELETE DEFINE_FREE

#define DEFINE_ASK(name, parameters, arguments, bytes)                                             \
	ENTRY(name, size_t, parameters)                                                            \
	{                                                                                          \
		mew_recorder_thread.n_calls++;                                                     \
		return mew_pool_owns(p) ? mew_pool_size(p) : mew_real.name arguments;              \
	}

#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	ENTRY(name, returns, parameters);
#include "channel/hooks.def"
#undef MEW_HOOK

#define MEW_HOOK(name, returns, parameters, arguments, kind, bytes, alignment)                     \
	DEFINE_##kind(name, parameters, arguments, bytes)
#include "channel/hooks.def"
#undef MEW_HOOK

/* Not of the heap: but another module may come to the place of the one that goes. */
EXPORT int dlclose(void *handle)
{
	int rc;

	mew_recorder_closing();
	rc = mew_real_dlclose(handle);
	mew_recorder_closed();
	return rc;
}
