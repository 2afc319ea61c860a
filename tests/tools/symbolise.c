/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolise FILE [VADDR...]: the frames of addresses of an ELF file (read from standard input when
 * none is given), as mew-perf names them, innermost first, a line each:
 *	vaddr <TAB> linkage or - <TAB> name <TAB> file or - <TAB> declared at <TAB> line <TAB>
 *source Then, for each module that lacks something: poor <TAB> path <TAB> look-ups <TAB> what; and
 * time <TAB> ms. symbolise --described FILE [VADDR...]: the same, described as tables do;
 * symbolise --split-clones FILE [VADDR...]: with the pieces of functions apart.
 */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "symbol/symbol.h"
#include "unwind/file.h"
#include "unwind/table.h"

#define SPACE_BYTES (sizeof(struct mew_unwind_table) + (64u << 20))
#define MAPPED_AT 0x10000000000

static const char *const sources[] = {"none", "elf", "dwarf"};
static const char *const lacks[] = {
	[MEW_LACK_NONE] = "nothing",          [MEW_LACK_DEBUG] = "debug",
	[MEW_LACK_SPLIT] = "split",           [MEW_LACK_PART] = "part",
	[MEW_LACK_REPLACED] = "replaced",     [MEW_LACK_FILE] = "file",
	[MEW_LACK_UNREADABLE] = "unreadable",
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A function is one object with one id, and no other has the same fields. */
static void check_interned(const struct mew_function *f)
{
	static const struct mew_function *known[4096];
	uint32_t i;

	if (f->id >= 4096 || known[f->id] == f)
		return;
	if (known[f->id])
		exit(98);
	known[f->id] = f;
	for (i = 0; i < 4096; i++) {
		const struct mew_function *k = known[i];

		if (k && k != f && k->line == f->line && !strcmp(k->name, f->name) &&
		    !strcmp(k->file ? k->file : "", f->file ? f->file : "") &&
		    !strcmp(k->linkage ? k->linkage : "", f->linkage ? f->linkage : ""))
			exit(98);
	}
}

static void show(struct mew_symbols *s, uint64_t vaddr, bool described)
{
	const struct mew_symbol_frame *frames;
	unsigned n = 0, i;

	frames = mew_symbols_at(s, vaddr + MAPPED_AT, 0, 0, &n);
	if (!frames)
		exit(99);
	for (i = 0; i < n; i++) {
		const struct mew_function *f = frames[i].function;
		struct mew_buffer text = MEW_BUFFER_INIT;

		check_interned(f);
		mew_function_describe(f, &text);
		if (frames[i].inlined != (i + 1 < n))
			exit(99);
		if (described)
			puts(text.data);
		else
			printf("%#llx\t%s\t%s\t%s\t%u\t%u\t%s\n", (unsigned long long)vaddr,
			       f->linkage ? f->linkage : "-", f->name, f->file ? f->file : "-",
			       f->line, frames[i].line, sources[f->source]);
		mew_buffer_done(&text);
	}
}

static void show_poor(void *arg, const char *path, enum mew_symbol_lack lack, uint64_t n_lookups)
{
	(void)arg;
	printf("poor\t%s\t%llu\t%s\n", path, (unsigned long long)n_lookups, lacks[lack]);
}

/* Maps the executable segments of the file, all with the same bias. */
static bool map_file(struct mew_modules *modules, const char *path, struct mew_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct mew_file *f = fd >= 0 ? mew_file_at(fd) : NULL;
	unsigned i;

	for (i = 0; f && i < f->n_loads; i++) {
		const struct mew_file_load *l = &f->loads[i];
		uint64_t in_page = l->vaddr % 4096, start = MAPPED_AT + l->vaddr - in_page;
		struct mew_mapped mapped = {.start_pc = start,
					    .end_pc = start + in_page + l->bytes,
					    .file_off = l->file_off - in_page,
					    .path = path};

		if (mew_modules_add(modules, &mapped, error))
			return false;
	}
	if (fd >= 0)
		close(fd);
	return f && f->n_loads;
}

int main(int argc, char **argv)
{
	bool described = argc > 1 && !strcmp(argv[1], "--described");
	const char *after = argc > 2 && !strcmp(argv[1], "--after") ? argv[2] : NULL;
	bool split = argc > 1 && !strcmp(argv[1], "--split-clones");
	int skip = described || split ? 1 : after ? 2 : 0;
	struct mew_error error = {0};
	struct mew_modules *modules;
	struct mew_symbols *symbols;
	char **args = argv + 1 + skip, line[64], *path;
	void *space = calloc(1, SPACE_BYTES);
	double start;

	if (argc < 2 + skip || !space)
		return 2;
	path = realpath(*args, NULL);
	modules = mew_modules_new(space, SPACE_BYTES, &error);
	if (!modules || !path || !map_file(modules, path, &error)) {
		fprintf(stderr, "%s: %s\n", *args, error.text);
		return 99;
	}
	if (after && system(after))
		return 99;
	mew_symbols_split_clones(split);
	start = now_ms();
	symbols = mew_symbols_new(modules, &error);
	if (!symbols)
		return 99;
	if (args[1]) {
		for (args++; *args; args++)
			show(symbols, strtoull(*args, NULL, 16), described);
	} else {
		while (fgets(line, sizeof(line), stdin))
			show(symbols, strtoull(line, NULL, 16), described);
	}
	if (!described) {
		mew_symbols_lacks(show_poor, NULL);
		printf("time\t%.1f\n", now_ms() - start);
	}
	mew_symbols_free(symbols);
	mew_symbols_forget();
	mew_modules_free(modules);
	free(space);
	free(path);
	return 0;
}
