/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h: the process images that a whole program goes through, its children's too: which modules
 * a process had at a time. A fork shares its parent's image until one of them maps something; an
 * exec begins a new one.
 */
#ifndef MEW_SESSION_IMAGE_H
#define MEW_SESSION_IMAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "session/memory.h"
#include "symbol/symbol.h"
#include "unwind/modules.h"

/* Images in one run at most; samples of later ones are counted as unknown. */
#define MEW_IMAGES_MAX 256

struct mew_image {
	struct mew_memory space;
	struct mew_modules *modules;
	struct mew_symbols *symbols; /* made on demand */
	uint32_t pid;                /* that began it */
};

/* From from_ns on process pid ran image. */
struct mew_image_span {
	uint32_t pid, image; /* UINT32_MAX: one that found no room */
	uint64_t from_ns;
};

struct mew_images {
	struct mew_image images[MEW_IMAGES_MAX];
	uint32_t n;
	struct mew_image_span *spans; /* in order of arrival */
	size_t n_spans, cap_spans;
	struct mew_map threads; /* pid -> how many it has */
	int64_t since_unix_ns;  /* nothing of them is older */
};

void mew_images_init(struct mew_images *l);

void mew_images_done(struct mew_images *l);

/* pid begins a new image (exec), which is not known when there are too many. 0, -ENOMEM. */
int mew_images_exec(struct mew_images *l, uint32_t pid, uint64_t time_ns, struct mew_error *error);
/* A thread of pid begins; the first one runs what parent, another process, runs. 0, -ENOMEM. */
int mew_images_fork(struct mew_images *l, uint32_t pid, uint32_t parent, uint64_t time_ns);
/* A thread of pid has ended. 0, -ENOMEM. */
int mew_images_exit(struct mew_images *l, uint32_t pid);
/* pid maps code, at mapped->from_ns: not a part of what others run who shared its image up to then.
 * 0, or negative errno (-ENOSPC: as of mew_modules_add). */
int mew_images_map(struct mew_images *l, uint32_t pid, const struct mew_mapped *mapped);
/* Index of the image that pid ran at time_ns; UINT32_MAX: not known. */
uint32_t mew_images_find(const struct mew_images *l, uint32_t pid, uint64_t time_ns);
/* The group of the pcs that were there in image at time_ns: of an image, and in it of an epoch
 * (unwind/modules.h). */
uint32_t mew_images_group(const struct mew_images *l, uint32_t image, uint64_t time_ns);
/* For mew_collect_values: arg is the list. */
struct mew_symbols *mew_images_symbols(void *arg, uint32_t group, uint64_t *ret_time_ns);

#endif
