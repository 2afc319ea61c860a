/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Chunks double up to the maximum; what does not fit gets a chunk of its own. */
enum { CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20 };

struct chunk {
	struct chunk *next;
	size_t used, size; /* bytes of data[] */
	_Alignas(max_align_t) unsigned char data[];
};

struct mew_arena {
	struct chunk *chunks; /* the newest, which has room, first */
	size_t next_size;
};

struct mew_string_slot {
	const char *text; /* NULL = free */
	size_t len;
	uint64_t hash;
};

struct mew_arena *mew_arena_new(void)
{
	struct mew_arena *a = calloc(1, sizeof(*a));

	if (a)
		a->next_size = CHUNK_MIN;
	return a;
}

void mew_arena_free(struct mew_arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

/* Where in c an object of that alignment may begin; may lie past the end. */
static size_t aligned_start(const struct chunk *c, size_t align)
{
	uintptr_t at = (uintptr_t)c->data + c->used;

	return c->used + ((align - (at & (align - 1))) & (align - 1));
}

static struct chunk *chunk_add(struct mew_arena *a, size_t min)
{
	size_t size = a->next_size, bytes;
	struct chunk *c;

	if (size < min)
		size = min;
	else if (a->next_size < CHUNK_MAX)
		a->next_size *= 2;
	if (__builtin_add_overflow(size, sizeof(*c), &bytes))
		return NULL;
	c = calloc(1, bytes);
	if (!c)
		return NULL;
	c->size = size;
	/* A chunk made for one large object is full at once: the one with room stays first. */
	if (a->chunks && size == min) {
		c->next = a->chunks->next;
		a->chunks->next = c;
	} else {
		c->next = a->chunks;
		a->chunks = c;
	}
	return c;
}

void *mew_arena_alloc(struct mew_arena *a, size_t size, size_t align)
{
	struct chunk *c = a->chunks;
	size_t start, end, min;

	if (c) {
		start = aligned_start(c, align);
		if (!__builtin_add_overflow(start, size, &end) && end <= c->size) {
			c->used = end;
			return c->data + start;
		}
	}
	if (__builtin_add_overflow(size, align, &min))
		return NULL;
	c = chunk_add(a, min);
	if (!c)
		return NULL;
	start = aligned_start(c, align);
	c->used = start + size;
	return c->data + start;
}

void *mew_arena_array(struct mew_arena *a, size_t n, size_t elem, size_t align)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, elem, &bytes))
		return NULL;
	return mew_arena_alloc(a, bytes, align);
}

char *mew_arena_strndup(struct mew_arena *a, const char *s, size_t len)
{
	size_t size;
	char *copy;

	if (__builtin_add_overflow(len, 1, &size))
		return NULL;
	copy = mew_arena_alloc(a, size, 1);
	if (copy && len)
		memcpy(copy, s, len);
	return copy;
}

char *mew_arena_strdup(struct mew_arena *a, const char *s)
{
	return mew_arena_strndup(a, s, strlen(s));
}

void mew_strings_init(struct mew_strings *s, struct mew_arena *arena)
{
	*s = (struct mew_strings){.arena = arena};
}

void mew_strings_done(struct mew_strings *s)
{
	if (!s)
		return;
	free(s->slots);
	mew_strings_init(s, s->arena);
}

/* The slot that holds the text, or the free one where it belongs. There is always a free one. */
static struct mew_string_slot *find_slot(const struct mew_strings *s, const char *text, size_t len,
					 uint64_t hash)
{
	size_t i = hash & (s->cap - 1);

	for (;; i = (i + 1) & (s->cap - 1)) {
		struct mew_string_slot *slot = &s->slots[i];

		if (!slot->text ||
		    (slot->hash == hash && slot->len == len && !memcmp(slot->text, text, len)))
			return slot;
	}
}

static int strings_grow(struct mew_strings *s)
{
	struct mew_strings bigger = *s;
	size_t i;

	bigger.cap = s->cap ? s->cap * 2 : 64;
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; i < s->cap; i++) {
		const struct mew_string_slot *old = &s->slots[i];

		if (old->text)
			*find_slot(&bigger, old->text, old->len, old->hash) = *old;
	}
	free(s->slots);
	*s = bigger;
	return 0;
}

const char *mew_strings_intern(struct mew_strings *s, const char *text, size_t len)
{
	uint64_t hash = mew_hash_bytes(text, len);
	struct mew_string_slot *slot;
	const char *copy;

	if (s->n + 1 > s->cap / 4 * 3 && strings_grow(s))
		return NULL;
	slot = find_slot(s, text, len, hash);
	if (slot->text)
		return slot->text;
	copy = mew_arena_strndup(s->arena, text, len);
	if (!copy)
		return NULL;
	*slot = (struct mew_string_slot){.text = copy, .len = len, .hash = hash};
	s->n++;
	return copy;
}
