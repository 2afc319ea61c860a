/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "unwind/maps.h"

#define DELETED " (deleted)"

/* What maps shows of our own mapping at `at`: its device and inode. */
static bool shown_at(const void *at, uint64_t *ret_dev, uint64_t *ret_ino)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (maps && !found && (n = getline(&line, &cap, maps)) > 0) {
		struct mew_maps_line l;

		line[n - 1] = '\0';
		found = !mew_maps_parse(line, &l) && l.start_pc == (uintptr_t)at;
		if (found) {
			*ret_dev = l.dev;
			*ret_ino = l.ino;
		}
	}
	if (maps)
		fclose(maps);
	free(line);
	return found;
}

/*
 * Stacked file systems show another device, and some another inode, in maps and in records than in
 * stat(2): there the file is mapped to see what is shown of it.
 */
static bool is_shown_as(int fd, uint64_t dev, uint64_t ino)
{
	void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	uint64_t own_dev = 0, own_ino = 0;
	bool is;

	if (at == MAP_FAILED)
		return false;
	is = shown_at(at, &own_dev, &own_ino) && own_dev == dev && own_ino == ino;
	munmap(at, 1);
	return is;
}

static int64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Whether what was mapped at from_ns (0: not known when) has been written to since: what it was is
 * nowhere any more. Whoever writes can set the time of the last write but not that of the last
 * change, which on the other hand the removal of a name is too. A time to come is of another clock.
 */
static bool is_written_since(const struct stat *st, uint64_t from_ns)
{
	const struct timespec *t = st->st_nlink ? &st->st_ctim : &st->st_mtim;
	int64_t changed_ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
	int64_t now_ns = ns_of(CLOCK_REALTIME);
	int64_t mapped_ns = now_ns - ns_of(CLOCK_MONOTONIC) + (int64_t)from_ns;

	return from_ns && changed_ns > mapped_ns && changed_ns <= now_ns;
}

/* An open regular file that is the one w maps (ino 0: any), or -errno. */
static int open_as(const char *path, const struct mew_mapped *w)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (!w->ino || (st.st_ino == w->ino && st.st_dev == w->dev) ||
	     is_shown_as(fd, w->dev, w->ino)) &&
	    !is_written_since(&st, w->from_ns))
		return fd;
	close(fd);
	return -ESTALE;
}

static bool is_deleted(const char *path)
{
	size_t n = strlen(path), suffix = sizeof(DELETED) - 1;

	return n > suffix && !strcmp(path + n - suffix, DELETED);
}

size_t mew_locate_path_bytes(const char *path)
{
	return strlen(path) - (is_deleted(path) ? sizeof(DELETED) - 1 : 0);
}

int mew_locate_open(const char *proc, const struct mew_mapped *w)
{
	struct mew_buffer path = MEW_BUFFER_INIT;
	int fd = -ENOENT, rc = -ENOENT;

	/* A file may really be called so; then the inode must agree. */
	if (!is_deleted(w->path))
		fd = rc = open_as(w->path, w);
	else if (w->ino)
		fd = open_as(w->path, w);
	if (fd < 0 && proc[0] && !is_deleted(w->path)) {
		mew_buffer_printf(&path, "%s/root%s", proc, w->path);
		fd = open_as(path.data, w);
	}
	if (fd < 0 && proc[0]) {
		mew_buffer_reset(&path);
		mew_buffer_printf(&path, "%s/map_files/%llx-%llx", proc,
				  (unsigned long long)w->start_pc, (unsigned long long)w->end_pc);
		fd = open_as(path.data, w);
	}
	if (fd < 0 && proc[0] && w->ino) {
		mew_buffer_reset(&path);
		mew_buffer_printf(&path, "%s/exe", proc);
		fd = open_as(path.data, w);
	}
	mew_buffer_done(&path);
	return fd < 0 ? rc : fd;
}
