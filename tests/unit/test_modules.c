/* SPDX-License-Identifier: Apache-2.0 */
/* The text of maps comes from memory; the files that it names are this program and files that are
 * not there. */
#include "config.h"

#include "unit.h"
#include "unwind/modules.h"
#include "unwind/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define SPACE_BYTES (sizeof(struct mew_unwind_table) + (1u << 20))

struct fixture {
	void *space;
	struct mew_modules *modules;
	const struct mew_unwind_table *table;
	char self[4096];
	struct stat st;
};

static int set_up(void **state)
{
	static struct fixture f;
	ssize_t n = readlink("/proc/self/exe", f.self, sizeof(f.self) - 1);

	if (n <= 0 || stat(f.self, &f.st))
		return -1;
	f.self[n] = '\0';
	f.space = calloc(1, SPACE_BYTES);
	f.modules = mew_modules_new(f.space, SPACE_BYTES, NULL);
	if (!f.modules)
		return -1;
	f.table = mew_modules_table(f.modules);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	mew_modules_free(f->modules);
	free(f->space);
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Longer than the clock of the file system takes to tell two moments apart. */
static uint64_t a_while_later(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	return now_ns();
}

static int add(struct mew_modules *m, uint64_t start_pc, uint64_t end_pc, uint64_t file_off,
	       uint64_t from_ns, const char *path, struct mew_error *error)
{
	struct mew_mapped mapped = {start_pc, end_pc, file_off, 0, 0, from_ns, path};

	return mew_modules_add(m, &mapped, error);
}

static int read_text(struct fixture *f, const char *text)
{
	int fd = memfd_create("maps", MFD_CLOEXEC), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	rc = mew_modules_read_maps(f->modules, fd, NULL);
	close(fd);
	return rc;
}

/* A line that maps the program's first MiB of offsets at start. */
static const char *self_line(const struct fixture *f, unsigned long start)
{
	static char line[5000];

	snprintf(line, sizeof(line), "%lx-%lx r-xp 00000000 %x:%x %lu %s\n", start,
		 start + 0x100000, major(f->st.st_dev), minor(f->st.st_dev),
		 (unsigned long)f->st.st_ino, f->self);
	return line;
}

static void only_executable_mappings_are_modules(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_text(f, "1000-2000 r--p 0 08:01 7 /nowhere/a\n"
				      "2000-3000 r-xp 1000 08:01 7 /nowhere/a b\n"
				      "nonsense\n"
				      "3000-4000 rw-p 2000 08:01 7 /nowhere/a b\n"
				      "5000-6000 rwxp 0 00:00 0 \n"
				      "7000-8000 r-xp 0 00:00 0 [vdso]"),
			 0);
	assert_int_equal(mew_modules_count(f->modules), 2);
	assert_string_equal(mew_modules_get(f->modules, 0)->path, "/nowhere/a b");
	assert_int_equal(mew_modules_get(f->modules, 0)->error, ENOENT);
	assert_int_equal(mew_modules_get(f->modules, 0)->fd, -1);
	assert_false(mew_modules_get(f->modules, 0)->has_cfi);
	assert_string_equal(mew_modules_get(f->modules, 1)->path, "[vdso]");
	assert_true(mew_modules_get(f->modules, 1)->n_rules > 0);
	assert_true(mew_modules_get(f->modules, 1)->build_id_bytes > 0);
	assert_null(mew_modules_get(f->modules, 2));
	assert_null(mew_modules_find(f->modules, 0x1fff, 0));
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 0)->module, 0);
	assert_int_equal(mew_modules_find(f->modules, 0x5000, 0)->module, UINT32_MAX);
	/* Code that no file is behind is code: a return address may lie there. */
	assert_int_equal(f->table->n_modules, 3);
	assert_int_equal(f->table->modules[1].start_pc, 0x5000);
	assert_int_equal(f->table->modules[1].n_rules, 0);
}

static void one_file_is_parsed_once_wherever_it_is_mapped(void **state)
{
	struct fixture *f = *state;
	const struct mew_module *module;
	const struct mew_unwind_table_module *first, *second;
	char text[10000] = "";

	strcat(text, self_line(f, 0x100000));
	strcat(text, self_line(f, 0x300000));
	assert_int_equal(read_text(f, text), 0);
	assert_int_equal(mew_modules_count(f->modules), 1);
	module = mew_modules_get(f->modules, 0);
	assert_int_equal(module->error, 0);
	assert_true(module->fd >= 0);
	assert_true(module->has_cfi);
	assert_int_equal(f->table->n_modules, 2);
	first = &f->table->modules[0];
	second = &f->table->modules[1];
	assert_int_equal(first->rules_off, second->rules_off);
	assert_int_equal(second->base - first->base, 0x200000);
	assert_int_equal(first->n_rules, module->n_rules);
	assert_int_equal(f->table->bytes, sizeof(struct mew_unwind_table) + module->table_bytes);
}

