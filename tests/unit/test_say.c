/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/say.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

static int ends[2], was;

/* A packet is one write. */
static int set_up(void **state)
{
	static char name[] = "prog";

	(void)state;
	program_invocation_short_name = name;
	was = dup(STDERR_FILENO);
	return was < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ||
	       dup2(ends[1], STDERR_FILENO) < 0;
}

static void give_back(void)
{
	dup2(was, STDERR_FILENO);
	close(was);
	close(ends[1]);
}

static int tear_down(void **state)
{
	(void)state;
	return close(ends[0]);
}

static void read_line(char *ret, size_t size)
{
	ssize_t n = recv(ends[0], ret, size - 1, MSG_DONTWAIT);

	ret[n > 0 ? n : 0] = '\0';
}

static void a_message_is_one_write_of_one_line(void **state)
{
	char plain[128], warning[128], none[128];

	(void)state;
	mew_say(NULL, "%d of %s", 3, "them");
	mew_say("warning", "first\nsecond \033[31mred\xff");
	give_back();
	read_line(plain, sizeof plain);
	read_line(warning, sizeof warning);
	read_line(none, sizeof none);
	assert_string_equal(plain, "prog: 3 of them\n");
	assert_string_equal(warning, "prog: warning: first\\nsecond \\x1b[31mred\\xff\n");
	assert_string_equal(none, "");
}

static void a_long_message_is_whole(void **state)
{
	static char text[5001], line[6000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	mew_say(NULL, "%s", text);
	give_back();
	read_line(line, sizeof line);
	assert_int_equal(strlen(line), 5000 + 7);
	assert_int_equal(line[5006], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_message_is_one_write_of_one_line, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_long_message_is_whole, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
