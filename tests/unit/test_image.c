/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/image.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PLACE 0x100000

static struct mew_images images;

static int set_up(void **state)
{
	(void)state;
	mew_images_init(&images);
	return mew_images_exec(&images, 1, 100, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	mew_images_done(&images);
	return 0;
}

static int map(uint32_t pid, uint64_t start_pc, uint64_t time_ns, const char *path)
{
	struct mew_mapped mapped = {start_pc, start_pc + 0x1000, 0, 0, 0, time_ns, path};

	return mew_images_map(&images, pid, &mapped);
}

/* Path of what pid has at pc, at that time. */
static const char *path_at(uint32_t pid, uint64_t pc, uint64_t time_ns)
{
	const struct mew_image *image = mew_images_find(&images, pid, time_ns);
	const struct mew_mapping *m;

	if (!image)
		return "unknown";
	m = mew_modules_find(image->modules, pc, time_ns);
	return m ? mew_modules_get(image->modules, m->module)->path : "none";
}

static unsigned n_images(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MEW_IMAGES_MAX; i++) {
		n += images.images[i].n_processes != 0;
		assert_int_equal(images.images[i].n_processes != 0,
				 images.images[i].modules != NULL);
	}
	return n;
}

static void what_a_child_maps_is_not_its_parents(void **state)
{
	uint64_t version;

	(void)state;
	assert_int_equal(map(1, 0x1000, 110, "/nowhere/program"), 0);
	assert_int_equal(mew_images_fork(&images, 2, 1), 0);
	assert_ptr_equal(mew_images_find(&images, 2, 125), mew_images_find(&images, 1, 125));
	version = mew_images_find(&images, 1, 125)->version;
	assert_int_equal(map(2, PLACE, 130, "/nowhere/second"), 0);
	assert_int_equal(mew_images_find(&images, 1, 135)->version, version);
	assert_int_not_equal(mew_images_find(&images, 2, 135)->version, version);
	assert_int_equal(map(1, PLACE, 140, "/nowhere/first"), 0);
	assert_int_not_equal(mew_images_find(&images, 1, 145)->version, version);
	assert_int_equal(n_images(), 2);
	assert_string_equal(path_at(1, PLACE, 135), "none");
	assert_string_equal(path_at(1, PLACE, 145), "/nowhere/first");
	assert_string_equal(path_at(2, PLACE, 145), "/nowhere/second");
	assert_string_equal(path_at(2, 0x1000, 145), "/nowhere/program");
}

static void what_a_parent_maps_is_not_its_childs(void **state)
{
	(void)state;
	assert_int_equal(map(1, 0x1000, 110, "/nowhere/program"), 0);
	assert_int_equal(mew_images_fork(&images, 2, 1), 0);
	assert_int_equal(map(1, PLACE, 130, "/nowhere/first"), 0);
	assert_string_equal(path_at(1, PLACE, 135), "/nowhere/first");
	assert_string_equal(path_at(1, 0x1000, 135), "/nowhere/program");
	assert_string_equal(path_at(2, PLACE, 135), "none");
	assert_string_equal(path_at(2, 0x1000, 135), "/nowhere/program");
}

static void an_image_that_nobody_else_runs_any_more_is_kept(void **state)
{
	(void)state;
	/* With a second thread, which ends last. */
	assert_int_equal(mew_images_fork(&images, 2, 1), 0);
	assert_int_equal(mew_images_fork(&images, 2, 2), 0);
	assert_int_equal(mew_images_exit(&images, 2), 0);
	assert_int_equal(mew_images_exit(&images, 2), 0);
	assert_string_equal(path_at(2, PLACE, 125), "unknown");
	assert_int_equal(mew_images_fork(&images, 3, 1), 0);
	assert_int_equal(mew_images_exec(&images, 3, 140, NULL), 0);
	assert_int_equal(n_images(), 2);
	assert_int_equal(map(1, PLACE, 150, "/nowhere/first"), 0);
	assert_int_equal(n_images(), 2);
	assert_string_equal(path_at(3, PLACE, 160), "none");
	/* A thread that is left runs it still. */
	assert_int_equal(mew_images_fork(&images, 4, 1), 0);
	assert_int_equal(mew_images_fork(&images, 4, 4), 0);
	assert_int_equal(mew_images_exit(&images, 4), 0);
	assert_int_equal(map(1, PLACE, 180, "/nowhere/second"), 0);
	assert_int_equal(n_images(), 3);
	assert_string_equal(path_at(4, PLACE, 190), "/nowhere/first");
}

