/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"

void mew_kallsyms_done(struct mew_kallsyms *k)
{
	free(k->text);
	free(k->entries);
	*k = (struct mew_kallsyms){0};
}

/* "ffffffff81000000 T _stext" and, of a module, "\t[ext4]". False: no function. */
static bool parse_line(char *line, struct mew_kallsyms_entry *ret)
{
	size_t digits = strspn(line, "0123456789abcdefABCDEF"), len;
	char *name = line + digits, *tab;

	if (!digits || digits > 16 || name[0] != ' ' || !name[1] || !strchr("tTwW", name[1]) ||
	    name[2] != ' ')
		return false;
	name += 3;
	len = strcspn(name, "\t ");
	tab = name + len;
	ret->module = "";
	if (*tab) {
		ret->module = tab + strspn(tab, "\t ");
		*tab = '\0';
		if (*ret->module != '[' || !strchr(ret->module, ']'))
			return false;
		*(strchr(ret->module, ']') + 1) = '\0';
	}
	if (len > MEW_KALLSYMS_NAME)
		name[MEW_KALLSYMS_NAME] = '\0';
	ret->lo = strtoull(line, NULL, 16);
	ret->name = name;
	return len > 0;
}

/* The kernel lists first, of those at one address, what is best to show (scripts/kallsyms.c). */
static int compare(const void *a, const void *b)
{
	const struct mew_kallsyms_entry *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool is_generated(const char *module)
{
	static const char builtin[] = "[__builtin__";

	return !strcmp(module, "[bpf]") || !strncmp(module, builtin, sizeof(builtin) - 1);
}

/* The first pc of the next page. */
static uint64_t page_end(uint64_t pc)
{
	uint64_t end = (pc | (MEW_KALLSYMS_PAGE - 1)) + 1;

	return end > pc ? end : UINT64_MAX;
}

/* Keeps one name an address and gives each its end. etext: 0 when there is none. */
static void settle(struct mew_kallsyms *k, uint64_t etext)
{
	size_t n = 0, i;

	if (k->n)
		qsort(k->entries, k->n, sizeof(*k->entries), compare);
	for (i = 0; i < k->n; i++) {
		if (!n || k->entries[i].lo != k->entries[n - 1].lo)
			k->entries[n++] = k->entries[i];
	}
	k->n = n;
	for (i = 0; i < n; i++) {
		struct mew_kallsyms_entry *e = &k->entries[i], *next = i + 1 < n ? e + 1 : NULL;
		bool is_last = !next || strcmp(next->module, e->module) != 0;

		e->hi = next ? next->lo : UINT64_MAX;
		if ((is_last || is_generated(e->module)) && page_end(e->lo) < e->hi)
			e->hi = page_end(e->lo);
		if (*e->module || !etext)
			continue;
		if (e->lo >= etext)
			e->hi = e->lo;
		else if (is_last || e->hi > etext)
			e->hi = next && next->lo < etext ? next->lo : etext;
	}
}

int mew_kallsyms_parse(char *text, size_t n, struct mew_kallsyms *ret)
{
	struct mew_kallsyms k = {.text = text};
	char *line = text, *end = text + n, *next;
	size_t number = 0, n_hidden = 0;
	uint64_t etext = 0;

	for (; line < end; line = next, number++) {
		struct mew_kallsyms_entry e = {.line = number};

		next = memchr(line, '\n', (size_t)(end - line));
		if (!next) /* the rest of its name may be missing */
			break;
		*next++ = '\0';
		if (!parse_line(line, &e))
			continue;
		if (!e.lo) {
			n_hidden++;
			continue;
		}
		if (!*e.module && !strcmp(e.name, "_etext"))
			etext = e.lo;
		if (MEW_ARRAY_PUSH(k.entries, k.n, k.cap)) {
			mew_kallsyms_done(&k);
			return -ENOMEM;
		}
		k.entries[k.n++] = e;
	}
	if (!k.n) {
		mew_kallsyms_done(&k);
		return n_hidden ? -EACCES : -ENOENT;
	}
	settle(&k, etext);
	*ret = k;
	return 0;
}

const struct mew_kallsyms_entry *mew_kallsyms_find(const struct mew_kallsyms *k, uint64_t pc)
{
	size_t lo = 0, hi = k->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->entries[mid].lo <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && k->entries[lo - 1].hi > pc ? &k->entries[lo - 1] : NULL;
}

int mew_kallsyms_read(const char *path, struct mew_kallsyms *ret)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	size_t n;
	char *own;

	if (fd < 0)
		return -errno;
	rc = mew_buffer_read(&text, fd, MEW_BUFFER_PROC_MAX);
	close(fd);
	if (rc) {
		mew_buffer_done(&text);
		return rc;
	}
	own = mew_buffer_detach(&text, &n);
	return own ? mew_kallsyms_parse(own, n, ret) : -ENOMEM;
}
