/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes for tables in memory: fast, not stable between versions, never stored. */
#ifndef MEW_BASE_HASH_H
#define MEW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A bijection (the finaliser of splitmix64), so different keys differ before masking. */
static inline uint64_t mew_hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	x ^= x >> 31;
	return x;
}

static inline uint64_t mew_hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = n, word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mew_hash_u64(h ^ word) + 0x9e3779b97f4a7c15u;
	}
	word = 0;
	if (n)
		memcpy(&word, p, n);
	return mew_hash_u64(h ^ word);
}

#endif
