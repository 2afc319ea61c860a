/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting a line of CSV into a list of fields: who asks the heap for so much? */
#include <mew/mew.h>
#include <stdlib.h>
#include <string.h>

struct fields {
	char **at;
	size_t n, room;
};

/* Add a copy of the text up to end; room grows by four. */
static void push(struct fields *f, const char *text, const char *end)
{
	if (f->n == f->room) {
		f->room += 4;
		f->at = realloc(f->at, f->room * sizeof(*f->at));
		if (!f->at)
			abort();
	}
	f->at[f->n] = strndup(text, (size_t)(end - text));
	f->n++;
}

static void split(struct fields *f, const char *line)
{
	for (const char *end; *line; line = end + (*end == ',')) {
		end = line + strcspn(line, ",");
		push(f, line, end);
	}
}

static void clear(struct fields *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i]);
	free(f->at);
}

MEW_BENCHMARK(split_line, state)
{
	static const char line[] = "7,Lisbon,38.7223,-9.1393,Europe/Lisbon,567131,2021,PT,city,11,"
				   "capital,Tejo,100,WET,1147";

	MEW_LOOP(state) {
		struct fields f = {NULL, 0, 0};

		split(&f, line);
		MEW_KEEP(f.n);
		clear(&f);
	}
	mew_bytes_per_iteration(state, (double)strlen(line));
}

MEW_MAIN();
