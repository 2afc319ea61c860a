/* SPDX-License-Identifier: Apache-2.0 */
/* Over a socketpair: nothing outside this process takes part. */
#include "config.h"

#include "channel/message.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct pair {
	int a, b;
};

static int set_up(void **state)
{
	struct pair *p = malloc(sizeof(*p));
	int fds[2];

	if (!p || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return -1;
	p->a = fds[0];
	p->b = fds[1];
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	close(p->a);
	close(p->b);
	free(p);
	return 0;
}

static union {
	uint64_t align;
	char bytes[MEW_MESSAGE_MAX_BYTES];
	struct mew_message_header header;
	struct mew_msg_end end;
	struct mew_msg_round round;
	struct mew_msg_run run;
} buf;

static int receive(int sock, int *fds, unsigned *n_fds)
{
	return mew_message_receive(sock, &buf, fds, n_fds);
}

static void a_message_arrives_as_it_was_sent(void **state)
{
	struct pair *p = *state;
	struct mew_msg_round round = {{MEW_MSG_ROUND, sizeof(round)}};
	int fds[MEW_MESSAGE_MAX_FDS];
	unsigned n_fds = 99;

	round.iterations = 12345678901234u;
	round.n_threads = 3;
	assert_int_equal(mew_message_send(p->a, &round, NULL, 0), 0);
	assert_int_equal(receive(p->b, fds, &n_fds), MEW_MSG_ROUND);
	assert_int_equal(n_fds, 0);
	assert_memory_equal(&buf.round, &round, sizeof(round));
}

static void the_largest_message_fits(void **state)
{
	struct pair *p = *state;
	struct mew_msg_run run = {{MEW_MSG_RUN, sizeof(run)}};
	int fds[MEW_MESSAGE_MAX_FDS];
	unsigned n_fds;

	assert_true(sizeof(run) <= MEW_MESSAGE_MAX_BYTES);
	strcpy(run.key, "sort/case:1");
	assert_int_equal(mew_message_send(p->a, &run, NULL, 0), 0);
	assert_int_equal(receive(p->b, fds, &n_fds), MEW_MSG_RUN);
	assert_string_equal(buf.run.key, "sort/case:1");
}

static void descriptors_arrive_in_their_order_and_close_on_exec(void **state)
{
	struct pair *p = *state;
	struct mew_message_header list = {MEW_MSG_LIST, sizeof(list)};
	struct stat want, got;
	int fds[MEW_MESSAGE_MAX_FDS], sent[2] = {p->a, p->b};
	unsigned n_fds = 0;
	int i;

	assert_int_equal(mew_message_send(p->a, &list, sent, 2), 0);
	assert_int_equal(receive(p->b, fds, &n_fds), MEW_MSG_LIST);
	assert_int_equal(n_fds, 2);
	for (i = 0; i < 2; i++) {
		assert_int_equal(fstat(sent[i], &want), 0);
		assert_int_equal(fstat(fds[i], &got), 0);
		assert_int_equal(want.st_ino, got.st_ino);
		assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		close(fds[i]);
	}
}

static void strings_are_forced_to_end(void **state)
{
	struct pair *p = *state;
	struct mew_msg_end end = {{MEW_MSG_END, sizeof(end)}};
	int fds[MEW_MESSAGE_MAX_FDS];
	unsigned n_fds;

	memset(end.label, 'l', sizeof(end.label));
	memset(end.text, 't', sizeof(end.text));
	assert_int_equal(mew_message_send(p->a, &end, NULL, 0), 0);
	assert_int_equal(receive(p->b, fds, &n_fds), MEW_MSG_END);
	assert_int_equal(strlen(buf.end.label), MEW_LABEL_BYTES - 1);
	assert_int_equal(strlen(buf.end.text), MEW_TEXT_BYTES - 1);
}

/* Sends n bytes as they are, with one descriptor. */
static void send_raw(int sock, const void *bytes, size_t n)
{
	struct iovec iov = {(void *)(uintptr_t)bytes, n};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	memset(&control, 0, sizeof(control));
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &sock, sizeof(int));
	assert_int_equal(sendmsg(sock, &msg, 0), n);
}

