/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/target.h"

/* A HELLO follows its connect at once; who sends none is no target of ours. */
#define HELLO_TIMEOUT_MS 2000

extern char **environ;

/* The names of what this run needs in the file system. None is there yet: the keeper, who removes
 * them, is to know them before. */
static int choose_names(struct mew_target *t, struct mew_error *error)
{
	const char *tmp = getenv("TMPDIR");
	uint64_t random;

	if (!tmp || tmp[0] != '/' || strlen(tmp) > 60 || strpbrk(tmp, " :\t\n"))
		tmp = "/tmp";
	if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
		return mew_error_errno(error, -errno, "no random number");
	snprintf(t->dir, sizeof t->dir, "%s/mew-perf-%016" PRIx64, tmp, random);
	snprintf(t->socket, sizeof t->socket, "%s/s", t->dir);
	snprintf(t->link, sizeof t->link, "%s/libmew-heap.so", t->dir);
	return 0;
}

/* LD_PRELOAD splits at spaces and colons: a path with one goes by a link. */
static int needs_link(const char *library)
{
	return strpbrk(library, " :\t\n") != NULL;
}

/* What root starts may become another user, and connect or exec then; others cannot. */
static int is_for_all(void)
{
	return geteuid() == 0;
}

/* The directory with the socket and, when library needs it, the link. */
static int make_files(struct mew_target *t, const char *library, struct mew_error *error)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (mkdir(t->dir, 0700) < 0) {
		mew_error_errno(error, -errno, "cannot make a directory in '%.*s'",
				(int)(strrchr(t->dir, '/') - t->dir), t->dir);
		return -EIO; /* -ENOENT would mean a case that is not there */
	}
	memcpy(a.sun_path, t->socket, strlen(t->socket) + 1);
	t->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->listen_fd < 0 || bind(t->listen_fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(t->listen_fd, 64) < 0 ||
	    (is_for_all() && (chmod(t->socket, 0666) < 0 || chmod(t->dir, 0711) < 0)))
		return mew_error_errno(error, -errno, "cannot listen at '%s'", t->socket);
	if (library && needs_link(library) && symlink(library, t->link) < 0)
		return mew_error_errno(error, -errno, "cannot link '%s'", t->link);
	return 0;
}

/* The last n_ours strings are of make_environment, the rest is environ's. */
static void free_environment(char **env, size_t n_ours)
{
	size_t n = 0;

	while (env[n])
		n++;
	while (n_ours-- > 0)
		free(env[--n]);
	free(env);
}

/* The environment of the child: ours with the socket and the preloaded library. */
static char **make_environment(const struct mew_target *t, const char *preload)
{
	static const char *const ours[] = {MEW_SOCKET_ENV "=", "LD_PRELOAD="};
	const char *old = getenv("LD_PRELOAD");
	size_t n = 0, k = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 3, sizeof *env);
	if (!env)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		int skip = !strncmp(environ[i], ours[0], strlen(ours[0])) ||
			   (preload && !strncmp(environ[i], ours[1], strlen(ours[1])));

		if (!skip)
			env[k++] = environ[i];
	}
	if (asprintf(&env[k++], "%s%s", ours[0], t->socket) < 0) {
		free(env);
		return NULL;
	}
	if (preload && asprintf(&env[k], "%s%s%s%s", ours[1], preload, old && *old ? ":" : "",
				old ? old : "") < 0) {
		env[k] = NULL;
		free_environment(env, 1);
		return NULL;
	}
	return env;
}

/* What the target's process needs before its exec. */
struct launch {
	const struct mew_target_options *o;
	char **env;
	int report_fd, go_fd; /* to say what failed; to wait until the other end is closed */
	int theirs[2];        /* the other ends */
};

/* In the child. The errno of what failed goes through the pipe, which the exec closes. */
static void launch(void *arg, pid_t parent)
{
	struct launch *l = arg;
	int err;
	char c;

	close(l->theirs[0]);
	close(l->theirs[1]);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	while (read(l->go_fd, &c, 1) < 0 && errno == EINTR)
		;
	if (getppid() != parent)
		_exit(125);
	execve(l->o->path, l->o->argv, l->env);
	err = errno;
	while (write(l->report_fd, &err, sizeof err) < 0 && errno == EINTR)
		;
	_exit(127);
}

/*
 * What the exec said through the pipe: 0 when it happened. Else one code, whatever the errno: the
 * caller takes -ENOENT for a case that is not there.
 */
static int read_report(int fd, const char *path, struct mew_error *error)
{
	int err = 0;
	ssize_t n;

	do
		n = read(fd, &err, sizeof err);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof err || !err)
		return 0;
	mew_error_errno(error, -err, "cannot run '%s'", path);
	return -ENOEXEC;
}

/* The process, waiting. */
static int start_process(struct mew_target *t, struct launch *l, struct mew_error *error)
{
	const char *const files[] = {t->socket, t->link, NULL};
	int report[2] = {-1, -1}, go[2] = {-1, -1}, err = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0) {
		err = mew_error_errno(error, -errno, "cannot make a pipe");
		goto out;
	}
	l->report_fd = report[1];
	l->go_fd = go[0];
	l->theirs[0] = report[0];
	l->theirs[1] = go[1];
	pid = mew_keeper_start(&t->keeper, launch, l, t->dir, files, error);
	if (pid < 0) {
		err = pid;
		goto out;
	}
	t->pid = pid;
	t->report_fd = report[0];
	t->go_fd = go[1];
	report[0] = go[1] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (report[i] >= 0)
			close(report[i]);
		if (go[i] >= 0)
			close(go[i]);
	}
	return err;
}

