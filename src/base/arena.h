/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once, and strings kept once each. Not locked.
 */
#ifndef MEW_BASE_ARENA_H
#define MEW_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct mew_arena;

/* NULL without memory. free takes NULL and ends everything that came out of the arena. */
struct mew_arena *mew_arena_new(void);
void mew_arena_free(struct mew_arena *a);

/*
 * All return memory that lives as long as the arena, or NULL without memory. align is a power of
 * two; zeroed bytes. A size of 0 gives a pointer that may not be read.
 */
void *mew_arena_alloc(struct mew_arena *a, size_t size, size_t align);
char *mew_arena_strdup(struct mew_arena *a, const char *s);
char *mew_arena_strndup(struct mew_arena *a, const char *s, size_t len);

/* An array of n zeroed T; NULL when n * sizeof(T) overflows, too. */
#define MEW_ARENA_NEW(a, type, n) ((type *)mew_arena_array((a), (n), sizeof(type), _Alignof(type)))
void *mew_arena_array(struct mew_arena *a, size_t n, size_t elem, size_t align);

/*
 * Interned strings: the same text gives the same pointer, so texts compare by ==. The texts live in
 * the arena, which must outlive their use; `done` frees only the index.
 */
struct mew_strings {
	struct mew_arena *arena; /* borrowed */
	struct mew_string_slot *slots;
	size_t n, cap; /* slots in use, slots (a power of two) */
};

void mew_strings_init(struct mew_strings *s, struct mew_arena *arena);
void mew_strings_done(struct mew_strings *s);

/* The kept copy of text[0..len), NUL terminated; NULL without memory. */
const char *mew_strings_intern(struct mew_strings *s, const char *text, size_t len);

#endif
