/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
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
	mew_map_init(&l->threads);
}

void mew_images_done(struct mew_images *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		mew_symbols_free(l->images[i].symbols);
		mew_modules_free(l->images[i].modules);
		mew_memory_done(&l->images[i].space);
	}
	free(l->spans);
	mew_map_done(&l->threads);
	memset(l, 0, sizeof *l);
}

static int add_span(struct mew_images *l, uint32_t pid, uint32_t image, uint64_t time_ns)
{
	if (MEW_ARRAY_PUSH(l->spans, l->n_spans, l->cap_spans))
		return -ENOMEM;
	l->spans[l->n_spans++] = (struct mew_image_span){pid, image, time_ns};
	return 0;
}

/* A new image that pid runs from now on; UINT32_MAX when there are too many, or no room for it
 * beside the first one. 0 or -ENOMEM. */
static int begin_image(struct mew_images *l, uint32_t pid, uint64_t time_ns, uint32_t *ret,
		       struct mew_error *error)
{
	struct mew_image *i = &l->images[l->n]; /* past the end when there is no room */

	*ret = UINT32_MAX;
	if (l->n == MEW_IMAGES_MAX)
		return add_span(l, pid, UINT32_MAX, time_ns);
	i->modules = mew_table_space_open(&i->space, l->n ? NULL : error);
	if (!i->modules && l->n)
		return add_span(l, pid, UINT32_MAX, time_ns);
	if (!i->modules || add_span(l, pid, l->n, time_ns)) {
		mew_modules_free(i->modules);
		mew_memory_done(&i->space);
		return mew_error_set(error, -ENOMEM, "out of memory");
	}
	i->pid = pid;
	*ret = l->n++;
	return 0;
}

int mew_images_exec(struct mew_images *l, uint32_t pid, uint64_t time_ns, struct mew_error *error)
{
	uint32_t image;

	return begin_image(l, pid, time_ns, &image, error);
}

static uint64_t n_threads(const struct mew_images *l, uint32_t pid)
{
	uint64_t n;

	/* One whose fork nobody saw has the thread that began it. */
	return mew_map_get(&l->threads, pid, &n) ? n : 1;
}

int mew_images_fork(struct mew_images *l, uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	uint32_t image;

	if (pid == parent)
		return mew_map_put(&l->threads, pid, n_threads(l, pid) + 1);
	if (mew_map_put(&l->threads, pid, 1))
		return -ENOMEM;
	image = mew_images_find(l, parent, time_ns);
	return image == UINT32_MAX ? 0 : add_span(l, pid, image, time_ns);
}

int mew_images_exit(struct mew_images *l, uint32_t pid)
{
	uint64_t n = n_threads(l, pid);

	return n ? mew_map_put(&l->threads, pid, n - 1) : 0;
}

/* Whether a process that is alive, other than pid, runs image. */
static bool is_shared(const struct mew_images *l, uint32_t image, uint32_t pid)
{
	for (size_t i = 0; i < l->n_spans; i++) {
		const struct mew_image_span *s = &l->spans[i];

		if (s->image == image && s->pid != pid && n_threads(l, s->pid) &&
		    mew_images_find(l, s->pid, UINT64_MAX) == image)
			return true;
	}
	return false;
}

int mew_images_map(struct mew_images *l, uint32_t pid, const struct mew_mapped *mapped)
{
	uint32_t image = mew_images_find(l, pid, mapped->from_ns), old = image;
	int rc = 0;

	if (image != UINT32_MAX && is_shared(l, image, pid)) {
		rc = begin_image(l, pid, mapped->from_ns, &image, NULL);
		if (!rc && image != UINT32_MAX)
			rc = mew_modules_copy(l->images[image].modules, l->images[old].modules,
					      NULL);
	}
	if (image == UINT32_MAX || (rc && rc != -ENOSPC))
		return rc;
	mew_modules_set_process(l->images[image].modules, pid);
	return mew_modules_add(l->images[image].modules, mapped, NULL);
}

uint32_t mew_images_find(const struct mew_images *l, uint32_t pid, uint64_t time_ns)
{
	for (size_t i = l->n_spans; i-- > 0;)
		if (l->spans[i].pid == pid && l->spans[i].from_ns <= time_ns)
			return l->spans[i].image;
	return UINT32_MAX;
}

uint32_t mew_images_group(const struct mew_images *l, uint32_t image, uint64_t time_ns)
{
	return mew_modules_epoch(l->images[image].modules, time_ns) * MEW_IMAGES_MAX + image;
}

struct mew_symbols *mew_images_symbols(void *arg, uint32_t group, uint64_t *ret_time_ns)
{
	struct mew_images *l = arg;
	uint32_t image = group % MEW_IMAGES_MAX;

	if (image >= l->n)
		return NULL;
	*ret_time_ns = mew_modules_epoch_end(l->images[image].modules, group / MEW_IMAGES_MAX);
	if (!l->images[image].symbols)
		l->images[image].symbols = mew_symbols_new(l->images[image].modules, NULL);
	if (l->images[image].symbols)
		mew_symbols_set_process(l->images[image].symbols, (pid_t)l->images[image].pid,
					l->since_unix_ns);
	return l->images[image].symbols;
}
