/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/keeper.h"

/* What cannot be killed within this (the kernel holds it) is left alone. */
#define KILL_TRIES 100
#define KILL_WAIT_MS 100

/* ---- the keeper's own process ---- */

struct keeper {
	int control_fd, report_fd, signal_fd;
	pid_t target;
	const char *dir;
	const char *const *files;
};

/* The parent of process pid, 0 when it is a zombie or not there. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512], *at;
	int fd, ppid = 0;
	char state;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* a name may hold anything */
	if (!at || sscanf(at + 1, " %c %d", &state, &ppid) != 2 || state == 'Z')
		return 0;
	return ppid;
}

/* SIGKILL to all our children: 1 when there was one that took it. */
static int kill_children(const struct keeper *k)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	int any = 0;

	if (!proc)
		return !kill(k->target, SIGKILL);
	while ((e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]) && parent_of(e->d_name) == getpid())
			any |= !kill((pid_t)atoi(e->d_name), SIGKILL);
	closedir(proc);
	return any;
}

/* Reaps what has ended and reports the target. 0: there is no child left. */
static int reap(struct keeper *k)
{
	struct mew_keeper_report report;
	struct signalfd_siginfo info;
	pid_t pid;

	while (read(k->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		;
	memset(&report, 0, sizeof report);
	for (;;) {
		pid = wait4(-1, &report.status, WNOHANG, &report.usage);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return pid == 0;
		if (pid == k->target && write(k->report_fd, &report, sizeof report) < 0)
			continue; /* mew-perf is gone: nobody wants to know */
	}
}

/* Who dies leaves its children to us, so in the end there is none. Those of another user stay. */
static void end_descendants(struct keeper *k)
{
	struct pollfd p = {.fd = k->signal_fd, .events = POLLIN};

	for (int i = 0; i < KILL_TRIES && reap(k); i++) {
		if (!kill_children(k) && !reap(k))
			return;
		poll(&p, 1, KILL_WAIT_MS);
	}
}

static void close_between(int from, int to)
{
	if (from > to || !syscall(SYS_close_range, (unsigned)from, (unsigned)to, 0u))
		return;
	for (int fd = from; fd <= to && fd < 65536; fd++)
		close(fd);
}

/* Only the two pipes stay open: others must see their ends close. */
static void close_others(const struct keeper *k)
{
	int lo = k->control_fd < k->report_fd ? k->control_fd : k->report_fd;
	int hi = k->control_fd < k->report_fd ? k->report_fd : k->control_fd;

	close_between(0, lo - 1);
	close_between(lo + 1, hi - 1);
	close_between(hi + 1, INT_MAX);
}

static void __attribute__((noreturn)) keep(struct keeper *k, mew_keeper_run_fn run, void *arg)
{
	struct pollfd p[2];
	pid_t self = getpid();
	sigset_t set;
	int released = 0;

	prctl(PR_SET_NAME, "mew-keeper"); /* not what `killall mew-perf` means */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_DFL);
	k->target = fork();
	if (!k->target) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigemptyset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		run(arg, self);
		_exit(125);
	}
	if (k->target < 0)
		k->target = -errno;
	if (write(k->report_fd, &k->target, sizeof k->target) < 0 || k->target < 0)
		_exit(1);
	close_others(k);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	k->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	p[0] = (struct pollfd){.fd = k->control_fd, .events = POLLIN};
	p[1] = (struct pollfd){.fd = k->signal_fd, .events = POLLIN};
	for (;;) {
		char c;

		reap(k);
		if (poll(p, 2, 1000) < 0 && errno != EINTR)
			break;
		if (p[0].revents) {
			released = read(k->control_fd, &c, 1) == 1;
			break;
		}
	}
	if (!released)
		end_descendants(k);
	for (size_t i = 0; k->files[i]; i++)
		unlink(k->files[i]);
	rmdir(k->dir);
	_exit(0);
}

/* ---- mew-perf's side ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static ssize_t read_whole(int fd, void *buf, size_t bytes)
{
	ssize_t n;

	do
		n = read(fd, buf, bytes);
	while (n < 0 && errno == EINTR);
	return n;
}

pid_t mew_keeper_start(struct mew_keeper *k, mew_keeper_run_fn run, void *arg, const char *dir,
		       const char *const *files, struct mew_error *error)
{
	int control[2] = {-1, -1}, report[2] = {-1, -1};
	sigset_t all, old;
	pid_t pid = 0;
	int err = 0;

	*k = (struct mew_keeper){.control_fd = -1, .report_fd = -1};
	if (pipe2(control, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0) {
		err = mew_error_errno(error, -errno, "cannot make a pipe");
		goto out;
	}
	/* The terminal's signals are for mew-perf and the target: the keeper takes none. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	k->pid = fork();
	if (!k->pid) {
		struct keeper own = {.control_fd = control[0],
				     .report_fd = report[1],
				     .dir = dir,
				     .files = files};

		close(control[1]);
		close(report[0]);
		keep(&own, run, arg);
	}
	err = k->pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close_fd(&report[1]);
	if (!err && read_whole(report[0], &pid, sizeof pid) != (ssize_t)sizeof pid)
		pid = -ECHILD;
	if (!err && pid < 0) {
		err = pid;
		waitpid(k->pid, NULL, 0);
	}
	if (err) {
		k->pid = 0;
		mew_error_errno(error, err, "cannot start a process");
		goto out;
	}
	fcntl(report[0], F_SETFL, O_NONBLOCK);
	k->control_fd = control[1];
	k->report_fd = report[0];
	control[1] = report[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		close_fd(&control[i]);
		close_fd(&report[i]);
	}
	return err ? err : pid;
}

int mew_keeper_ended(struct mew_keeper *k, struct mew_keeper_report *ret)
{
	struct mew_keeper_report r;
	ssize_t n;

	if (k->report_fd < 0)
		return 0;
	n = read_whole(k->report_fd, &r, sizeof r);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n == (ssize_t)sizeof r)
		*ret = r;
	else
		*ret = (struct mew_keeper_report){.status = SIGKILL};
	return 1;
}

int mew_keeper_owns(const struct mew_keeper *k, pid_t pid)
{
	char name[16];

	/* Each is younger than its parent, but numbers start again: not for ever all the same. */
	for (int depth = 0; pid > 1 && pid != k->pid && depth < 1000; depth++) {
		snprintf(name, sizeof name, "%d", (int)pid);
		pid = parent_of(name);
	}
	return pid > 1 && pid == k->pid;
}

void mew_keeper_stop(struct mew_keeper *k, int release)
{
	if (k->pid <= 0)
		return;
	if (release && write(k->control_fd, "r", 1) < 0)
		release = 0; /* it is gone */
	close_fd(&k->control_fd);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}

void mew_keeper_done(struct mew_keeper *k)
{
	close_fd(&k->control_fd);
	close_fd(&k->report_fd);
}
