/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/iterations.h"

static unsigned bucket_of(uint64_t mark)
{
	unsigned power;

	if (mark < 128)
		return (unsigned)mark;
	power = 63 - (unsigned)__builtin_clzll(mark);
	return 128 + (power - 7) * 64 + (unsigned)(mark >> (power - 6) & 63);
}

static uint64_t least_of(unsigned bucket)
{
	unsigned power = bucket < 128 ? 7 : 7 + (bucket - 128) / 64;

	return bucket < 128 ? bucket : (64ull + (bucket - 128) % 64) << (power - 6);
}

void mew_iterations_next(struct mew_iterations *it, int64_t live)
{
	int64_t mark = __atomic_exchange_n(&it->mark, live, __ATOMIC_SEQ_CST);
	unsigned bucket;

	if (mark < 0)
		mark = 0;
	bucket = bucket_of((uint64_t)mark);
	it->buckets[bucket].n++;
	it->buckets[bucket].above += (uint64_t)mark - least_of(bucket);
	if (!it->n || mark < it->least)
		it->least = mark;
	if (!it->n || mark > it->most)
		it->most = mark;
	it->n++;
}

int64_t mew_iterations_median(const struct mew_iterations *it)
{
	uint64_t n = 0, below = 0;

	/* The sum, not it->n: a process that was killed may have left them apart. */
	for (unsigned i = 0; i < MEW_ITERATIONS_BUCKETS; i++)
		n += it->buckets[i].n;
	for (unsigned i = 0; n && i < MEW_ITERATIONS_BUCKETS; i++) {
		const struct mew_iterations_bucket *b = &it->buckets[i];

		below += b->n;
		if (b->n && below > (n - 1) / 2)
			return (int64_t)(least_of(i) + b->above / b->n);
	}
	return 0;
}
