/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/heap_doubt.h"

#include <stdio.h>
#include <string.h>

#include "channel/message.h"
#include "channel/segment.h"
#include "symbol/allocator.h"

/* A whole program whose malloc never came by: figures of zero would be a lie. */
static int hook_is_blind(const struct mew_heap_case *k)
{
	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_heap_counts(k, &k->hooks[i]) &&
		    mew_segment_n_hooked(mew_hook_segment(&k->hooks[i])))
			return 0;
	return 1;
}

/* An image whose own file has a malloc for itself alone, beside that which its libraries call. */
static int malloc_is_hidden(const struct mew_heap_case *k)
{
	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_heap_counts(k, &k->hooks[i]) && k->hooks[i].is_known &&
		    k->hooks[i].executable.hides_malloc)
			return 1;
	return 0;
}

/* What was recorded are calls of libraries alone; that of a stripped file may go elsewhere. */
static int calls_no_malloc(const struct mew_heap_case *k)
{
	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_heap_counts(k, &k->hooks[i]) &&
		    (!k->hooks[i].is_known || k->hooks[i].executable.calls_malloc))
			return 0;
	return 1;
}

/* A function of the program's own file, not an entry point that heads a stack. */
static int is_seen(const struct mew_session *s, const char *name)
{
	for (size_t i = 0; i < s->n_functions; i++)
		if (!strcmp(s->functions[i].name, name) && *s->functions[i].module)
			return 1;
	return 0;
}

/* An operator new of the program's own file that calls no malloc: seen by a trial, or by that no
 * stack goes through it. */
static int new_goes_by(const struct mew_heap_case *k, const struct mew_session *s)
{
	for (size_t i = 0; i < k->n_hooks; i++) {
		uint32_t state = mew_hook_segment(&k->hooks[i])
					 ? mew_hook_segment(&k->hooks[i])->new_goes_by
					 : MEW_NEW_HOOKED;

		if (!mew_heap_counts(k, &k->hooks[i]) || state == MEW_NEW_HOOKED)
			continue;
		if (state == MEW_NEW_GOES_BY || !is_seen(s, "operator new(unsigned long)"))
			return 1;
	}
	return 0;
}

/* An image that became another one, of which no hook has told: it has another environment, is
 * static, is set-uid or cannot read the hook. */
static unsigned n_unseen(const struct mew_heap_case *k)
{
	for (size_t i = k->n_hooks; i-- > 0;)
		if (mew_heap_counts(k, &k->hooks[i]))
			return mew_hook_segment(&k->hooks[i])->leaving != 0;
	return 0;
}

/* An allocator beside malloc in one of the files that were mapped. */
static const char *other_allocator(const struct mew_heap_case *k)
{
	const char *name = NULL;

	for (size_t i = 0; i < k->n_hooks && !name; i++) {
		const struct mew_modules *m = k->hooks[i].modules;

		for (uint32_t id = 0;
		     mew_heap_counts(k, &k->hooks[i]) && !name && id < mew_modules_count(m); id++)
			name = mew_allocator_of(mew_modules_get(m, id));
	}
	return name;
}

/* Memory that came not from malloc, of the image that took most of it, when who has it is not
 * known. Not with options that leave a part of malloc out, or show what is mapped. */
static uint64_t unseen_bytes(const struct mew_heap_case *k)
{
	uint64_t most = 0;

	if (k->o->heap_flags & (MEW_HEAP_SELF | MEW_HEAP_MMAP))
		return 0;
	for (size_t i = 0; i < k->n_hooks; i++) {
		uint64_t n = mew_heap_counts(k, &k->hooks[i]) ? mew_hook_unseen(&k->hooks[i]) : 0;

		most = n > most ? n : most;
	}
	return most && !other_allocator(k) ? most : 0;
}

const char *mew_heap_unhooked(const struct mew_heap_case *k)
{
	if (k->whole && !k->n_hooks)
		return "allocator not hooked: the library was not loaded";
	if (k->whole && hook_is_blind(k))
		return "allocator not hooked: the program never called malloc of the C library (an "
		       "allocator of its own?)";
	if (malloc_is_hidden(k))
		return "allocator not hooked: the program has a malloc of its own, hidden in its "
		       "file";
	return NULL;
}

const char *mew_heap_doubt(const struct mew_heap_case *k, const struct mew_session *s,
			   char text[MEW_HEAP_DOUBT_BYTES])
{
	unsigned n_execs = k->n_beyond ? k->n_beyond : n_unseen(k);
	uint64_t unseen;

	if (n_execs) {
		snprintf(text, MEW_HEAP_DOUBT_BYTES, "%u of the program's execs not recorded",
			 n_execs);
		return text;
	}
	for (size_t i = 0; i < k->n_hooks; i++)
		if (k->hooks[i].warning)
			return k->hooks[i].warning;
	for (size_t i = 0; i < k->n_hooks; i++)
		if (mew_modules_n_mixed(k->hooks[i].modules)) {
			snprintf(text, MEW_HEAP_DOUBT_BYTES,
				 "code was replaced more than %d times: some names are wrong",
				 MEW_MODULES_EPOCHS);
			return text;
		}
	if (new_goes_by(k, s))
		return "the program's own operator new is not recorded";
	unseen = unseen_bytes(k);
	if (unseen)
		snprintf(text, MEW_HEAP_DOUBT_BYTES,
			 "%.1f MB or more came not from malloc (an allocator of its own?)",
			 (double)unseen / 1e6);
	return unseen ? text : NULL;
}

const char *mew_heap_note(const struct mew_heap_case *k, char text[MEW_HEAP_DOUBT_BYTES])
{
	const char *name = other_allocator(k);

	if (name) {
		snprintf(text, MEW_HEAP_DOUBT_BYTES,
			 "of %s only what it takes from malloc is counted", name);
		return text;
	}
	return calls_no_malloc(k) ? "the program's own file calls no malloc of a library" : NULL;
}