static void the_generation_moves_with_changes_only(void **state)
{
	struct fixture *f = *state;
	uint64_t generation = f->table->generation;

	assert_int_equal(read_text(f, self_line(f, 0x100000)), 0);
	assert_true(f->table->generation > generation);
	generation = f->table->generation;
	assert_int_equal(read_text(f, self_line(f, 0x100000)), 0);
	assert_int_equal(f->table->generation, generation);
	assert_int_equal(add(f->modules, 0x100000, 0x200000, 0, now_ns(), f->self, NULL), 0);
	assert_int_equal(f->table->generation, generation);
	/* mprotect(2) splits a mapping: still the same. */
	assert_int_equal(add(f->modules, 0x140000, 0x150000, 0x40000, now_ns(), f->self, NULL), 0);
	assert_int_equal(f->table->generation, generation);
	assert_int_equal(read_text(f, ""), 0);
	assert_true(f->table->generation > generation);
}

static void what_vanished_is_gone_from_the_table_but_still_found(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_text(f, self_line(f, 0x100000)), 0);
	assert_int_equal(f->table->modules[0].end_pc, 0x200000);
	assert_int_equal(read_text(f, "1000-2000 r-xp 0 08:01 7 /nowhere/b\n"), 0);
	assert_int_equal(f->table->modules[0].end_pc, 0);
	assert_int_equal(mew_modules_find(f->modules, 0x100000, 0)->module, 0);
	/* And it may come again: its entry is still there. */
	assert_int_equal(read_text(f, self_line(f, 0x100000)), 0);
	assert_int_equal(f->table->n_modules, 2);
	assert_int_equal(f->table->modules[0].end_pc, 0x200000);
	assert_int_equal(mew_modules_count(f->modules), 2);
}

static void an_entry_comes_back_only_where_nothing_newer_hides_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add(f->modules, 0x1000, 0x3000, 0, 1, "/nowhere/a", NULL), 0);
	assert_int_equal(add(f->modules, 0x1000, 0x5000, 0, 2, "/nowhere/b", NULL), 0);
	assert_int_equal(f->table->modules[0].end_pc, 0);
	assert_int_equal(add(f->modules, 0x1000, 0x3000, 0, 3, "/nowhere/a", NULL), 0);
	assert_int_equal(f->table->n_modules, 3);
	assert_int_equal(f->table->modules[0].end_pc, 0);
	assert_int_equal(f->table->modules[2].end_pc, 0x3000);
}

static void replaced_code_begins_an_epoch(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add(f->modules, 0x1000, 0x3000, 0, 10, "/nowhere/a", NULL), 0);
	assert_int_equal(add(f->modules, 0x5000, 0x6000, 0, 20, "/nowhere/c", NULL), 0);
	assert_int_equal(mew_modules_epoch(f->modules, 1000), 0);
	assert_int_equal(mew_modules_epoch_end(f->modules, 0), 0);
	assert_int_equal(add(f->modules, 0x1000, 0x3000, 0, 100, "/nowhere/b", NULL), 0);
	assert_int_equal(mew_modules_epoch(f->modules, 99), 0);
	assert_int_equal(mew_modules_epoch(f->modules, 100), 1);
	assert_int_equal(mew_modules_epoch_end(f->modules, 0), 99);
	assert_int_equal(mew_modules_epoch_end(f->modules, 1), 0);
	assert_string_equal(
		mew_modules_get(f->modules, mew_modules_find(f->modules, 0x1000, 99)->module)->path,
		"/nowhere/a");
}

