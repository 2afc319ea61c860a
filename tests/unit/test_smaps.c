/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define MIB (1u << 20)

static void smaps_adds_up_what_the_program_has_got_for_itself(void **state)
{
	char text[] =
		"55a0c0000000-55a0c0001000 r-xp 00000000 08:01 42                 /bin/program\n"
		"Rss:                   4 kB\n"
		"Anonymous:             1 kB\n"
		"VmFlags: rd ex mr mw me sd\n"
		"55a0c0001000-55a0c0003000 rw-p 00001000 08:01 42                 /bin/program\n"
		"Anonymous:             2 kB\n"
		/* its zeroed data */
		"55a0c0003000-55a0c0009000 rw-p 00000000 00:00 0 \n"
		"Anonymous:             4 kB\n"
		"VmFlags: rd wr mr mw me ac sd\n"
		"55a0c1000000-55a0c1100000 rw-p 00000000 00:00 0                  [heap]\n"
		"Rss:                1024 kB\n"
		"Anonymous:             8 kB\n"
		"AnonHugePages:       512 kB\n"
		"VmFlags: rd wr mr mw me ac sd\n"
		"7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n"
		"Anonymous:            16 kB\n"
		"VmFlags: rd wr mr mw me ac sd\n"
		/* beside the one before, and no file's */
		"7f0000100000-7f0000200000 rw-p 00000000 00:00 0                  [anon: a pool]\n"
		"Anonymous:            32 kB\n"
		"VmFlags: rd wr mr mw me nr sd\n"
		"7f0000300000-7f0000400000 rw-s 00000000 00:01 9   /dev/zero (deleted)\n"
		"Anonymous:            64 kB\n"
		"7f0000400000-7f0000500000 rw-p 00000000 00:00 0 \n"
		"Anonymous:           128 kB\n"
		/* a thread's stack, and what lies behind a larger reserve */
		"7f0000500000-7f0000501000 ---p 00000000 00:00 0 \n"
		"Anonymous:             0 kB\n"
		"7f0000501000-7f0000601000 rw-p 00000000 00:00 0 \n"
		"Anonymous:           512 kB\n"
		"VmFlags: rd wr mr mw me ac sd\n"
		"7f0000601000-7f0001000000 ---p 00000000 00:00 0 \n"
		"Anonymous:             0 kB\n"
		"7f0001000000-7f0001200000 rw-p 00000000 00:00 0 \n"
		"Anonymous:          1024 kB\n"
		"VmFlags: rd wr mr mw me ac sd\n"
		"7ffe00000000-7ffe00100000 rw-p 00000000 00:00 0                  [stack]\n"
		"Anonymous:           256 kB";
	char none[] = "", nonsense[] = "Anonymous: 5 kB\n\nx\n1-2 rw-p 0 0:0 0\nAnonymous: -";

	struct mew_smaps sum;

	(void)state;
	sum = mew_smaps_anonymous(text);
	assert_int_equal(sum.touched_bytes, (8 + 16 + 32 + 1024) * 1024);
	/* Of what has no memory set aside, what is touched. */
	assert_int_equal(sum.given_bytes, (1024 + 1024 + 32 + 2048) * 1024);
	sum = mew_smaps_anonymous(none);
	assert_int_equal(sum.touched_bytes + sum.given_bytes, 0);
	sum = mew_smaps_anonymous(nonsense);
	assert_int_equal(sum.touched_bytes + sum.given_bytes, 0);
}

static void smaps_shows_what_is_touched(void **state)
{
	int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	struct mew_smaps before, untouched, after;
	char *p;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(mew_smaps_read(fd, &before), 0);
	/* In the midst of a larger one: beside a file it would be taken for a part of that. */
	p = mmap(NULL, 24 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	assert_int_equal(mprotect(p + 4 * MIB, 16 * MIB, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(mew_smaps_read(fd, &untouched), 0);
	memset(p + 4 * MIB, 1, 16 * MIB);
	assert_int_equal(mew_smaps_read(fd, &after), 0);
	assert_in_range(untouched.touched_bytes, 0, before.touched_bytes + 4 * MIB);
	assert_in_range(after.touched_bytes - untouched.touched_bytes, 15 * MIB, 20 * MIB);
	/* It was given before it was touched. */
	assert_in_range(untouched.given_bytes - before.given_bytes, 15 * MIB, 20 * MIB);
	assert_in_range(after.given_bytes, untouched.given_bytes, untouched.given_bytes + 4 * MIB);
	munmap(p, 24 * MIB);
	close(fd);
	assert_int_equal(mew_smaps_read(-1, &after), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smaps_adds_up_what_the_program_has_got_for_itself),
		cmocka_unit_test(smaps_shows_what_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
