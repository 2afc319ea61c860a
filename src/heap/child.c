/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heap/real.h"
#include "heap/recorder.h"

#define EXPORT __attribute__((visibility("default"), noinline))

typedef int (*spawn_fn)(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[],
			char *const envp[]);
typedef pid_t (*fork_fn)(void);

static struct {
	spawn_fn posix_spawn, posix_spawnp;
	int (*system)(const char *command);
	FILE *(*popen)(const char *command, const char *mode);
	fork_fn vfork, fork;
} real;

void mew_child_find(void)
{
	mew_real_symbol("posix_spawn", &real.posix_spawn);
	mew_real_symbol("posix_spawnp", &real.posix_spawnp);
	mew_real_symbol("system", &real.system);
	mew_real_symbol("popen", &real.popen);
	mew_real_symbol("_Fork", &real.fork);
	mew_real_symbol("vfork", &real.vfork);
	dlerror(); /* what is not there has left a message */
}

static int is_found(void)
{
	if (!real.vfork)
		mew_child_find();
	return real.vfork != NULL;
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	int rc = is_found() ? real.posix_spawn(pid, path, actions, attributes, argv, envp) : ENOSYS;

	if (!rc)
		mew_recorder_forked();
	return rc;
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	int rc =
		is_found() ? real.posix_spawnp(pid, file, actions, attributes, argv, envp) : ENOSYS;

	if (!rc)
		mew_recorder_forked();
	return rc;
}

/* Waits for its child, so it is counted before. Without a command there is none. */
EXPORT int system(const char *command)
{
	if (!is_found()) {
		errno = ENOSYS;
		return command ? -1 : 0;
	}
	if (command)
		mew_recorder_forked();
	return real.system(command);
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	FILE *f;

	if (!is_found()) {
		errno = ENOSYS;
		return NULL;
	}
	f = real.popen(command, mode);
	if (f)
		mew_recorder_forked();
	return f;
}

/* glibc's from 2.34 on. fork() calls it too, but not by its name. */
EXPORT pid_t _Fork(void)
{
	pid_t pid;

	if (!is_found() || !real.fork) {
		errno = ENOSYS;
		return -1;
	}
	pid = real.fork();
	if (pid > 0)
		mew_recorder_forked();
	else if (!pid)
		mew_recorder_is_child();
	return pid;
}

/*
 * The child of vfork() returns first, on the parent's stack: no frame of ours may be below it. So
 * the entry point counts, and jumps to the real one as if the caller had called that.
 */
fork_fn mew_child_vfork(void) __attribute__((visibility("hidden"), used));
fork_fn mew_child_vfork(void)
{
	if (!is_found())
		return NULL;
	mew_recorder_forked();
	return real.vfork;
}

__asm__(".text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	".p2align 4\n"
	"vfork:\n"
	".cfi_startproc\n"
#if defined(__x86_64__)
	"endbr64\n"
	"subq $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"call mew_child_vfork\n"
	"addq $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"jmp *%rax\n"
#elif defined(__aarch64__)
	"hint 25\n" /* paciasp */
	".cfi_negate_ra_state\n"
	"stp x29, x30, [sp, #-16]!\n"
	".cfi_adjust_cfa_offset 16\n"
	".cfi_offset 29, -16\n"
	".cfi_offset 30, -8\n"
	"bl mew_child_vfork\n"
	"mov x16, x0\n"
	"ldp x29, x30, [sp], #16\n"
	".cfi_adjust_cfa_offset -16\n"
	".cfi_restore 29\n"
	".cfi_restore 30\n"
	"hint 29\n" /* autiasp */
	".cfi_negate_ra_state\n"
	"br x16\n"
#else
#error "how is a function entered and left on this CPU?"
#endif
	".cfi_endproc\n"
	".size vfork, . - vfork\n");
