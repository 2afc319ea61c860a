/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h: what every fuzz target shares: the function that libFuzzer (or replay.c) calls, reading
 * an input piece by piece, and a check that holds in every build.
 */
#ifndef MEW_TESTS_FUZZ_H
#define MEW_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(holds)                                                                          \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds);        \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The part of an input that is not read yet. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* The next n <= 8 bytes as a number, low byte first; 0 for those past the end. */
static inline uint64_t fuzz_number(struct fuzz_input *in, size_t n)
{
	uint64_t value = 0;

	if (n > in->left)
		n = in->left;
	memcpy(&value, in->at, n);
	in->at += n;
	in->left -= n;
	return value;
}

/* The next bytes into to; zeros past the end. */
static inline void fuzz_bytes(struct fuzz_input *in, void *to, size_t n)
{
	size_t have = n < in->left ? n : in->left;

	memset(to, 0, n);
	if (have)
		memcpy(to, in->at, have);
	in->at += have;
	in->left -= have;
}

#endif