static void an_image_that_nobody_runs_is_freed(void **state)
{
	(void)state;
	for (uint32_t pid = 2; pid < 2 + 2 * MEW_IMAGES_MAX; pid++) {
		assert_int_equal(mew_images_fork(&images, pid, 1), 0);
		assert_int_equal(pid % 2 ? map(pid, PLACE, 120, "/nowhere/second")
					 : mew_images_exec(&images, pid, 120, NULL),
				 0);
		assert_string_equal(path_at(pid, PLACE, 130), pid % 2 ? "/nowhere/second" : "none");
		assert_int_equal(n_images(), 2);
		assert_int_equal(mew_images_exit(&images, pid), 0);
		assert_int_equal(n_images(), 1);
	}
	/* Exec after exec; one that ended unseen, and whose pid came again. */
	for (uint64_t time_ns = 200; time_ns < 210; time_ns++)
		assert_int_equal(mew_images_exec(&images, 1, time_ns, NULL), 0);
	assert_int_equal(n_images(), 1);
	assert_int_equal(mew_images_exec(&images, 2, 220, NULL), 0);
	assert_int_equal(mew_images_fork(&images, 2, 1), 0);
	assert_int_equal(n_images(), 1);
	assert_int_equal(mew_images_exit(&images, 1), 0);
	assert_int_equal(n_images(), 1);
	assert_int_equal(mew_images_exit(&images, 2), 0);
	assert_int_equal(n_images(), 0);
}

static void what_was_before_the_image_is_unknown(void **state)
{
	(void)state;
	assert_string_equal(path_at(1, PLACE, 99), "unknown");
	assert_int_equal(mew_images_exec(&images, 1, 150, NULL), 0);
	assert_string_equal(path_at(1, PLACE, 149), "unknown");
	assert_string_equal(path_at(1, PLACE, 150), "none");
	assert_string_equal(path_at(9, PLACE, 150), "unknown");
	/* What a child took over was there before. */
	assert_int_equal(mew_images_fork(&images, 2, 1), 0);
	assert_int_equal(map(2, PLACE, 170, "/nowhere/second"), 0);
	assert_string_equal(path_at(2, PLACE, 160), "none");
}

static void an_image_that_finds_no_room_is_unknown(void **state)
{
	uint32_t i;

	(void)state;
	assert_int_equal(mew_images_fork(&images, 2, 1), 0);
	for (i = 1; i < MEW_IMAGES_MAX; i++)
		assert_int_equal(mew_images_exec(&images, 2 + i, 130, NULL), 0);
	assert_int_equal(map(2, PLACE, 150, "/nowhere/second"), 0);
	assert_string_equal(path_at(2, PLACE, 160), "unknown");
	assert_string_equal(path_at(1, PLACE, 160), "none");
	assert_int_equal(mew_images_exec(&images, 3, 170, NULL), 0);
	assert_string_equal(path_at(3, PLACE, 180), "unknown");
	/* There is room again. */
	assert_int_equal(mew_images_exec(&images, 2, 190, NULL), 0);
	assert_string_equal(path_at(2, PLACE, 190), "none");
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static void images_share_their_descriptors(void **state)
{
	struct timespec t;
	const struct mew_module *module;
	uint64_t now_ns;
	int first;

	(void)state;
	/* A file that was written to after it was mapped would not be opened. */
	clock_gettime(CLOCK_MONOTONIC, &t);
	now_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	assert_int_equal(map(1, 0x1000, now_ns, "/proc/self/exe"), 0);
	first = next_fd();
	for (uint32_t pid = 2; pid < 30; pid++) {
		assert_int_equal(mew_images_fork(&images, pid, 1), 0);
		assert_int_equal(map(pid, PLACE, now_ns, "/proc/self/exe"), 0);
		assert_int_equal(mew_images_exec(&images, 100 + pid, now_ns, NULL), 0);
		assert_int_equal(map(100 + pid, PLACE, now_ns, "/proc/self/exe"), 0);
	}
	assert_int_equal(n_images(), 57);
	assert_int_equal(next_fd(), first);
	module = mew_modules_get(mew_images_find(&images, 129, now_ns)->modules, 0);
	assert_true(module->fd >= 0 && fcntl(module->fd, F_GETFD) >= 0);
}

static void an_image_without_a_descriptor_is_unknown(void **state)
{
	struct rlimit was, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = (rlim_t)next_fd();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(mew_images_exec(&images, 2, 120, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(n_images(), 1);
	assert_string_equal(path_at(2, PLACE, 130), "unknown");
	assert_string_equal(path_at(1, PLACE, 130), "none");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_a_child_maps_is_not_its_parents),
		TEST(what_a_parent_maps_is_not_its_childs),
		TEST(an_image_that_nobody_else_runs_any_more_is_kept),
		TEST(an_image_that_nobody_runs_is_freed),
		TEST(what_was_before_the_image_is_unknown),
		TEST(an_image_that_finds_no_room_is_unknown),
		TEST(images_share_their_descriptors),
		TEST(an_image_without_a_descriptor_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
