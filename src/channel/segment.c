/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "channel/segment.h"

struct mew_segment_sum mew_segment_sum(const struct mew_segment *s)
{
	uint32_t n_nodes = __atomic_load_n(&s->n_nodes, __ATOMIC_ACQUIRE);
	struct mew_segment_sum sum = {0};

	for (uint32_t i = 0; i < n_nodes && i < MEW_SEGMENT_NODES; i++) {
		const struct mew_segment_node *n = &s->nodes[i];

		sum.allocations += n->allocations;
		sum.bytes += n->bytes;
		sum.frees += n->frees;
		sum.temporary += n->temporary;
		sum.live_bytes += n->live_bytes;
		sum.live_blocks += n->live_blocks;
		if (n->flags & MEW_NODE_BROKEN)
			sum.broken += n->allocations;
	}
	for (uint32_t i = 0; i < MEW_SEGMENT_SHARDS; i++)
		sum.foreign_frees += s->shards[i].foreign_frees;
	return sum;
}
