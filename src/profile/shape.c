/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "profile/shape.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void mew_shape_done(struct mew_shape *shape)
{
	free(shape->points);
	free(shape->sizes);
	*shape = (struct mew_shape){0};
}

int mew_shape_point(struct mew_shape *shape, int64_t high)
{
	if (MEW_ARRAY_PUSH(shape->points, shape->n_points, shape->cap_points))
		return -ENOMEM;
	shape->points[shape->n_points++] = high;
	return 0;
}

int mew_shape_size(struct mew_shape *shape, uint64_t most, uint64_t allocations)
{
	if (MEW_ARRAY_PUSH(shape->sizes, shape->n_sizes, shape->cap_sizes))
		return -ENOMEM;
	shape->sizes[shape->n_sizes++] = (struct mew_shape_size){most, allocations};
	return 0;
}

size_t mew_shape_reduce(const struct mew_shape *shape, size_t n, int64_t *ret)
{
	size_t n_points = shape->n_points;

	if (n_points < n)
		n = n_points;
	for (size_t i = 0; i < n; i++) {
		size_t from = i * n_points / n, to = (i + 1) * n_points / n;

		ret[i] = shape->points[from];
		for (size_t k = from + 1; k < to; k++)
			if (shape->points[k] > ret[i])
				ret[i] = shape->points[k];
	}
	return n;
}
