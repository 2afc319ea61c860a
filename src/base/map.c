/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/map.h"
#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 16 };

struct mew_map_slot {
	uint64_t key, value;
	bool used;
};

struct mew_bytes_slot {
	uint64_t hash, value;
	size_t off, len; /* of the key in keys[] */
	bool used;
};

/* Three quarters full is the limit: one free slot always ends a search. */
static bool is_full(size_t n, size_t cap)
{
	return n + 1 > cap / 4 * 3;
}

void mew_map_init(struct mew_map *m)
{
	*m = (struct mew_map){0};
}

void mew_map_done(struct mew_map *m)
{
	if (!m)
		return;
	free(m->slots);
	mew_map_init(m);
}

static struct mew_map_slot *map_slot(const struct mew_map *m, uint64_t key)
{
	size_t i = mew_hash_u64(key) & (m->cap - 1);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static int map_grow(struct mew_map *m)
{
	struct mew_map bigger = {.n = m->n, .cap = m->cap ? m->cap * 2 : CAP_MIN};
	size_t i;

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*map_slot(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

bool mew_map_get(const struct mew_map *m, uint64_t key, uint64_t *ret_value)
{
	const struct mew_map_slot *slot;

	if (!m->n)
		return false;
	slot = map_slot(m, key);
	if (slot->used && ret_value)
		*ret_value = slot->value;
	return slot->used;
}

uint64_t *mew_map_add(struct mew_map *m, uint64_t key, uint64_t initial, bool *ret_new)
{
	struct mew_map_slot *slot = m->cap ? map_slot(m, key) : NULL;
	bool is_new = !slot || !slot->used;

	if (is_new) {
		if (is_full(m->n, m->cap)) {
			if (map_grow(m))
				return NULL;
			slot = map_slot(m, key);
		}
		*slot = (struct mew_map_slot){.key = key, .value = initial, .used = true};
		m->n++;
	}
	if (ret_new)
		*ret_new = is_new;
	return &slot->value;
}

int mew_map_put(struct mew_map *m, uint64_t key, uint64_t value)
{
	uint64_t *place = mew_map_add(m, key, value, NULL);

	if (!place)
		return -ENOMEM;
	*place = value;
	return 0;
}

bool mew_map_next(const struct mew_map *m, size_t *at, uint64_t *ret_key, uint64_t *ret_value)
{
	while (*at < m->cap) {
		const struct mew_map_slot *slot = &m->slots[(*at)++];

		if (!slot->used)
			continue;
		*ret_key = slot->key;
		*ret_value = slot->value;
		return true;
	}
	return false;
}

void mew_bytes_map_init(struct mew_bytes_map *m)
{
	*m = (struct mew_bytes_map){0};
}

void mew_bytes_map_done(struct mew_bytes_map *m)
{
	if (!m)
		return;
	free(m->slots);
	free(m->keys);
	mew_bytes_map_init(m);
}

static struct mew_bytes_slot *bytes_slot(const struct mew_bytes_map *m, uint64_t hash,
					 const void *key, size_t len)
{
	size_t i = hash & (m->cap - 1);

	for (;; i = (i + 1) & (m->cap - 1)) {
		struct mew_bytes_slot *slot = &m->slots[i];

		if (!slot->used)
			return slot;
		if (slot->hash == hash && slot->len == len &&
		    (!len || !memcmp(m->keys + slot->off, key, len)))
			return slot;
	}
}

static int bytes_grow(struct mew_bytes_map *m)
{
	size_t cap = m->cap ? m->cap * 2 : CAP_MIN, i, j;
	struct mew_bytes_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < m->cap; i++) {
		if (!m->slots[i].used)
			continue;
		for (j = m->slots[i].hash & (cap - 1); slots[j].used;)
			j = (j + 1) & (cap - 1);
		slots[j] = m->slots[i];
	}
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	return 0;
}

bool mew_bytes_map_get(const struct mew_bytes_map *m, const void *key, size_t len,
		       uint64_t *ret_value)
{
	const struct mew_bytes_slot *slot;

	if (!m->n)
		return false;
	slot = bytes_slot(m, mew_hash_bytes(key, len), key, len);
	if (slot->used && ret_value)
		*ret_value = slot->value;
	return slot->used;
}

uint64_t *mew_bytes_map_add(struct mew_bytes_map *m, const void *key, size_t len, uint64_t initial,
			    bool *ret_new)
{
	uint64_t hash = mew_hash_bytes(key, len);
	struct mew_bytes_slot *slot = m->cap ? bytes_slot(m, hash, key, len) : NULL;
	bool is_new = !slot || !slot->used;
	size_t end;

	if (is_new) {
		if (__builtin_add_overflow(m->keys_len, len, &end) ||
		    mew_array_grow(&m->keys, &m->keys_cap, end, 1))
			return NULL;
		if (is_full(m->n, m->cap)) {
			if (bytes_grow(m))
				return NULL;
			slot = bytes_slot(m, hash, key, len);
		}
		if (len)
			memcpy(m->keys + m->keys_len, key, len);
		*slot = (struct mew_bytes_slot){.hash = hash,
						.value = initial,
						.off = m->keys_len,
						.len = len,
						.used = true};
		m->keys_len = end;
		m->n++;
	}
	if (ret_new)
		*ret_new = is_new;
	return &slot->value;
}

int mew_bytes_map_put(struct mew_bytes_map *m, const void *key, size_t len, uint64_t value)
{
	uint64_t *place = mew_bytes_map_add(m, key, len, value, NULL);

	if (!place)
		return -ENOMEM;
	*place = value;
	return 0;
}

bool mew_bytes_map_next(const struct mew_bytes_map *m, size_t *at, const void **ret_key,
			size_t *ret_len, uint64_t *ret_value)
{
	while (*at < m->cap) {
		const struct mew_bytes_slot *slot = &m->slots[(*at)++];

		if (!slot->used)
			continue;
		*ret_key = m->keys + slot->off;
		*ret_len = slot->len;
		*ret_value = slot->value;
		return true;
	}
	return false;
}
