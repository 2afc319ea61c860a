/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/spec.h"

#define NAME_MAX_BYTES 64

struct nearest {
	const char *name;
	size_t len; /* without modifiers */
	unsigned best;
	char found[NAME_MAX_BYTES];
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to insert, delete, replace, or swap with the next one, to make b of a. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][NAME_MAX_BYTES + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t k = 0; k <= m; k++)
		above[k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++) {
		unsigned *next = before;

		row[0] = (unsigned)i;
		for (size_t k = 1; k <= m; k++) {
			row[k] = least(above[k], row[k - 1]) + 1;
			row[k] = least(row[k], above[k - 1] + !same(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
		before = above;
		above = row;
		row = next;
	}
	return above[m];
}

static void look(void *arg, const char *name)
{
	struct nearest *l = arg;
	size_t len = strlen(name);
	unsigned d;

	if (len >= sizeof(l->found))
		return;
	d = distance(l->name, l->len, name, len);
	if (d >= l->best)
		return;
	l->best = d;
	memcpy(l->found, name, len + 1);
}

int mew_event_nearest(const char *name, char *ret, size_t n)
{
	const char *modifiers = strchrnul(name, ':');
	struct nearest l = {.name = name, .len = (size_t)(modifiers - name)};
	struct mew_spec scratch;
	int len;

	if (l.len >= NAME_MAX_BYTES ||
	    (*modifiers && mew_spec_modify(modifiers + 1, &scratch, NULL)))
		return -ENOENT;
	l.best = (unsigned)l.len / 3 + 1;
	mew_spec_each(look, &l);
	if (!l.found[0])
		return -ENOENT;
	len = snprintf(ret, n, "%s%s", l.found, modifiers);
	return len > 0 && (size_t)len < n ? 0 : -ENOENT;
}
