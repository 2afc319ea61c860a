/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "profile/stackcopy.h"

/* As many broken stacks make a verdict. */
#define CUT_SHARE 0.001
#define STEP_BYTES 4096u

void mew_stackcopy_init(struct mew_stackcopy *s, uint32_t bytes, int exact)
{
	*s = (struct mew_stackcopy){.start = bytes, .bytes = bytes, .exact = exact};
}

int mew_stackcopy_cuts(uint64_t samples, uint64_t cut)
{
	return (double)cut > CUT_SHARE * (double)samples;
}

int mew_stackcopy_shrinks(uint64_t samples, uint64_t ended, uint64_t need_bytes,
			  uint32_t small_bytes)
{
	return ended > samples / 2 && need_bytes <= small_bytes / 2;
}

/* A quarter more than was seen. 0: no size that is worth a change. */
static uint32_t fitting(const struct mew_stackcopy *s, uint64_t need)
{
	uint64_t bytes = need + need / 4 + STEP_BYTES;

	bytes -= bytes % STEP_BYTES;
	if (bytes < s->start)
		bytes = s->start;
	return bytes <= MEW_STACKCOPY_MAX / 2 ? (uint32_t)bytes : 0;
}

uint32_t mew_stackcopy_next(struct mew_stackcopy *s, uint64_t samples, uint64_t cut,
			    uint64_t need_bytes)
{
	int is_cut = mew_stackcopy_cuts(samples, cut);
	uint32_t bytes = 0;

	if (s->exact || !samples)
		return 0;
	if (s->bytes < MEW_STACKCOPY_MAX) {
		bytes = is_cut ? MEW_STACKCOPY_MAX : 0;
	} else if (!s->fitted) {
		s->fitted = 1;
		bytes = is_cut ? 0 : fitting(s, need_bytes);
	}
	if (bytes)
		s->bytes = bytes;
	return bytes;
}
