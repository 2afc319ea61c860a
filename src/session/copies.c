/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/resize.h"
#include "profile/stackcopy.h"
#include "session/copies.h"
#include "session/sample.h"

/* Until so many stacks of a size were seen, and always with the smallest, it is looked often
 * whether they are cut: what comes in between is of no use. So many, one after the other, lead to
 * the smallest. */
#define TRIAL_STACKS 1000
#define TRIAL_MS 10
#define WAIT_MS 100

void mew_copies_init(struct mew_copies *c, uint32_t bytes)
{
	*c = (struct mew_copies){.bytes = bytes};
}

void mew_copies_note(struct mew_copies *c, const struct mew_record *r,
		     const struct mew_walk_result *walk, int whole)
{
	if (mew_sample_is_unread(r))
		return;
	c->n_cut_all += walk->end == MEW_WALK_CUT;
	c->n_deeper += walk->end == MEW_WALK_CUT && r->stack_bytes == r->stack_asked;
	if (r->stack_asked <= c->below || r->stack_asked > c->bytes)
		return;
	c->n++;
	c->n_cut += walk->end == MEW_WALK_CUT && r->stack_bytes == r->stack_asked;
	c->n_tried++;
	c->n_ended += r->stack_bytes < r->stack_asked;
	if (!whole)
		c->need_bytes = UINT64_MAX;
	else if (walk->stack_bytes > c->need_bytes)
		c->need_bytes = walk->stack_bytes;
}

static int is_small(const struct mew_copies *c)
{
	return c->bytes == MEW_RESIZE_SMALL;
}

static void try_anew(struct mew_copies *c)
{
	c->n_tried = c->n_ended = c->need_bytes = 0;
}

static void begin(struct mew_copies *c, const struct mew_whole *w, uint32_t bytes)
{
	c->bytes = bytes;
	c->below = w->size ? w->sizes[w->size - 1] : 0;
	c->n = c->n_cut = 0;
	try_anew(c);
}

static void grow(struct mew_copies *c, struct mew_whole *w)
{
	uint32_t bytes = mew_resize_up(w);

	if (!bytes)
		return;
	c->before = c->bytes;
	begin(c, w, bytes);
}

/* Once a stack was cut, never. */
static void shrink(struct mew_copies *c, struct mew_whole *w)
{
	uint32_t bytes = 0;

	if (w->size == MEW_WHOLE_FIRST && !c->before && !c->n_cut_all &&
	    mew_stackcopy_shrinks(c->n_tried, c->n_ended, c->need_bytes, MEW_RESIZE_SMALL))
		bytes = mew_resize_down(w);
	if (bytes)
		begin(c, w, bytes);
	try_anew(c);
}

void mew_copies_fit(struct mew_copies *c, struct mew_whole *w)
{
	if (is_small(c) ? c->n_cut > 0 : mew_stackcopy_cuts(c->n, c->n_cut))
		grow(c, w);
	else if (c->n_tried >= TRIAL_STACKS)
		shrink(c, w);
}

int mew_copies_wait_ms(const struct mew_copies *c, const struct mew_whole *w)
{
	unsigned larger = w->size + 1;

	if (larger >= MEW_WHOLE_SIZES || !w->sizes[larger])
		return WAIT_MS;
	return is_small(c) || c->n < TRIAL_STACKS ? TRIAL_MS : WAIT_MS;
}

uint32_t mew_copies_too_small(const struct mew_copies *c)
{
	if (!c->n_deeper)
		return 0;
	return c->before && !mew_stackcopy_cuts(c->n, c->n_cut) ? c->before : c->bytes;
}
