/* SPDX-License-Identifier: Apache-2.0 */
/* Growing a plain C array that lives in a pointer and a capacity. */
#ifndef MEW_BASE_ARRAY_H
#define MEW_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes *base (a T *, passed as &pointer) hold at least `need` elements of `elem` bytes; *cap is
 * the capacity in elements, 0 with *base NULL to begin with. Grows by half at least. New elements
 * are not initialised. 0 or -ENOMEM (too many bytes count as that); nothing changes on failure. The
 * caller frees *base.
 */
int mew_array_grow(void *base, size_t *cap, size_t need, size_t elem);

/* Room for one more after n elements: MEW_ARRAY_PUSH(array, n, cap) || (array[n++] = x, 0) */
#define MEW_ARRAY_PUSH(array, n, cap) mew_array_grow(&(array), &(cap), (n) + 1, sizeof(*(array)))

#endif
