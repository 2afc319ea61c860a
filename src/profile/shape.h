/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h: what a heap case has beside its row and its stacks: the curve of its live heap, and its
 * allocations by size. Pure.
 */
#ifndef MEW_PROFILE_SHAPE_H
#define MEW_PROFILE_SHAPE_H

#include <stddef.h>
#include <stdint.h>

/* Allocations of sizes up to most, and above that of the class before. */
struct mew_shape_size {
	uint64_t most; /* a power of two; 0; INT64_MAX: all that are larger */
	uint64_t allocations;
};

/* Zeroed to start; its own until mew_shape_done(). */
struct mew_shape {
	uint64_t width;  /* allocations of a point of the curve */
	int64_t *points; /* the highest live heap in each; point i begins with allocation i * width
			  */
	size_t n_points, cap_points;
	struct mew_shape_size *sizes; /* in order; none is empty */
	size_t n_sizes, cap_sizes;
};

void mew_shape_done(struct mew_shape *shape);

/* 0 or -ENOMEM. */
int mew_shape_point(struct mew_shape *shape, int64_t high);
int mew_shape_size(struct mew_shape *shape, uint64_t most, uint64_t allocations);

/*
 * The curve in at most n points (1 or more), each the highest of as many as it takes; never more
 * than there are. ret has room for n. Their number.
 */
size_t mew_shape_reduce(const struct mew_shape *shape, size_t n, int64_t *ret);

#endif
