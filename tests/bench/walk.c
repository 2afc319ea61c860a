/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk frame: the ns of a frame when a copied stack of 20 frames is walked by the tables, as for
 * each sample. walk table FILE: the ms that it takes to make the unwind table of a file.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind/cpu.h"
#include "unwind/file.h"
#include "unwind/modules.h"
#include "unwind/table.h"
#include "unwind/walk.h"

#define SPACE_BYTES (64u << 20)
#define COPY_BYTES 8192
#define DEPTH 20
#define WALKS 200000

static struct mew_modules *modules;
static struct mew_walk_cache cache;
static volatile unsigned depth_left;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void start_at(const ucontext_t *u, struct mew_walk_start *ret)
{
	*ret = (struct mew_walk_start)
	{
		.known = (uint64_t)1 << MEW_CPU_PC | (uint64_t)1 << MEW_CPU_SP |
			 (uint64_t)1 << MEW_CPU_FP,
#if defined(__x86_64__)
		.pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP],
		.sp = (uint64_t)u->uc_mcontext.gregs[REG_RSP],
		.fp = (uint64_t)u->uc_mcontext.gregs[REG_RBP],
#else
		.pc = u->uc_mcontext.pc, .sp = u->uc_mcontext.sp, .fp = u->uc_mcontext.regs[29],
#endif
	};
}

__attribute__((noinline)) static int measure(void)
{
	static uint8_t copy[COPY_BYTES];
	struct mew_walk_root root = {0, 0};
	struct mew_walk_stack stack;
	struct mew_walk_start start;
	static struct mew_walk_result r;
	volatile double frames = 0;
	double begin_ns;
	ucontext_t here;
	unsigned i;

	if (getcontext(&here))
		return 1;
	start_at(&here, &start);
	memcpy(copy, (const void *)(uintptr_t)start.sp, sizeof(copy));
	stack = (struct mew_walk_stack){.lo = start.sp, .hi = start.sp + COPY_BYTES, .bytes = copy};
	begin_ns = now_ns();
	for (i = 0; i < WALKS; i++) {
		mew_walk(mew_modules_table(modules), SPACE_BYTES, &start, &stack, &root, &cache,
			 &r);
		frames += r.n_frames;
	}
	if (r.n_frames < DEPTH) {
		fprintf(stderr, "only %u frames: end %d\n", r.n_frames, (int)r.end);
		return 1;
	}
	printf("%.3f\n", (now_ns() - begin_ns) / frames);
	return 0;
}

/* Used after the call, so that the frame stays. */
__attribute__((noinline)) static int descend(void)
{
	volatile char room[64];
	int rc;

	room[0] = 1;
	rc = depth_left-- ? descend() : measure();
	return rc + (room[0] != 1);
}

static int measure_table(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct mew_file *f = fd < 0 ? NULL : mew_file_at(fd);

	if (!f || f->error)
		return 1;
	printf("%.3f\n", (double)f->table_ns / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	volatile char room[2 * COPY_BYTES]; /* that the copy does not pass the end of the stack */
	void *space = calloc(1, SPACE_BYTES);
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (argc == 3 && !strcmp(argv[1], "table"))
		return measure_table(argv[2]);
	modules = space ? mew_modules_new(space, SPACE_BYTES, NULL) : NULL;
	if (argc != 2 || !modules || fd < 0 || mew_modules_read_maps(modules, fd, NULL))
		return 2;
	depth_left = DEPTH;
	room[0] = 0;
	return descend() + room[0];
}
