/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_TARGET [-m N] FILE...: a fuzz target without libFuzzer. Each file is run once, and N damaged
 * copies of it, the same ones each time. A file that ends in .hex is text: pairs of digits; what
 * follows a # is a comment.
 */
#include "config.h"

#include "fuzz.h"

#define INPUT_MAX (4u << 20)

static uint64_t random_state = 88172645463325252u;

static size_t rnd(size_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? random_state % below : 0;
}

static int digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. */
static size_t decode(uint8_t *bytes, size_t n)
{
	size_t at, n_digits = 0;
	int comment = 0, value = 0;

	for (at = 0; at < n; at++) {
		int d = digit(bytes[at]);

		comment = bytes[at] == '#' || (comment && bytes[at] != '\n');
		if (comment || d < 0)
			continue;
		value = value << 4 | d;
		n_digits++;
		if (n_digits % 2 == 0)
			bytes[n_digits / 2 - 1] = (uint8_t)value;
	}
	return n_digits / 2;
}

/* In a block as long as the input: checkers see a read past its end. */
static void run(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		exit(99);
	if (n)
		memcpy(copy, bytes, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static void run_damaged(const uint8_t *bytes, size_t n)
{
	size_t cut = rnd(4) ? n : rnd(n + 1), i;
	uint8_t *copy = malloc(INPUT_MAX);

	if (!copy || n > INPUT_MAX)
		exit(99);
	memcpy(copy, bytes, n);
	for (i = rnd(12); n && i--;) {
		size_t at = rnd(n);

		switch (rnd(4)) {
		case 0:
			copy[at] ^= (uint8_t)(1u << rnd(8));
			break;
		case 1: /* a piece moves */
			memmove(copy + at, copy + rnd(at + 1), rnd(n - at));
			break;
		case 2:
			memset(copy + at, rnd(2) ? 0xff : 0, rnd(n - at < 8 ? n - at + 1 : 9));
			break;
		default:
			copy[at] = (uint8_t)rnd(256);
		}
	}
	run(copy, cut);
	free(copy);
}

static int run_file(const char *path, unsigned long n_damaged)
{
	static uint8_t bytes[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t n, len = strlen(path);

	if (!f) {
		perror(path);
		return 99;
	}
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	if (len > 4 && !strcmp(path + len - 4, ".hex"))
		n = decode(bytes, n);
	run(bytes, n);
	while (n_damaged--)
		run_damaged(bytes, n);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long n_damaged = 0;
	int i = 1, rc = 0;

	if (argc > 2 && !strcmp(argv[1], "-m")) {
		n_damaged = strtoul(argv[2], NULL, 10);
		i = 3;
	}
	if (i == argc)
		return 2;
	for (; i < argc && !rc; i++)
		rc = run_file(argv[i], n_damaged);
	return rc;
}
