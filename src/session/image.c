/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "session/cpu.h"
#include "session/image.h"

/* Address space of one image's tables; only what is written is memory. */
#define SPACE_BYTES (256u << 20)

struct mew_modules *mew_table_space_open(struct mew_memory *ret_space, struct mew_error *error)
{
	struct mew_modules *m;

	if (mew_memory_open(ret_space, "mew-tables", SPACE_BYTES, 0, error))
		return NULL;
	/* It is sent to nobody, and there may be many. */
	close(ret_space->fd);
	ret_space->fd = 0;
	m = mew_modules_new(ret_space->at, ret_space->bytes, error);
	if (!m)
		mew_memory_done(ret_space);
	return m;
}

void mew_images_init(struct mew_images *l)
{
	memset(l, 0, sizeof *l);
	mew_map_init(&l->of);
	mew_map_init(&l->threads);
}

/* Its space is left for the next one: to get and to give back memory takes longest of all. */
static void free_image(struct mew_image *i)
{
	mew_modules_free(i->modules);
	*i = (struct mew_image){.space = i->space};
}

void mew_images_done(struct mew_images *l)
{
	for (uint32_t i = 0; i < MEW_IMAGES_MAX; i++) {
		free_image(&l->images[i]);
		mew_memory_done(&l->images[i].space);
	}
	mew_map_done(&l->of);
	mew_map_done(&l->threads);
	memset(l, 0, sizeof *l);
}

static struct mew_image *image_of(const struct mew_images *l, uint32_t pid)
{
	uint64_t index;

	if (!mew_map_get(&l->of, pid, &index) || !index)
		return NULL;
	return (struct mew_image *)(uintptr_t)&l->images[index - 1];
}

/* From now on pid runs `image` (NULL: one that is not known) and not what it ran. 0, -ENOMEM. */
static int run_image(struct mew_images *l, uint32_t pid, struct mew_image *image)
{
	struct mew_image *old = image_of(l, pid);

	if (mew_map_put(&l->of, pid, image ? (uint64_t)(image - l->images) + 1 : 0))
		return -ENOMEM;
	if (image)
		image->n_processes++;
	if (old && --old->n_processes == 0)
		free_image(old);
	return 0;
}

/* NULL: there are too many, or no memory for it. */
static struct mew_image *new_image(struct mew_images *l, uint32_t pid, uint64_t time_ns,
				   struct mew_error *error)
{
	struct mew_image *i = l->images;

	while (i < l->images + MEW_IMAGES_MAX && i->n_processes)
		i++;
	if (i == l->images + MEW_IMAGES_MAX)
		return NULL;
	i->modules = i->space.at ? mew_modules_new(i->space.at, i->space.bytes, error)
				 : mew_table_space_open(&i->space, error);
	if (!i->modules)
		return NULL;
	i->pid = pid;
	i->from_ns = i->changed_ns = time_ns;
	i->version = ++l->n_versions;
	return i;
}

int mew_images_exec(struct mew_images *l, uint32_t pid, uint64_t time_ns, struct mew_error *error)
{
	bool first = !l->n_versions;
	struct mew_image *i = new_image(l, pid, time_ns, first ? error : NULL);

	/* Beside the first one it may be unknown. */
	if (first && !i)
		return -ENOMEM;
	if (!run_image(l, pid, i))
		return 0;
	if (i)
		free_image(i);
	return mew_error_set(error, -ENOMEM, "out of memory");
}

static uint64_t n_threads(const struct mew_images *l, uint32_t pid)
{
	uint64_t n;

	/* One whose fork nobody saw has the thread that began it. */
	return mew_map_get(&l->threads, pid, &n) ? n : 1;
}

int mew_images_fork(struct mew_images *l, uint32_t pid, uint32_t parent)
{
	if (pid == parent)
		return mew_map_put(&l->threads, pid, n_threads(l, pid) + 1);
	if (mew_map_put(&l->threads, pid, 1))
		return -ENOMEM;
	return run_image(l, pid, image_of(l, parent));
}

int mew_images_exit(struct mew_images *l, uint32_t pid)
{
	uint64_t n = n_threads(l, pid);

	if (n && mew_map_put(&l->threads, pid, n - 1))
		return -ENOMEM;
	return n > 1 ? 0 : run_image(l, pid, NULL);
}

/* pid alone is to have what its image has. NULL: no room, it is unknown now. */
static struct mew_image *unshare(struct mew_images *l, uint32_t pid, const struct mew_image *old,
				 int *ret)
{
	struct mew_image *i = new_image(l, pid, old->from_ns, NULL);
	int err = i ? mew_modules_copy(i->modules, old->modules, NULL) : 0;

	if (err && err != -ENOSPC) {
		free_image(i);
		*ret = err;
		return NULL;
	}
	*ret = run_image(l, pid, i);
	if (*ret && i)
		free_image(i);
	return *ret ? NULL : i;
}

int mew_images_map(struct mew_images *l, uint32_t pid, const struct mew_mapped *mapped)
{
	struct mew_image *i = image_of(l, pid);
	int err = 0;

	if (i && i->n_processes > 1)
		i = unshare(l, pid, i, &err);
	if (!i)
		return err;
	i->changed_ns = mapped->from_ns;
	i->version = ++l->n_versions;
	mew_modules_set_process(i->modules, pid);
	return mew_modules_add(i->modules, mapped, NULL);
}

const struct mew_image *mew_images_find(const struct mew_images *l, uint32_t pid, uint64_t time_ns)
{
	const struct mew_image *i = image_of(l, pid);

	return i && i->from_ns <= time_ns ? i : NULL;
}
