/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int mew_array_grow(void *base, size_t *cap, size_t need, size_t elem)
{
	size_t new_cap, bytes;
	void *old, *new;

	if (need <= *cap)
		return 0;
	new_cap = *cap + *cap / 2;
	if (new_cap < 8)
		new_cap = 8;
	if (new_cap < need)
		new_cap = need;
	if (__builtin_mul_overflow(new_cap, elem, &bytes))
		return -ENOMEM;
	/* By memcpy: a T * is not a void * to the aliasing rules. */
	memcpy(&old, base, sizeof(old));
	new = realloc(old, bytes);
	if (!new)
		return -ENOMEM;
	memcpy(base, &new, sizeof(new));
	*cap = new_cap;
	return 0;
}
