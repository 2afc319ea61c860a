/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap(), munmap() and mremap() as the program itself calls them: the C library's own calls, as
 * those of malloc, of threads and of dlopen, do not come by. Recorded under MEW_HEAP_MMAP alone.
 *
 * The real call is made with the ranges locked: else another thread's mapping could take the place
 * of one that goes before either is told.
 */
/* With it the header would give mmap the symbol of mmap64. */
#undef _FILE_OFFSET_BITS
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/mmap.h"
#include "heap/real.h"
#include "heap/recorder.h"

#define EXPORT __attribute__((visibility("default"), noinline))

typedef void *(*mmap_fn)(void *addr, size_t bytes, int prot, int flags, int fd, off_t off);
typedef int (*munmap_fn)(void *addr, size_t bytes);
typedef void *(*mremap_fn)(void *old, size_t old_bytes, size_t bytes, int flags, ...);

/* ---- until the real ones are found: the system calls ---- */

static void *as_pointer(long value)
{
	return (void *)(intptr_t)value;
}

static void *early_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t off)
{
	return as_pointer(syscall(SYS_mmap, addr, bytes, prot, flags, fd, off));
}

static int early_munmap(void *addr, size_t bytes)
{
	return (int)syscall(SYS_munmap, addr, bytes);
}

static void *early_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	va_list ap;
	void *to;

	va_start(ap, flags);
	to = va_arg(ap, void *);
	va_end(ap);
	return as_pointer(syscall(SYS_mremap, old, old_bytes, bytes, flags, to));
}

static mmap_fn real_mmap = early_mmap;
static munmap_fn real_munmap = early_munmap;
static mremap_fn real_mremap = early_mremap;

void mew_mmap_find(void)
{
	mew_real_symbol("mmap", &real_mmap);
	mew_real_symbol("munmap", &real_munmap);
	mew_real_symbol("mremap", &real_mremap);
}

/* ---- entry points ---- */

static void *map(void *addr, size_t bytes, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (!mew_recorder_maps_begin())
		return real_mmap(addr, bytes, prot, flags, fd, off);
	p = real_mmap(addr, bytes, prot, flags, fd, off);
	if (p != MAP_FAILED)
		mew_recorder_mapped(p, bytes);
	mew_recorder_maps_end();
	return p;
}

EXPORT void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t off)
{
	return map(addr, bytes, prot, flags, fd, off);
}

EXPORT void *mmap64(void *addr, size_t bytes, int prot, int flags, int fd, off64_t off)
{
	return map(addr, bytes, prot, flags, fd, off);
}

EXPORT int munmap(void *addr, size_t bytes)
{
	int rc;

	if (!mew_recorder_maps_begin())
		return real_munmap(addr, bytes);
	rc = real_munmap(addr, bytes);
	if (!rc)
		mew_recorder_unmapped(addr, bytes);
	mew_recorder_maps_end();
	return rc;
}

EXPORT void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	void *to = NULL, *p;
	va_list ap;

	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
		va_start(ap, flags);
		to = va_arg(ap, void *);
		va_end(ap);
	}
	if (!mew_recorder_maps_begin())
		return real_mremap(old, old_bytes, bytes, flags, to);
	p = real_mremap(old, old_bytes, bytes, flags, to);
	if (p != MAP_FAILED) {
		/* Of 0 bytes it is a second mapping of the same memory; with DONTUNMAP both stay.
		 */
		if (!(flags & MREMAP_DONTUNMAP))
			mew_recorder_unmapped(old, old_bytes);
		mew_recorder_mapped(p, bytes);
	}
	mew_recorder_maps_end();
	return p;
}