int mew_target_start(struct mew_target *t, const struct mew_target_options *o,
		     struct mew_error *error)
{
	struct launch l = {.o = o};
	const char *preload = o->preload;
	int err;

	memset(t, 0, sizeof *t);
	t->listen_fd = t->go_fd = t->report_fd = -1;
	t->keeper.control_fd = t->keeper.report_fd = -1;
	t->path = o->path;
	err = choose_names(t, error);
	if (err)
		return err;
	if (preload && needs_link(preload))
		preload = t->link;
	l.env = make_environment(t, preload);
	if (!l.env)
		return mew_error_set(error, -ENOMEM, "out of memory");
	err = start_process(t, &l, error);
	free_environment(l.env, preload ? 2 : 1);
	if (!err)
		err = make_files(t, o->preload, error);
	if (!err && !o->wait)
		err = mew_target_go(t, error);
	return err;
}

int mew_target_go(struct mew_target *t, struct mew_error *error)
{
	int err;

	if (t->go_fd >= 0)
		close(t->go_fd);
	t->go_fd = -1;
	err = read_report(t->report_fd, t->path, error);
	close(t->report_fd);
	t->report_fd = -1;
	return err;
}

int mew_target_ended(struct mew_target *t)
{
	struct mew_keeper_report r;

	if (!t->ended && mew_keeper_ended(&t->keeper, &r)) {
		t->status = r.status;
		t->usage = r.usage;
		t->ended = 1;
	}
	return t->ended;
}

int mew_target_end_fd(const struct mew_target *t)
{
	return t->ended ? -1 : t->keeper.report_fd;
}

int mew_target_wait(struct mew_target *t, int timeout_ms)
{
	struct pollfd p = {.fd = t->keeper.report_fd, .events = POLLIN};
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	while (!mew_target_ended(t)) {
		int passed;

		clock_gettime(CLOCK_MONOTONIC, &now);
		passed = (int)((now.tv_sec - from.tv_sec) * 1000 +
			       (now.tv_nsec - from.tv_nsec) / 1000000);
		if (timeout_ms >= 0 && passed >= timeout_ms)
			return 0;
		if (poll(&p, 1, timeout_ms < 0 ? -1 : timeout_ms - passed) < 0 && errno == EINTR)
			return mew_target_ended(t);
	}
	return 1;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void mew_target_stop(struct mew_target *t)
{
	if (!t->dir[0])
		return;
	/* A program that has ended by itself may leave others at work, as it would without us. */
	mew_keeper_stop(&t->keeper, mew_target_ended(t) && WIFEXITED(t->status));
	mew_target_ended(t);
	mew_keeper_done(&t->keeper);
	close_fd(&t->listen_fd);
	close_fd(&t->go_fd);
	close_fd(&t->report_fd);
	/* The keeper has done so, if there was one and nobody killed it. */
	unlink(t->socket);
	unlink(t->link);
	rmdir(t->dir);
	t->dir[0] = '\0';
}

const char *mew_target_describe(const struct mew_target *t, char *buf, size_t bytes)
{
	if (WIFSIGNALED(t->status))
		snprintf(buf, bytes, "killed by signal %d (%s)", WTERMSIG(t->status),
			 strsignal(WTERMSIG(t->status)));
	else
		snprintf(buf, bytes, "ended with status %d", WEXITSTATUS(t->status));
	return buf;
}

int mew_target_accept(struct mew_target *t, struct mew_msg_hello *ret, pid_t *ret_pid, int *ret_fd,
		      struct mew_error *error)
{
	union {
		uint64_t align;
		struct mew_msg_hello hello;
		char bytes[MEW_MESSAGE_MAX_BYTES];
	} m;
	struct ucred who;
	socklen_t who_bytes = sizeof who;
	int fds[MEW_MESSAGE_MAX_FDS];
	unsigned n_fds = 0;
	struct pollfd p;
	int sock, type, err;

	sock = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (sock < 0)
		return mew_error_errno(error, -errno, "cannot accept a connection");
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &who, &who_bytes) < 0) {
		err = mew_error_errno(error, -errno, "cannot tell who connected");
		goto fail;
	}
	if (who.uid != geteuid() && who.uid != 0 &&
	    !(is_for_all() && mew_keeper_owns(&t->keeper, who.pid))) {
		err = -EAGAIN;
		goto fail;
	}
	p = (struct pollfd){.fd = sock, .events = POLLIN};
	if (poll(&p, 1, HELLO_TIMEOUT_MS) <= 0) {
		err = mew_error_set(error, -EPROTO, "process %d connected and said nothing",
				    (int)who.pid);
		goto fail;
	}
	type = mew_message_receive(sock, &m, fds, &n_fds);
	for (unsigned i = 1; i < n_fds; i++)
		close(fds[i]);
	if (type != MEW_MSG_HELLO || m.hello.version != MEW_MESSAGE_VERSION) {
		if (n_fds)
			close(fds[0]);
		err = type == MEW_MSG_HELLO
			      ? mew_error_set(
					error, -EPROTO,
					"the program's libmew is of another version: rebuild it")
			      : mew_error_set(error, -EPROTO,
					      "process %d does not speak our protocol",
					      (int)who.pid);
		goto fail;
	}
	*ret = m.hello;
	*ret_pid = who.pid;
	*ret_fd = n_fds ? fds[0] : -1;
	return sock;
fail:
	close(sock);
	return err;
}