static void replacements_beyond_the_last_epoch_are_counted(void **state)
{
	struct fixture *f = *state;
	uint64_t ns;

	/* There is not room for the rules of all. */
	for (ns = 1; ns <= MEW_MODULES_EPOCHS + 1; ns++)
		add(f->modules, 0x1000, 0x3000, 0, ns, ns % 2 ? "/nowhere/a" : "/nowhere/b", NULL);
	assert_int_equal(mew_modules_epoch(f->modules, ns), MEW_MODULES_EPOCHS);
	assert_int_equal(mew_modules_n_mixed(f->modules), 0);
	add(f->modules, 0x1000, 0x3000, 0, ns, "/nowhere/b", NULL);
	assert_int_equal(mew_modules_epoch(f->modules, ns), MEW_MODULES_EPOCHS);
	assert_int_equal(mew_modules_n_mixed(f->modules), 1);
}

static void a_later_mapping_replaces_what_it_overlaps_from_its_time_on(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add(f->modules, 0x1000, 0x3000, 0, 0, "/nowhere/a", NULL), 0);
	assert_int_equal(add(f->modules, 0x2000, 0x4000, 0, 100, "/nowhere/b", NULL), 0);
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 99)->module, 0);
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 100)->module, 1);
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 0)->module, 1);
	assert_int_equal(mew_modules_find(f->modules, 0x1000, 0)->module, 0);
	assert_null(mew_modules_find(f->modules, 0x3000, 99));
	assert_int_equal(f->table->modules[0].end_pc, 0x3000);
	assert_int_equal(add(f->modules, 0x1000, 0x4000, 0, 200, "//anon", NULL), 0);
	assert_int_equal(f->table->modules[0].end_pc, 0);
	assert_int_equal(f->table->modules[1].end_pc, 0);
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 0)->module, UINT32_MAX);
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 150)->module, 1);
	assert_int_equal(add(f->modules, 5, 5, 0, 0, "/nowhere/a", NULL), -EINVAL);
}

static void a_deleted_file_is_not_looked_for_under_its_old_name(void **state)
{
	struct fixture *f = *state;
	char line[5000];

	/* The program's path now names another inode than the one that was mapped. */
	snprintf(line, sizeof(line), "1000-2000 r-xp 0 00:00 %lu %s (deleted)\n",
		 (unsigned long)f->st.st_ino + 1, f->self);
	assert_int_equal(read_text(f, line), 0);
	assert_string_equal(mew_modules_get(f->modules, 0)->path, f->self);
	assert_int_equal(mew_modules_get(f->modules, 0)->error, ENOENT);
	snprintf(line, sizeof(line), "1000-2000 r-xp 0 %x:%x %lu %s\n", major(f->st.st_dev),
		 minor(f->st.st_dev), (unsigned long)f->st.st_ino + 1, f->self);
	assert_int_equal(read_text(f, line), 0);
	assert_int_equal(mew_modules_find(f->modules, 0x1000, 0)->module, 0);
	assert_int_equal(mew_modules_get(f->modules, 0)->fd, -1);
}

static void a_file_that_was_replaced_is_not_taken_for_the_mapped_one(void **state)
{
	struct fixture *f = *state;
	struct mew_mapped mapped = {.start_pc = 0x1000,
				    .end_pc = 0x2000,
				    .dev = f->st.st_dev,
				    .ino = f->st.st_ino + 1,
				    .path = f->self};

	assert_int_equal(mew_modules_add(f->modules, &mapped, NULL), 0);
	assert_int_equal(mew_modules_get(f->modules, 0)->fd, -1);
	assert_int_equal(mew_modules_get(f->modules, 0)->error, ESTALE);
	/* Nor is the same number on another device the same file. */
	mapped.start_pc = 0x2000;
	mapped.end_pc = 0x3000;
	mapped.ino--;
	mapped.dev = makedev(0xffe, 0xfe);
	assert_int_equal(mew_modules_add(f->modules, &mapped, NULL), 0);
	assert_int_equal(mew_modules_find(f->modules, 0x2000, 0)->module, 0);
	mapped.start_pc = 0x3000;
	mapped.end_pc = 0x4000;
	mapped.dev = f->st.st_dev;
	assert_int_equal(mew_modules_add(f->modules, &mapped, NULL), 0);
	assert_int_equal(mew_modules_find(f->modules, 0x3000, 0)->module, 1);
	assert_int_equal(mew_modules_get(f->modules, 1)->error, 0);
}

