/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/window.h"

/* How often a look-up that the writer overtook is tried again. */
#define TRIES 8

uint64_t mew_window_bytes(unsigned n_threads)
{
	return sizeof(struct mew_window) + n_threads * sizeof(struct mew_window_thread);
}

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/*
 * The oldest pause whose slot cannot be written now. Pause i's slot is taken by pause i +
 * MEW_WINDOW_PAUSES, which is written while n_opened still equals that number.
 */
static uint64_t oldest_kept(uint64_t n_opened)
{
	return n_opened < MEW_WINDOW_PAUSES ? 0 : n_opened - MEW_WINDOW_PAUSES + 1;
}

static struct mew_window_pause read_pause(const struct mew_window_thread *t, uint64_t i)
{
	const struct mew_window_pause *p = &t->pauses[i % MEW_WINDOW_PAUSES];
	struct mew_window_pause copy;

	copy.end_ns = load(&p->end_ns);
	copy.begin_ns = load(&p->begin_ns);
	return copy;
}

/*
 * The number of kept pauses, counted from pause `oldest`, that began at or before time_ns: pauses
 * are in order of time. A slot that is written meanwhile holds a later time and so moves the answer
 * down to an index that is no longer kept: comparing the answer with a second reading of n_opened
 * is enough.
 */
static uint64_t count_begun(const struct mew_window_thread *t, uint64_t oldest, uint64_t n_opened,
			    uint64_t time_ns)
{
	uint64_t low = oldest, high = n_opened;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (read_pause(t, middle).begin_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - oldest;
}

static enum mew_window_place place_in_pauses(const struct mew_window_thread *t, uint64_t time_ns)
{
	int try;

	for (try = 0; try < TRIES; try++) {
		uint64_t n_opened = load(&t->n_opened);
		uint64_t oldest = oldest_kept(n_opened);
		uint64_t n_begun = count_begun(t, oldest, n_opened, time_ns);
		struct mew_window_pause last = {0, 0};

		if (n_begun > 0)
			last = read_pause(t, oldest + n_begun - 1);
		if (oldest_kept(load(&t->n_opened)) > oldest + (n_begun > 0 ? n_begun - 1 : 0))
			continue;
		if (n_begun == 0)
			return oldest == 0 ? MEW_WINDOW_INSIDE : MEW_WINDOW_FORGOTTEN;
		return last.end_ns == 0 || time_ns < last.end_ns ? MEW_WINDOW_PAUSED
								 : MEW_WINDOW_INSIDE;
	}
	return MEW_WINDOW_FORGOTTEN;
}

enum mew_window_place mew_window_place(const struct mew_window *w, unsigned slot, uint64_t time_ns)
{
	const struct mew_window_thread *t;
	uint64_t begin_ns, end_ns;

	if (slot >= MEW_WINDOW_THREADS || slot >= w->n_threads)
		return MEW_WINDOW_OUTSIDE;
	t = &w->threads[slot];
	begin_ns = load(&t->begin_ns);
	end_ns = load(&t->end_ns);
	if (begin_ns == 0 || time_ns < begin_ns || (end_ns != 0 && time_ns >= end_ns))
		return MEW_WINDOW_OUTSIDE;
	return place_in_pauses(t, time_ns);
}

uint64_t mew_window_paused(const struct mew_window *w, unsigned slot, uint64_t from_ns,
			   uint64_t to_ns, int *ret_forgotten)
{
	const struct mew_window_thread *t;
	uint64_t n_opened, oldest, i, paused_ns = 0;

	if (slot >= MEW_WINDOW_THREADS || slot >= w->n_threads || to_ns <= from_ns)
		return 0;
	t = &w->threads[slot];
	n_opened = load(&t->n_opened);
	oldest = oldest_kept(n_opened);
	for (i = oldest + count_begun(t, oldest, n_opened, to_ns - 1); i > oldest; i--) {
		struct mew_window_pause p = read_pause(t, i - 1);

		if (oldest_kept(load(&t->n_opened)) > i - 1)
			break;
		if (p.end_ns != 0 && p.end_ns <= from_ns)
			return paused_ns;
		if (p.end_ns == 0 || p.end_ns > to_ns)
			p.end_ns = to_ns;
		if (p.begin_ns < from_ns)
			p.begin_ns = from_ns;
		if (p.begin_ns < p.end_ns)
			paused_ns += p.end_ns - p.begin_ns;
	}
	/* Older pauses may have been there, or the writer went once round the slots meanwhile. */
	if (i > 0 || oldest_kept(load(&t->n_opened)) > 0)
		*ret_forgotten = 1;
	return paused_ns;
}
