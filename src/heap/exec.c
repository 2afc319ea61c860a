/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/exec.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap/real.h"
#include "heap/recorder.h"

#define EXPORT __attribute__((visibility("default"), noinline))
#define FEW 256 /* arguments that are held on the stack */

typedef int (*v_fn)(const char *path, char *const argv[]);
typedef int (*ve_fn)(const char *path, char *const argv[], char *const envp[]);

static struct {
	v_fn execv, execvp;
	ve_fn execve, execvpe;
	int (*fexecve)(int fd, char *const argv[], char *const envp[]);
	int (*execveat)(int dir, const char *path, char *const argv[], char *const envp[],
			int flags);
} real;

void mew_exec_find(void)
{
	mew_real_symbol("execv", &real.execv);
	mew_real_symbol("execvp", &real.execvp);
	mew_real_symbol("execvpe", &real.execvpe);
	mew_real_symbol("fexecve", &real.fexecve);
	mew_real_symbol("execveat", &real.execveat);
	mew_real_symbol("execve", &real.execve);
	dlerror(); /* what is not there has left a message */
}

/* Looks for them when the constructor has not run yet. */
static int is_found(void)
{
	if (!real.execve)
		mew_exec_find();
	return real.execve != NULL;
}

/* The real call: told before, and taken back when it comes back. */
#define LEAVE(name, ...)                                                                           \
	do {                                                                                       \
		int rc = -1;                                                                       \
                                                                                                   \
		errno = ENOSYS;                                                                    \
		if (is_found() && real.name) {                                                     \
			mew_recorder_leaving(1);                                                   \
			rc = real.name(__VA_ARGS__);                                               \
			mew_recorder_leaving(0);                                                   \
		}                                                                                  \
		return rc;                                                                         \
	} while (0)

static int call_execve(const char *path, char *const argv[], char *const envp[])
{
	LEAVE(execve, path, argv, envp);
}

static int call_execv(const char *path, char *const argv[])
{
	LEAVE(execv, path, argv);
}

static int call_execvp(const char *file, char *const argv[])
{
	LEAVE(execvp, file, argv);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return call_execve(path, argv, envp);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return call_execv(path, argv);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return call_execvp(file, argv);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	LEAVE(execvpe, file, argv, envp);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	LEAVE(fexecve, fd, argv, envp);
}

EXPORT int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	LEAVE(execveat, dir, path, argv, envp, flags);
}

/*
 * Those with the arguments in the call, up to a NULL. Callable from a signal handler and the child
 * of vfork(), so no malloc.
 */
struct list {
	char *few[FEW];
	char **at;
	size_t bytes; /* mapped, 0: at is few */
};

/* With the arguments from `first` on; ap is after the NULL then. */
static int list_take(struct list *l, const char *first, va_list *ap)
{
	size_t n = 1;
	va_list count;

	va_copy(count, *ap);
	for (const char *arg = first; arg; n++)
		arg = va_arg(count, const char *);
	va_end(count);
	l->at = l->few;
	l->bytes = 0;
	if (n > FEW) {
		void *p = mmap(NULL, n * sizeof(*l->at), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return -1;
		l->at = p;
		l->bytes = n * sizeof(*l->at);
	}
	for (size_t i = 0; i < n; i++) {
		l->at[i] = (char *)(uintptr_t)first;
		if (first)
			first = va_arg(*ap, const char *);
	}
	return 0;
}

static void list_done(struct list *l)
{
	int saved = errno;

	if (l->bytes)
		munmap(l->at, l->bytes);
	errno = saved;
}

static int call_listed(v_fn call, const char *path, const char *arg, va_list *ap)
{
	struct list l;
	int rc = list_take(&l, arg, ap);

	if (rc)
		return rc;
	rc = call(path, l.at);
	list_done(&l);
	return rc;
}

EXPORT int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = call_listed(call_execv, path, arg, &ap);
	va_end(ap);
	return rc;
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = call_listed(call_execvp, file, arg, &ap);
	va_end(ap);
	return rc;
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	struct list l;
	va_list ap;
	int rc;

	va_start(ap, arg);
	rc = list_take(&l, arg, &ap);
	envp = rc ? NULL : va_arg(ap, char *const *);
	va_end(ap);
	if (rc)
		return rc;
	rc = call_execve(path, l.at, envp);
	list_done(&l);
	return rc;
}
