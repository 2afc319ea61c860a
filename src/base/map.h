/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps, open addressing, no removal: u64 -> u64, and bytes -> u64. Not locked. Any key and any
 * value is allowed. The order of iteration is unspecified; sort before it is shown.
 */
#ifndef MEW_BASE_MAP_H
#define MEW_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mew_map {
	struct mew_map_slot *slots; /* owned */
	size_t n, cap;              /* entries, slots (a power of two or 0) */
};

/* Allocates nothing. done takes NULL; the map is empty and usable afterwards. */
void mew_map_init(struct mew_map *m);
void mew_map_done(struct mew_map *m);

/* Whether the key is there; *ret_value (may be NULL) is untouched if not. */
bool mew_map_get(const struct mew_map *m, uint64_t key, uint64_t *ret_value);

/* Adds the key or replaces its value. 0 or -ENOMEM (nothing changed). */
int mew_map_put(struct mew_map *m, uint64_t key, uint64_t value);

/*
 * The value's place, made with `initial` if the key is new (*ret_new, may be NULL, says so): one
 * look-up for "find or add" and for counters. Valid until the next put or add. NULL without memory.
 */
uint64_t *mew_map_add(struct mew_map *m, uint64_t key, uint64_t initial, bool *ret_new);

/* Walks: size_t at = 0; while (mew_map_next(m, &at, &key, &value)) ... */
bool mew_map_next(const struct mew_map *m, size_t *at, uint64_t *ret_key, uint64_t *ret_value);

/* The same with keys of bytes, which are copied. */
struct mew_bytes_map {
	struct mew_bytes_slot *slots; /* owned */
	size_t n, cap;
	unsigned char *keys; /* owned, all keys one after the other */
	size_t keys_len, keys_cap;
};

void mew_bytes_map_init(struct mew_bytes_map *m);
void mew_bytes_map_done(struct mew_bytes_map *m);
bool mew_bytes_map_get(const struct mew_bytes_map *m, const void *key, size_t len,
		       uint64_t *ret_value);
int mew_bytes_map_put(struct mew_bytes_map *m, const void *key, size_t len, uint64_t value);
uint64_t *mew_bytes_map_add(struct mew_bytes_map *m, const void *key, size_t len, uint64_t initial,
			    bool *ret_new);

/* *ret_key is borrowed until the next put or add. */
bool mew_bytes_map_next(const struct mew_bytes_map *m, size_t *at, const void **ret_key,
			size_t *ret_len, uint64_t *ret_value);

#endif
