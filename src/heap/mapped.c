/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/mapped.h"

#include <errno.h>
#include <string.h>

#define FIRST_RANGES 256u

/* The first range that ends behind addr. */
static size_t find(const struct mew_mapped *m, uint64_t addr)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->ranges[middle].hi <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct mew_mapped *m)
{
	struct mew_mapped_range *ranges;

	if (m->n < m->cap)
		return 0;
	ranges = mew_pages_map(m->pages, 2 * m->cap * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	memcpy(ranges, m->ranges, m->n * sizeof(*ranges));
	mew_pages_unmap(m->pages, m->ranges, m->cap * sizeof(*ranges));
	m->ranges = ranges;
	m->cap *= 2;
	return 0;
}

/* Range i comes or goes; there is room. */
static void insert(struct mew_mapped *m, size_t i, uint64_t lo, uint64_t hi)
{
	memmove(&m->ranges[i + 1], &m->ranges[i], (m->n - i) * sizeof(m->ranges[0]));
	m->ranges[i] = (struct mew_mapped_range){lo, hi};
	m->n++;
}

static void erase(struct mew_mapped *m, size_t i)
{
	m->n--;
	memmove(&m->ranges[i], &m->ranges[i + 1], (m->n - i) * sizeof(m->ranges[0]));
}

/* [lo, hi), of which nothing is there yet. */
static int add(struct mew_mapped *m, uint64_t lo, uint64_t hi)
{
	size_t i = find(m, lo);
	int joins_last = i > 0 && m->ranges[i - 1].hi == lo;
	int joins_next = i < m->n && m->ranges[i].lo == hi;

	if (joins_last && joins_next) {
		m->ranges[i - 1].hi = m->ranges[i].hi;
		erase(m, i);
	} else if (joins_last) {
		m->ranges[i - 1].hi = hi;
	} else if (joins_next) {
		m->ranges[i].lo = lo;
	} else {
		if (make_room(m))
			return -ENOMEM;
		insert(m, i, lo, hi);
	}
	return 0;
}

/* Bytes that were taken out. */
static uint64_t take(struct mew_mapped *m, uint64_t lo, uint64_t hi)
{
	uint64_t taken = 0;
	size_t i = find(m, lo);

	while (i < m->n && m->ranges[i].lo < hi) {
		struct mew_mapped_range *r = &m->ranges[i];
		uint64_t end = r->hi, from = r->lo > lo ? r->lo : lo, to = end < hi ? end : hi;

		taken += to - from;
		if (r->lo < from && to < end) {
			/* A hole. Without room the end is forgotten, and told. */
			r->hi = from;
			if (make_room(m)) {
				m->figures->lost++;
				taken += end - to;
			} else {
				insert(m, i + 1, to, end);
			}
			break;
		}
		if (r->lo < from) {
			r->hi = from;
			i++;
		} else if (to < end) {
			r->lo = to;
			break;
		} else {
			erase(m, i);
		}
	}
	return taken;
}

int mew_mapped_init(struct mew_mapped *m, struct mew_segment_mapped *figures,
		    struct mew_pages *pages, uint64_t page_bytes)
{
	*m = (struct mew_mapped){
		.figures = figures, .pages = pages, .page_bytes = page_bytes, .cap = FIRST_RANGES};
	m->ranges = mew_pages_map(pages, FIRST_RANGES * sizeof(*m->ranges));
	return m->ranges ? 0 : -ENOMEM;
}

void mew_mapped_done(struct mew_mapped *m)
{
	if (!m || !m->ranges)
		return;
	mew_pages_unmap(m->pages, m->ranges, m->cap * sizeof(*m->ranges));
	m->ranges = NULL;
}

static uint64_t whole_pages(const struct mew_mapped *m, uint64_t bytes)
{
	return (bytes + m->page_bytes - 1) & ~(m->page_bytes - 1);
}

void mew_mapped_map(struct mew_mapped *m, uint64_t addr, uint64_t bytes, int inside)
{
	struct mew_segment_mapped *f = m->figures;

	bytes = whole_pages(m, bytes);
	mew_mapped_unmap(m, addr, bytes);
	if (!inside)
		return;
	f->calls++;
	f->bytes += bytes;
	if (add(m, addr, addr + bytes)) {
		/* Its end could not be seen, so it never becomes live. */
		f->lost++;
		return;
	}
	f->live_bytes += (int64_t)bytes;
	if (f->live_bytes > f->peak_bytes)
		f->peak_bytes = f->live_bytes;
}

void mew_mapped_unmap(struct mew_mapped *m, uint64_t addr, uint64_t bytes)
{
	m->figures->live_bytes -= (int64_t)take(m, addr, addr + whole_pages(m, bytes));
}

void mew_mapped_close(struct mew_mapped *m)
{
	m->figures->held_bytes = m->figures->live_bytes;
}
