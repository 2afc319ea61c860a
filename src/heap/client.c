/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGH_FD 900     /* above what programs use, below the usual limit of 1024 */
#define WAIT_SECONDS 60 /* tables of hundreds of megabytes take seconds */
#define NO_OBJECT_BYTES (1u << 20)

/* Out of the way: programs close or expect low numbers. */
static int move_high(int fd)
{
	struct rlimit limit;
	int want = HIGH_FD, high;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur <= HIGH_FD + 32)
		want = limit.rlim_cur > 64 ? (int)limit.rlim_cur - 32 : 3;
	high = fcntl(fd, F_DUPFD_CLOEXEC, want);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int is_ours(const struct mew_client *client)
{
	struct stat st;

	return client->fd >= 0 && !fstat(client->fd, &st) && st.st_dev == client->dev &&
	       st.st_ino == client->ino;
}

static int say_hello(struct mew_client *client)
{
	struct mew_msg_hello hello = {
		.header = {MEW_MSG_HELLO, sizeof(hello)},
		.version = MEW_MESSAGE_VERSION,
		.role = MEW_ROLE_HEAP,
		.pid = client->pid,
	};
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), rc;

	if (maps < 0)
		return -errno;
	rc = mew_message_send(client->fd, &hello, &maps, 1);
	close(maps);
	return rc;
}

static int map_both(struct mew_client *client, const struct mew_msg_heap *heap, const int *fds)
{
	struct stat st;
	void *p;

	if (fstat(fds[0], &st))
		return -errno;
	if (heap->segment_bytes < sizeof(*client->segment) ||
	    heap->segment_bytes > (uint64_t)st.st_size ||
	    heap->table_bytes < sizeof(*client->table))
		return -EPROTO;
	p = mmap(NULL, heap->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	if (p == MAP_FAILED)
		return -errno;
	client->segment = p;
	p = mmap(NULL, heap->table_bytes, PROT_READ, MAP_SHARED, fds[1], 0);
	if (p == MAP_FAILED) {
		int rc = -errno;

		munmap(client->segment, heap->segment_bytes);
		return rc;
	}
	client->table = p;
	client->segment_bytes = heap->segment_bytes;
	client->table_bytes = heap->table_bytes;
	client->is_whole = heap->whole != 0;
	client->flags = heap->flags;
	return 0;
}

static int receive_heap(struct mew_client *client)
{
	int fds[MEW_MESSAGE_MAX_FDS], type, rc;
	unsigned n_fds = 0;

	type = mew_message_receive(client->fd, client->buf, fds, &n_fds);
	if (type < 0)
		return type == -EAGAIN ? -ETIMEDOUT : type;
	if (type == MEW_MSG_BYE)
		rc = -EPERM;
	else if (type != MEW_MSG_HEAP || n_fds != 2)
		rc = type ? -EPROTO : -ECONNRESET;
	else
		rc = map_both(client, (const struct mew_msg_heap *)client->buf, fds);
	while (n_fds > 0)
		close(fds[--n_fds]);
	return rc;
}

int mew_client_connect(struct mew_client *client, const char *path)
{
	struct timeval wait = {.tv_sec = WAIT_SECONDS};
	struct stat st;
	int rc;

	client->fd = mew_message_connect(path);
	if (client->fd < 0)
		return client->fd;
	client->pid = getpid();
	client->fd = move_high(client->fd);
	rc = fstat(client->fd, &st) ? -errno : 0;
	client->dev = st.st_dev;
	client->ino = st.st_ino;
	if (!rc && setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		rc = -errno;
	if (!rc)
		rc = say_hello(client);
	if (!rc)
		rc = receive_heap(client);
	if (rc) {
		close(client->fd);
		client->fd = -1;
	}
	return rc;
}

/* One question and its answer. The caller holds the lock. */
static int converse(struct mew_client *client, uint64_t pc)
{
	struct mew_msg_tables ask = {.header = {MEW_MSG_TABLES, sizeof(ask)}, .pc = pc};
	int fds[MEW_MESSAGE_MAX_FDS], type;
	unsigned n_fds = 0;

	if (!is_ours(client))
		return -EBADF;
	type = mew_message_send(client->fd, &ask, NULL, 0);
	if (!type)
		type = mew_message_receive(client->fd, client->buf, fds, &n_fds);
	while (n_fds > 0)
		close(fds[--n_fds]);
	if (type == MEW_MSG_TABLES)
		return 0;
	/* An answer that comes too late would be taken for that to the next question. */
	close(client->fd);
	client->fd = -1;
	return -EPROTO;
}

static int ask(struct mew_client *client, uint64_t pc)
{
	uint64_t before = __atomic_load_n(&client->table->generation, __ATOMIC_ACQUIRE);
	int cancel;

	if (client->fd < 0)
		return 0;
	/* sendmsg and recvmsg are cancellation points, which malloc is not. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	converse(client, pc);
	pthread_setcancelstate(cancel, NULL);
	return __atomic_load_n(&client->table->generation, __ATOMIC_ACQUIRE) != before;
}

/* Start of the loaded object that holds pc, 0: none. Takes no lock. */
static uint64_t object_of(uint64_t pc)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;

	if (!_dl_find_object((void *)(uintptr_t)pc, &found))
		return (uint64_t)(uintptr_t)found.dlfo_map_start;
#endif
	(void)pc;
	return 0;
}

int mew_client_ask(struct mew_client *client, uint64_t pc)
{
	struct mew_client_asked want = {.object = object_of(pc)}, *asked;
	int is_new;

	/* Code made at run time is asked for in larger pieces: there is a lot, and mostly in vain.
	 */
	want.place = pc / (want.object ? 4096 : NO_OBJECT_BYTES);
	asked = &client->asked[want.place % MEW_CLIENT_ASKED];
	mew_lock_acquire(&client->lock);
	want.generation = __atomic_load_n(&client->table->generation, __ATOMIC_ACQUIRE);
	is_new = asked->place != want.place || asked->generation != want.generation ||
		 asked->object != want.object;
	if (is_new) {
		is_new = ask(client, pc);
		want.generation = __atomic_load_n(&client->table->generation, __ATOMIC_ACQUIRE);
		*asked = want;
	}
	mew_lock_release(&client->lock);
	return is_new;
}

int mew_client_refresh(struct mew_client *client, uint64_t pc)
{
	int is_new;

	mew_lock_acquire(&client->lock);
	is_new = ask(client, pc);
	mew_lock_release(&client->lock);
	return is_new;
}

static int take_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

void mew_client_show(struct mew_client *client)
{
	unsigned long long n = 0;

	/* Takes the loader's lock, under which others may ask for tables: not below ours. */
	dl_iterate_phdr(take_loaded, &n);
	mew_lock_acquire(&client->lock);
	if (n != client->n_loaded)
		ask(client, (uintptr_t)&take_loaded);
	client->n_loaded = n;
	mew_lock_release(&client->lock);
}
