/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define FDS_BYTES CMSG_SPACE(MEW_MESSAGE_MAX_FDS * sizeof(int))

union control {
	struct cmsghdr align;
	char bytes[FDS_BYTES];
};

int mew_message_send(int sock, const void *message, const int *fds, unsigned n_fds)
{
	const struct mew_message_header *header = message;
	union control control;
	struct iovec iov = {(void *)(uintptr_t)message, header->size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;
	ssize_t sent;

	if (n_fds > MEW_MESSAGE_MAX_FDS || header->size < sizeof(*header) ||
	    header->size > MEW_MESSAGE_MAX_BYTES)
		return -EINVAL;
	if (n_fds > 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, n_fds * sizeof(int));
	}
	do {
		sent = sendmsg(sock, &msg, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == header->size ? 0 : -EMSGSIZE;
}

static uint32_t type_size(uint32_t type)
{
	switch (type) {
	case MEW_MSG_HELLO:
		return sizeof(struct mew_msg_hello);
	case MEW_MSG_LIST:
	case MEW_MSG_LIST_END:
	case MEW_MSG_BYE:
		return sizeof(struct mew_message_header);
	case MEW_MSG_CASE:
		return sizeof(struct mew_msg_case);
	case MEW_MSG_RUN:
		return sizeof(struct mew_msg_run);
	case MEW_MSG_MAPS:
		return sizeof(struct mew_msg_maps);
	case MEW_MSG_THREAD:
		return sizeof(struct mew_msg_thread);
	case MEW_MSG_ROUND:
		return sizeof(struct mew_msg_round);
	case MEW_MSG_PLAN:
		return sizeof(struct mew_msg_plan);
	case MEW_MSG_COUNTER:
		return sizeof(struct mew_msg_counter);
	case MEW_MSG_END:
		return sizeof(struct mew_msg_end);
	case MEW_MSG_HEAP:
		return sizeof(struct mew_msg_heap);
	case MEW_MSG_TABLES:
		return sizeof(struct mew_msg_tables);
	default:
		return 0;
	}
}

#define END_STRING(array) ((array)[sizeof(array) - 1] = '\0')

static void end_strings(uint32_t type, void *buf)
{
	switch (type) {
	case MEW_MSG_CASE:
		END_STRING(((struct mew_msg_case *)buf)->key);
		END_STRING(((struct mew_msg_case *)buf)->label);
		break;
	case MEW_MSG_RUN:
		END_STRING(((struct mew_msg_run *)buf)->key);
		break;
	case MEW_MSG_COUNTER:
		END_STRING(((struct mew_msg_counter *)buf)->name);
		break;
	case MEW_MSG_END:
		END_STRING(((struct mew_msg_end *)buf)->label);
		END_STRING(((struct mew_msg_end *)buf)->text);
		break;
	default:
		break;
	}
}

/* Descriptors of all control messages: the first ones to fds, the rest is closed. */
static unsigned take_fds(struct msghdr *msg, int *fds)
{
	struct cmsghdr *cmsg;
	unsigned n = 0;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t i, n_here;

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n_here = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n_here; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(fd));
			if (n < MEW_MESSAGE_MAX_FDS)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

int mew_message_receive(int sock, void *buf, int *ret_fds, unsigned *ret_n_fds)
{
	struct mew_message_header *header = buf;
	int fds[MEW_MESSAGE_MAX_FDS];
	union control control;
	struct iovec iov = {buf, MEW_MESSAGE_MAX_BYTES};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t got;
	unsigned n;

	do {
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		/* A peer that ended with our words unread resets: the stream is over all the same.
		 */
		return errno == ECONNRESET ? 0 : -errno;
	n = take_fds(&msg, fds);
	if (got == 0 && n == 0)
		return 0;
	/* Cut, with room for more: the kernel could not give us one. */
	if ((msg.msg_flags & MSG_CTRUNC) != 0 && n < MEW_MESSAGE_MAX_FDS) {
		while (n > 0)
			close(fds[--n]);
		return -EMFILE;
	}
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || (size_t)got < sizeof(*header) ||
	    header->size != (size_t)got || type_size(header->type) != header->size) {
		while (n > 0)
			close(fds[--n]);
		return -EPROTO;
	}
	end_strings(header->type, buf);
	memcpy(ret_fds, fds, n * sizeof(int));
	*ret_n_fds = n;
	return (int)header->type;
}

int mew_message_connect(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int sock, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	do {
		err = connect(sock, (const struct sockaddr *)&addr, sizeof(addr)) == 0 ? 0 : -errno;
	} while (err == -EINTR);
	if (err == 0)
		return sock;
	close(sock);
	return err;
}
