/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "session/breaks.h"
#include "session/engine.h"

/* As in the verdict: fewer are not worth a line. */
#define BROKEN_SHARE 0.001
enum { LINES = 3 };

/* "N stacks broke in 'libfoo.so': ..." */
static const char *const reasons[MEW_WALK_ENDS] = {
	[MEW_WALK_ROOT] = "", /* no break */
	[MEW_WALK_OUTERMOST] = "the thread's first function, not the benchmark's",
	[MEW_WALK_ZERO] = "a return address of 0",
	[MEW_WALK_NO_MODULE] = "code of no file",
	[MEW_WALK_NO_RULE] = "no unwind information",
	[MEW_WALK_EVALUATE] = "its unwind information asks for what is not known",
	[MEW_WALK_BAD] = "its unwind information does not fit the stack",
	[MEW_WALK_ELSEWHERE] = "called from a signal's handler that has a stack of its own",
	[MEW_WALK_DEEP] = "more frames than are walked",
};

static const char *const names[MEW_WALK_ENDS] = {
	[MEW_WALK_ROOT] = "root",           [MEW_WALK_OUTERMOST] = "outermost",
	[MEW_WALK_ZERO] = "zero",           [MEW_WALK_CUT] = "cut",
	[MEW_WALK_NO_MODULE] = "no module", [MEW_WALK_NO_RULE] = "no rule",
	[MEW_WALK_EVALUATE] = "evaluate",   [MEW_WALK_BAD] = "bad",
	[MEW_WALK_ELSEWHERE] = "elsewhere", [MEW_WALK_DEEP] = "deep",
};

int mew_breaks_at(struct mew_breaks *b, const struct mew_modules *m, uint64_t pc, uint64_t time_ns,
		  enum mew_walk_end why, uint64_t n)
{
	const struct mew_mapping *mapping = mew_modules_find(m, pc, time_ns);
	const struct mew_module *module = mapping ? mew_modules_get(m, mapping->module) : NULL;
	/* Where a copy ends says nothing of the code there. */
	const char *path = module && why != MEW_WALK_CUT ? module->path : "";
	size_t i;

	b->n_broken += n;
	for (i = 0; i < b->n_places; i++) {
		if (b->places[i].why == why && !strcmp(b->places[i].module, path))
			break;
	}
	if (i == b->n_places) {
		if (MEW_ARRAY_PUSH(b->places, b->n_places, b->cap_places))
			return -ENOMEM;
		b->places[i] = (struct mew_break){.module = strdup(path), .why = why};
		if (!b->places[i].module)
			return -ENOMEM;
		b->n_places++;
	}
	b->places[i].n += n;
	return 0;
}

int mew_breaks_add(struct mew_breaks *b, const struct mew_modules *m,
		   const struct mew_walk_result *w, int broken)
{
	uint64_t pc = w->broke_at ? w->broke_at : w->pcs[w->n_frames - 1];

	b->n[w->end]++;
	b->n_stacks++;
	b->n_frames += w->n_frames;
	b->n_by_fp += w->n_by_fp;
	b->n_stacks_by_fp += w->n_by_fp != 0;
	if (!broken && w->stack_bytes > b->need_bytes)
		b->need_bytes = w->stack_bytes;
	return broken ? mew_breaks_at(b, m, pc, 0, w->end, 1) : 0;
}

void mew_breaks_unread(struct mew_breaks *b)
{
	b->n_stacks++;
	b->n_broken++;
	b->n_unread++;
}

void mew_breaks_done(struct mew_breaks *b)
{
	for (size_t i = 0; i < b->n_places; i++)
		free(b->places[i].module);
	free(b->places);
	memset(b, 0, sizeof *b);
}

static int by_number(const void *a, const void *b)
{
	const struct mew_break *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->module, y->module);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void say_place(const struct mew_break *p, const struct mew_run_options *o, const char *key)
{
	const char *many = p->n == 1 ? "" : "s";

	if (p->why == MEW_WALK_CUT)
		mew_run_note(o, 'n', "%s: %llu stack%s deeper than what was copied of %s", key,
			     (unsigned long long)p->n, p->n == 1 ? " is" : "s are",
			     p->n == 1 ? "it" : "them");
	else if (*p->module)
		mew_run_note(o, 'n', "%s: %llu stack%s broke in '%s': %s", key,
			     (unsigned long long)p->n, many, base_name(p->module), reasons[p->why]);
	else
		mew_run_note(o, 'n', "%s: %llu stack%s broke in code of no file", key,
			     (unsigned long long)p->n, many);
}

/* "sort: 1200 stacks walked: 1190 root, 10 cut; 24,000 frames, 99.9 % by the cache" */
static void say_all(const struct mew_breaks *b, const struct mew_run_options *o, const char *key,
		    uint64_t n_misses)
{
	const char *comma = "";
	struct mew_buffer line;

	mew_buffer_init(&line);
	mew_buffer_printf(&line, "%s: %llu stacks walked:", key, (unsigned long long)b->n_stacks);
	for (unsigned i = 0; i < MEW_WALK_ENDS; i++) {
		if (!b->n[i])
			continue;
		mew_buffer_printf(&line, "%s %llu %s", comma, (unsigned long long)b->n[i],
				  names[i]);
		comma = ",";
	}
	mew_buffer_printf(&line, "; %llu frames, %llu looked up, %llu by the frame pointer alone",
			  (unsigned long long)b->n_frames, (unsigned long long)n_misses,
			  (unsigned long long)b->n_by_fp);
	if (b->need_bytes)
		mew_buffer_printf(&line, "; the largest took %llu bytes of stack",
				  (unsigned long long)b->need_bytes);
	if (!line.error)
		mew_run_note(o, 'n', "%s", line.data);
	mew_buffer_done(&line);
}

void mew_breaks_say(const struct mew_breaks *b, const struct mew_run_options *o, const char *key,
		    uint64_t n_misses)
{
	size_t n = o->verbose ? b->n_places : LINES, i;

	if (b->n_broken &&
	    (o->verbose || (double)b->n_broken > BROKEN_SHARE * (double)b->n_stacks)) {
		qsort(b->places, b->n_places, sizeof *b->places, by_number);
		for (i = 0; i < n && i < b->n_places; i++)
			say_place(&b->places[i], o, key);
		if (i < b->n_places)
			mew_run_note(o, 'n', "%s: and in %zu other places", key, b->n_places - i);
		if (b->n_unread)
			mew_run_note(o, 'n',
				     "%s: %llu stack%s of the program could not be read in the "
				     "kernel",
				     key, (unsigned long long)b->n_unread,
				     b->n_unread == 1 ? "" : "s");
	}
	if (o->verbose && b->n_frames)
		say_all(b, o, key, n_misses);
}