/* Adds a mapping of the file, and says what became of it. */
static int error_of(struct fixture *f, const char *path, uint64_t start_pc, uint64_t from_ns)
{
	struct stat st;
	struct mew_mapped mapped = {.start_pc = start_pc,
				    .end_pc = start_pc + 0x1000,
				    .from_ns = from_ns,
				    .path = path};

	assert_int_equal(stat(path, &st), 0);
	mapped.dev = st.st_dev;
	mapped.ino = st.st_ino;
	assert_int_equal(mew_modules_add(f->modules, &mapped, NULL), 0);
	return mew_modules_get(f->modules, mew_modules_find(f->modules, start_pc, 0)->module)
		->error;
}

static void a_file_that_was_written_over_is_not_taken_for_the_mapped_one(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/mew-modules.XXXXXX";
	int fd = mkstemp(path);
	uint64_t mapped_ns;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "before", 6), 6);
	mapped_ns = a_while_later();
	/* No module at all, but the file that was mapped. */
	assert_int_equal(error_of(f, path, 0x1000, mapped_ns), ENOEXEC);
	a_while_later();
	assert_int_equal(pwrite(fd, "after!", 6, 0), 6);
	/* As cp -p does. */
	assert_int_equal(futimens(fd, (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}), 0);
	assert_int_equal(error_of(f, path, 0x2000, mapped_ns), ESTALE);
	assert_int_equal(error_of(f, path, 0x3000, a_while_later()), ENOEXEC);
	unlink(path);
	close(fd);
}

static void a_file_of_a_process_is_found_though_it_has_no_name(void **state)
{
	struct fixture *f = *state;
	struct mew_mapped mapped = {.start_pc = 0x1000,
				    .end_pc = 0x2000,
				    .dev = f->st.st_dev,
				    .ino = f->st.st_ino,
				    .path = "/nowhere/program"};

	assert_int_equal(mew_modules_add(f->modules, &mapped, NULL), 0);
	assert_int_equal(mew_modules_get(f->modules, 0)->error, ENOENT);
	mew_modules_set_process(f->modules, (uint32_t)getpid());
	mapped.start_pc = 0x2000;
	mapped.end_pc = 0x3000;
	assert_int_equal(mew_modules_add(f->modules, &mapped, NULL), 0);
	assert_int_equal(mew_modules_get(f->modules, 1)->error, 0);
	assert_true(mew_modules_get(f->modules, 1)->has_cfi);
}

static void a_full_space_is_said_and_leaves_the_module_without_rules(void **state)
{
	struct fixture *f = *state;
	size_t bytes = sizeof(struct mew_unwind_table) + 64;
	void *space = calloc(1, bytes);
	struct mew_modules *small = mew_modules_new(space, bytes, NULL);
	struct mew_error error = {0};
	const struct mew_unwind_table *table;
	uint64_t i;

	assert_non_null(small);
	table = mew_modules_table(small);
	assert_int_equal(add(small, 0x1000, 0x100000, 0, 0, f->self, &error), -ENOSPC);
	assert_true(error.text[0] != '\0');
	assert_int_equal(table->n_modules, 1);
	assert_int_equal(table->modules[0].n_rules, 0);
	for (i = 1; i < MEW_UNWIND_TABLE_MODULES; i++)
		assert_int_equal(add(small, i << 24, (i << 24) + 0x1000, 0, 0, "/nowhere/a", NULL),
				 0);
	assert_int_equal(add(small, 1ull << 40, (1ull << 40) + 1, 0, 0, "/nowhere/a", NULL),
			 -ENOSPC);
	mew_modules_free(small);
	free(space);
	assert_null(mew_modules_new(f->space, sizeof(struct mew_unwind_table) - 1, &error));
	assert_int_equal(error.code, -EINVAL);
	mew_modules_free(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(only_executable_mappings_are_modules),
		TEST(one_file_is_parsed_once_wherever_it_is_mapped),
		TEST(the_generation_moves_with_changes_only),
		TEST(an_entry_comes_back_only_where_nothing_newer_hides_it),
		TEST(replaced_code_begins_an_epoch),
		TEST(replacements_beyond_the_last_epoch_are_counted),
		TEST(what_vanished_is_gone_from_the_table_but_still_found),
		TEST(a_later_mapping_replaces_what_it_overlaps_from_its_time_on),
		TEST(a_deleted_file_is_not_looked_for_under_its_old_name),
		TEST(a_file_that_was_replaced_is_not_taken_for_the_mapped_one),
		TEST(a_file_that_was_written_over_is_not_taken_for_the_mapped_one),
		TEST(a_file_of_a_process_is_found_though_it_has_no_name),
		TEST(a_full_space_is_said_and_leaves_the_module_without_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
