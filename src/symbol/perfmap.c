/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define LOOK_BACK_MAX 256 /* entries that may lie inside of the one that is looked for */

void mew_perf_map_done(struct mew_perf_map *m)
{
	free(m->text);
	free(m->entries);
	*m = (struct mew_perf_map){0};
}

/* A hexadecimal number, with or without 0x, and the blanks after it. NULL: there is none. */
static char *parse_hex(char *p, uint64_t *ret)
{
	size_t digits;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	digits = strspn(p, "0123456789abcdefABCDEF");
	if (!digits || digits > 16 || (p[digits] != ' ' && p[digits] != '\t'))
		return NULL;
	*ret = strtoull(p, &p, 16);
	return p + strspn(p, " \t");
}

static bool parse_line(char *line, struct mew_perf_map_entry *ret)
{
	uint64_t start, size;
	char *name = parse_hex(line, &start);
	size_t len;

	name = name ? parse_hex(name, &size) : NULL;
	if (!name || !*name || !size || size > UINT64_MAX - start)
		return false;
	len = strlen(name);
	if (len && name[len - 1] == '\r')
		name[--len] = '\0';
	if (len > MEW_PERF_MAP_NAME)
		name[MEW_PERF_MAP_NAME] = '\0';
	ret->lo = start;
	ret->hi = start + size;
	ret->name = name;
	return len > 0;
}

static int compare(const void *a, const void *b)
{
	const struct mew_perf_map_entry *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int mew_perf_map_parse(char *text, size_t n, struct mew_perf_map *ret)
{
	struct mew_perf_map m = {.text = text};
	char *line = text, *end = text + n, *next;
	uint64_t reach = 0;
	size_t i, number = 0;

	for (; line < end; line = next, number++) {
		struct mew_perf_map_entry e = {.line = number};

		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		*next++ = '\0';
		if (!parse_line(line, &e))
			continue;
		if (MEW_ARRAY_PUSH(m.entries, m.n, m.cap)) {
			mew_perf_map_done(&m);
			return -ENOMEM;
		}
		m.entries[m.n++] = e;
	}
	if (m.n)
		qsort(m.entries, m.n, sizeof(*m.entries), compare);
	for (i = 0; i < m.n; i++) {
		if (m.entries[i].hi > reach)
			reach = m.entries[i].hi;
		m.entries[i].reach = reach;
	}
	*ret = m;
	return 0;
}

const char *mew_perf_map_find(const struct mew_perf_map *m, uint64_t pc)
{
	const struct mew_perf_map_entry *best = NULL;
	size_t lo = 0, hi = m->n, n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->entries[mid].lo <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (n = 0; lo && n < LOOK_BACK_MAX && m->entries[lo - 1].reach > pc; n++) {
		const struct mew_perf_map_entry *e = &m->entries[--lo];

		if (e->hi > pc && (!best || e->line > best->line))
			best = e;
	}
	return best ? best->name : NULL;
}

static bool is_trusted(int fd, int64_t since_unix_ns, size_t *ret_bytes)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
	    (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec < since_unix_ns)
		return false;
	*ret_bytes = st.st_size < MEW_PERF_MAP_BYTES ? (size_t)st.st_size : MEW_PERF_MAP_BYTES;
	return true;
}

int mew_perf_map_read(pid_t pid, int64_t since_unix_ns, struct mew_perf_map *ret)
{
	char path[64], *text;
	size_t bytes, n = 0;
	ssize_t got = 1;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return -ENOENT;
	if (!is_trusted(fd, since_unix_ns, &bytes)) {
		close(fd);
		return -ENOENT;
	}
	text = malloc(bytes + 1);
	while (text && n < bytes && got > 0) {
		got = read(fd, text + n, bytes - n);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (!text)
		return -ENOMEM;
	text[n] = '\0';
	return mew_perf_map_parse(text, n, ret);
}
