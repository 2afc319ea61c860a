/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold FILE blocks|stacks NUMBER: so many live blocks of one stack, or so many stacks that each
 * make a block and free it. FILE gets the bytes by which the resident memory grew for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BITS 18 /* call sites in a row that tell stacks apart */

static unsigned long resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm)
		exit(1);
	if (fscanf(statm, "%*u %lu", &pages) != 1)
		exit(1);
	fclose(statm);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* Two call sites, by number's bits, the highest one outermost. The empty asm keeps them apart. */
__attribute__((noinline)) static void make_block(unsigned long number, unsigned n_bits)
{
	if (n_bits == 0) {
		void *volatile p = malloc(16);

		free(p);
	} else if (number >> (n_bits - 1) & 1) {
		make_block(number, n_bits - 1);
	} else {
		make_block(number, n_bits - 1);
		__asm__ volatile("" : : : "memory");
	}
	__asm__ volatile("" : : : "memory");
}

static void **hold_blocks(unsigned long n)
{
	void **blocks = calloc(n, sizeof(*blocks));

	for (unsigned long i = 0; blocks && i < n; i++) {
		blocks[i] = malloc(16);
		if (blocks[i])
			memset(blocks[i], 1, 16);
	}
	return blocks;
}

int main(int argc, char **argv)
{
	unsigned long n, before;
	FILE *out;

	if (argc != 4)
		return 2;
	n = strtoul(argv[3], NULL, 10);
	out = fopen(argv[1], "w");
	if (!out || n == 0)
		return 2;
	make_block(0, BITS);
	before = resident_bytes();
	if (!strcmp(argv[2], "blocks")) {
		if (!hold_blocks(n))
			return 1;
	} else {
		for (unsigned long i = 0; i < n; i++)
			make_block(i, BITS);
	}
	fprintf(out, "%.1f\n", ((double)resident_bytes() - (double)before) / (double)n);
	return fclose(out) ? 1 : 0;
}
