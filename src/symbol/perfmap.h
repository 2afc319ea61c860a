/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmap.h: the names that compilers at run time give to their code in a perf map file,
 * /tmp/perf-PID.map: lines of "START SIZE name", in hexadecimal. The file is not trusted: what is
 * no such line is passed over, sizes are bounded.
 */
#ifndef MEW_SYMBOL_PERFMAP_H
#define MEW_SYMBOL_PERFMAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEW_PERF_MAP_BYTES (64u << 20) /* of a file; what comes after is not read */
#define MEW_PERF_MAP_NAME 1024         /* bytes of a name; longer ones are cut */

struct mew_perf_map_entry {
	uint64_t lo, hi, reach; /* pc; reach: the highest hi of all entries up to this one */
	const char *name;       /* in the text */
	size_t line;            /* the later one of two is right */
};

/* Zeroed: no names. */
struct mew_perf_map {
	char *text;                         /* owned */
	struct mew_perf_map_entry *entries; /* owned; sorted by lo, then line */
	size_t n, cap;
};

/*
 * The file of process pid. It must be a regular file of our own user or of root, written since
 * since_unix_ns: ids of processes come again. 0; -ENOENT: there is no such file; -ENOMEM.
 */
int mew_perf_map_read(pid_t pid, int64_t since_unix_ns, struct mew_perf_map *ret);
void mew_perf_map_done(struct mew_perf_map *m);

/* Takes text (malloc'ed, of n bytes and a NUL), also on failure. 0 or -ENOMEM. */
int mew_perf_map_parse(char *text, size_t n, struct mew_perf_map *ret);

/* The name of what is at pc, or NULL. The map's. */
const char *mew_perf_map_find(const struct mew_perf_map *m, uint64_t pc);

#endif
