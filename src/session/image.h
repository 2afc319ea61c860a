/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h: the process images that a whole program goes through, its children's too: which modules
 * a process has now. A fork shares its parent's image until one of them maps something; an exec
 * begins a new one; one that no process runs any more is freed. Events come in the order of time.
 */
#ifndef MEW_SESSION_IMAGE_H
#define MEW_SESSION_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "session/memory.h"
#include "unwind/modules.h"

/* Images at one time at most, each with its unwind tables; processes with other ones are unknown.
 */
#define MEW_IMAGES_MAX 512

struct mew_image {
	struct mew_memory space;
	struct mew_modules *modules;
	uint32_t pid;                 /* that began it */
	uint32_t n_processes;         /* that run it; 0: this one is free */
	uint64_t from_ns, changed_ns; /* when it began, and when it mapped something last */
	uint64_t version;             /* a new one with each change, never 0 */
};

struct mew_images {
	struct mew_image images[MEW_IMAGES_MAX];
	uint64_t n_versions;
	struct mew_map of;      /* pid -> index of its image + 1; 0: unknown or gone */
	struct mew_map threads; /* pid -> how many it has */
};

void mew_images_init(struct mew_images *l);

void mew_images_done(struct mew_images *l);

/* pid begins a new image (exec), which is not known when there are too many. 0, -ENOMEM. */
int mew_images_exec(struct mew_images *l, uint32_t pid, uint64_t time_ns, struct mew_error *error);
/* A thread of pid begins; the first one runs what parent, another process, runs. 0, -ENOMEM. */
int mew_images_fork(struct mew_images *l, uint32_t pid, uint32_t parent);
/* A thread of pid has ended. 0, -ENOMEM. */
int mew_images_exit(struct mew_images *l, uint32_t pid);
/* pid maps code, at mapped->from_ns: not a part of what others run who shared its image up to then.
 * 0, or negative errno (-ENOSPC: as of mew_modules_add). */
int mew_images_map(struct mew_images *l, uint32_t pid, const struct mew_mapped *mapped);
/* The image that pid runs, and ran at time_ns, until the next event; NULL: not known. */
const struct mew_image *mew_images_find(const struct mew_images *l, uint32_t pid, uint64_t time_ns);

#endif
