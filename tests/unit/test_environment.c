/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/environment.h"
#include "channel/message.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *list, const char *want)
{
	char text[256];

	strcpy(text, list);
	mew_preload_remove(text, "libmew-heap.so");
	assert_string_equal(text, want);
}

static void our_entry_alone_leaves_a_preload_list(void **state)
{
	(void)state;
	check("/usr/lib/mew/libmew-heap.so", "");
	check("libmew-heap.so", "");
	check("/a/libx.so:/b/libmew-heap.so", "/a/libx.so");
	check("/b/libmew-heap.so:/a/libx.so", "/a/libx.so");
	check("/a.so /b/libmew-heap.so /c.so", "/a.so /c.so");
	check("/b/libmew-heap.so:/c/libmew-heap.so", "");
}

static void names_that_only_look_like_ours_stay(void **state)
{
	(void)state;
	check("", "");
	check("/a/notlibmew-heap.so", "/a/notlibmew-heap.so");
	check("/libmew-heap.so/x.so", "/libmew-heap.so/x.so");
	check("/a/libmew-heap.so.1", "/a/libmew-heap.so.1");
}

static void the_socket_is_taken_out_of_the_environment(void **state)
{
	char *path;

	(void)state;
	unsetenv(MEW_SOCKET_ENV);
	setenv("LD_PRELOAD", "/x/libmew-heap.so", 1);
	assert_null(mew_environment_take());
	assert_string_equal(getenv("LD_PRELOAD"), "/x/libmew-heap.so");
	setenv(MEW_SOCKET_ENV, "/run/socket", 1);
	path = mew_environment_take();
	assert_string_equal(path, "/run/socket");
	assert_null(getenv(MEW_SOCKET_ENV));
	assert_null(getenv("LD_PRELOAD"));
	free(path);
	setenv(MEW_SOCKET_ENV, "/run/socket", 1);
	setenv("LD_PRELOAD", "/x/libmew-heap.so:/y.so", 1);
	path = mew_environment_take();
	assert_string_equal(getenv("LD_PRELOAD"), "/y.so");
	unsetenv("LD_PRELOAD");
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_entry_alone_leaves_a_preload_list),
		cmocka_unit_test(names_that_only_look_like_ours_stay),
		cmocka_unit_test(the_socket_is_taken_out_of_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
