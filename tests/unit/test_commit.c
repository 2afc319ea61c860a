/* SPDX-License-Identifier: Apache-2.0 */
/* It is all about files, so this test has some: in a directory of its own. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/commit.h"
#include "unit.h"

static char directory[64];

static int enter(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/mew_commit.XXXXXX");
	return !mkdtemp(directory) || chdir(directory);
}

static int leave(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return chdir("/") || system(command);
}

static int commit(const char *path, const char *text, struct mew_error *error)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	int err;

	mew_buffer_puts(&b, text);
	err = mew_commit(path, &b, error);
	mew_buffer_done(&b);
	return err;
}

static void assert_content(const char *path, const char *want)
{
	char text[100];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	assert_string_equal(text, want);
}

static unsigned count_files(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	unsigned n = 0;

	while ((e = readdir(d)))
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(d);
	return n;
}

static void a_file_appears_whole_and_alone(void **state)
{
	struct stat st;

	(void)state;
	umask(022);
	assert_int_equal(commit("out.csv", "one\n", NULL), 0);
	assert_content("out.csv", "one\n");
	assert_int_equal(stat("out.csv", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(count_files(), 1);
}

static void an_old_file_is_replaced_and_keeps_its_mode(void **state)
{
	struct stat st;

	(void)state;
	commit("out.csv", "a long old text\n", NULL);
	chmod("out.csv", 0600);
	assert_int_equal(commit("out.csv", "new\n", NULL), 0);
	assert_content("out.csv", "new\n");
	stat("out.csv", &st);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(count_files(), 1);
}

static void a_symbolic_link_stays_one(void **state)
{
	struct stat st;

	(void)state;
	mkdir("real", 0755);
	commit("real/out.csv", "old\n", NULL);
	assert_int_equal(symlink("real/out.csv", "link.csv"), 0);
	assert_int_equal(commit("link.csv", "new\n", NULL), 0);
	assert_int_equal(lstat("link.csv", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content("real/out.csv", "new\n");
}

static void devices_and_directories_are_not_replaced(void **state)
{
	struct mew_error error = {0};
	struct stat st;

	(void)state;
	assert_int_equal(commit("/dev/null", "x", NULL), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	mkdir("d", 0755);
	assert_int_equal(commit("d", "x", &error), -EISDIR);
	assert_string_equal(error.text, "cannot write 'd': Is a directory");
	assert_int_equal(count_files(), 1);
}

static void a_full_disk_is_an_error(void **state)
{
	struct mew_error error = {0};

	(void)state;
	assert_int_equal(commit("/dev/full", "x", &error), -ENOSPC);
	assert_string_equal(error.text, "cannot write '/dev/full': No space left on device");
}

static void a_missing_directory_is_an_error(void **state)
{
	struct mew_error error = {0};

	(void)state;
	assert_int_equal(commit("no/out.csv", "x", &error), -ENOENT);
	assert_string_equal(error.text, "cannot write 'no/out.csv': No such file or directory");
}

static void a_failure_leaves_the_old_file_as_it_was(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	struct mew_error error = {0};

	(void)state;
	commit("out.csv", "old\n", NULL);
	b.error = -ENOMEM;
	assert_int_equal(mew_commit("out.csv", &b, &error), -ENOMEM);
	assert_content("out.csv", "old\n");
	assert_int_equal(count_files(), 1);
	mew_buffer_done(&b);
}

static void a_name_of_full_length_can_be_written(void **state)
{
	char name[256];

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	assert_int_equal(commit(name, "x", NULL), 0);
	assert_content(name, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_appears_whole_and_alone, enter, leave),
		cmocka_unit_test_setup_teardown(an_old_file_is_replaced_and_keeps_its_mode, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_symbolic_link_stays_one, enter, leave),
		cmocka_unit_test_setup_teardown(devices_and_directories_are_not_replaced, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_full_disk_is_an_error, enter, leave),
		cmocka_unit_test_setup_teardown(a_missing_directory_is_an_error, enter, leave),
		cmocka_unit_test_setup_teardown(a_failure_leaves_the_old_file_as_it_was, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_name_of_full_length_can_be_written, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
