/* SPDX-License-Identifier: Apache-2.0 */
/* Any packets on the socket, with any number of descriptors: what is received has its type's size
 * and texts that end, and no descriptor is lost. */
#include "config.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/message.h"
#include "fuzz.h"

#define FDS_MAX 8

static void send_packet(int sock, void *bytes, size_t n, unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec iov = {bytes, n};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int fds[FDS_MAX] = {0};
	struct cmsghdr *c;

	if (n_fds) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	if (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0)
		abort();
}

static void check(const void *message, int type, size_t n)
{
	const struct mew_message_header *h = message;
	const struct mew_msg_case *c = message;
	const struct mew_msg_end *e = message;

	FUZZ_CHECK(type == (int)h->type && type <= MEW_MSG_BYE && n == h->size);
	if (type == MEW_MSG_CASE)
		FUZZ_CHECK(strlen(c->key) < sizeof(c->key) && strlen(c->label) < sizeof(c->label));
	if (type == MEW_MSG_END)
		FUZZ_CHECK(strlen(e->label) < sizeof(e->label) &&
			   strlen(e->text) < sizeof(e->text));
	if (type == MEW_MSG_RUN)
		FUZZ_CHECK(strlen(((const struct mew_msg_run *)message)->key) < MEW_KEY_BYTES);
	if (type == MEW_MSG_COUNTER)
		FUZZ_CHECK(strlen(((const struct mew_msg_counter *)message)->name) <
			   MEW_LABEL_BYTES);
}

/* The lowest descriptor that is free. */
static int lowest(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int socks[2] = {-1, -1};
	struct fuzz_input in = {data, size};
	uint64_t *buf = malloc(MEW_MESSAGE_MAX_BYTES);
	uint8_t *packet = malloc(2 * MEW_MESSAGE_MAX_BYTES);
	int free_fd, rc, fds[MEW_MESSAGE_MAX_FDS];
	unsigned n_fds;

	if (socks[0] < 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, socks))
		abort();
	if (!buf || !packet)
		abort();
	free_fd = lowest();
	while (in.left) {
		uint8_t how = (uint8_t)fuzz_number(&in, 1);
		size_t n = fuzz_number(&in, 2) % (2 * MEW_MESSAGE_MAX_BYTES);
		uint32_t sizes[2] = {how >> 4, (uint32_t)n};

		if (!n)
			continue;
		fuzz_bytes(&in, packet, n);
		/* Of a type that there is, with the packet's size. */
		if (how & 8 && n >= sizeof(sizes))
			memcpy(packet, sizes, sizeof(sizes));
		send_packet(socks[0], packet, n, how % 8);
		n_fds = 77;
		rc = mew_message_receive(socks[1], buf, fds, &n_fds);
		FUZZ_CHECK(rc > 0 || rc == -EPROTO || rc == -EMFILE);
		if (rc > 0) {
			check(buf, rc, n);
			FUZZ_CHECK(n_fds == how % 8 ||
				   (n_fds == MEW_MESSAGE_MAX_FDS && how % 8 > 4));
			while (n_fds)
				close(fds[--n_fds]);
		}
		FUZZ_CHECK(lowest() == free_fd);
	}
	free(packet);
	free(buf);
	return 0;
}