static int lowest_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void packets_that_are_not_ours_are_refused_and_their_descriptors_closed(void **state)
{
	struct pair *p = *state;
	static char large[MEW_MESSAGE_MAX_BYTES + 8];
	struct mew_message_header header = {MEW_MSG_LIST, sizeof(header)};
	int fds[MEW_MESSAGE_MAX_FDS], free_fd = lowest_free_fd();
	unsigned n_fds = 7;

	/* shorter than a header */
	send_raw(p->a, &header, 4);
	assert_int_equal(receive(p->b, fds, &n_fds), -EPROTO);
	/* another size than the packet's */
	header.size = 12;
	send_raw(p->a, &header, sizeof(header));
	assert_int_equal(receive(p->b, fds, &n_fds), -EPROTO);
	/* another size than the type's */
	header.type = MEW_MSG_END;
	header.size = sizeof(header);
	send_raw(p->a, &header, sizeof(header));
	assert_int_equal(receive(p->b, fds, &n_fds), -EPROTO);
	/* no such type */
	header.type = 1000;
	send_raw(p->a, &header, sizeof(header));
	assert_int_equal(receive(p->b, fds, &n_fds), -EPROTO);
	/* larger than any */
	memcpy(large, &header, sizeof(header));
	send_raw(p->a, large, sizeof(large));
	assert_int_equal(receive(p->b, fds, &n_fds), -EPROTO);

	assert_int_equal(n_fds, 7);
	assert_int_equal(lowest_free_fd(), free_fd);
}

static void the_end_of_the_stream_is_no_error_and_writing_to_it_is(void **state)
{
	struct pair *p = *state;
	struct mew_message_header list = {MEW_MSG_LIST, sizeof(list)};
	int fds[MEW_MESSAGE_MAX_FDS];
	unsigned n_fds;

	close(p->a);
	assert_int_equal(receive(p->b, fds, &n_fds), 0);
	/* The default action of SIGPIPE would end this test. */
	assert_int_equal(mew_message_send(p->b, &list, NULL, 0), -EPIPE);
	p->a = dup(p->b);
}

static void a_message_that_cannot_be_is_not_sent(void **state)
{
	struct pair *p = *state;
	struct mew_message_header header = {MEW_MSG_LIST, MEW_MESSAGE_MAX_BYTES + 1};
	int fds[MEW_MESSAGE_MAX_FDS + 1] = {0};

	assert_int_equal(mew_message_send(p->a, &header, NULL, 0), -EINVAL);
	header.size = 4;
	assert_int_equal(mew_message_send(p->a, &header, NULL, 0), -EINVAL);
	header.size = sizeof(header);
	assert_int_equal(mew_message_send(p->a, &header, fds, MEW_MESSAGE_MAX_FDS + 1), -EINVAL);
}

static void a_path_longer_than_a_socket_address_is_named_so(void **state)
{
	char path[200];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(mew_message_connect(path), -ENAMETOOLONG);
	assert_int_equal(mew_message_connect("/no such directory/socket"), -ENOENT);
}

static void a_descriptor_too_many_for_the_limit_is_told(void **state)
{
	struct pair *p = *state;
	struct mew_message_header list = {MEW_MSG_LIST, sizeof(list)};
	struct rlimit limit, low;
	int fds[MEW_MESSAGE_MAX_FDS], sent[2] = {p->a, p->b}, free_fd = lowest_free_fd(), type;
	unsigned n_fds;

	assert_int_equal(mew_message_send(p->a, &list, sent, 2), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = (rlim_t)free_fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	type = receive(p->b, fds, &n_fds);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(type, -EMFILE);
	assert_int_equal(lowest_free_fd(), free_fd); /* the one that fitted is closed */
}

int main(void)
{
#define WITH_PAIR(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_PAIR(a_message_arrives_as_it_was_sent),
		WITH_PAIR(the_largest_message_fits),
		WITH_PAIR(descriptors_arrive_in_their_order_and_close_on_exec),
		WITH_PAIR(strings_are_forced_to_end),
		WITH_PAIR(packets_that_are_not_ours_are_refused_and_their_descriptors_closed),
		WITH_PAIR(a_descriptor_too_many_for_the_limit_is_told),
		WITH_PAIR(the_end_of_the_stream_is_no_error_and_writing_to_it_is),
		WITH_PAIR(a_message_that_cannot_be_is_not_sent),
		cmocka_unit_test(a_path_longer_than_a_socket_address_is_named_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
