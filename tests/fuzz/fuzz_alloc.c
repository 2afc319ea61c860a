/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an ELF file and as a name, while memory runs out: the first two bytes are the number
 * of allocations that succeed. Every failure is one that is said, and nothing is lost.
 */
#include "config.h"

#include <errno.h>

#include "../unit/failing_alloc.h"
#include "base/buffer.h"
#include "fuzz.h"
#include "symbol/demangle.h"
#include "symbol/symtab.h"
#include "unwind/cfi.h"

static void demangle(const uint8_t *bytes, size_t n, long left)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	char name[256];
	int rc;

	n = n < sizeof(name) ? n : sizeof(name) - 1;
	memcpy(name, bytes, n);
	name[n] = '\0';
	failing_alloc_after(left);
	rc = mew_demangle(name, &out);
	failing_alloc_off();
	FUZZ_CHECK(rc == 0 || rc == -EINVAL || (rc == -ENOMEM && failing_alloc_hit()));
	mew_buffer_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	long left = (long)fuzz_number(&in, 2);
	char *image = malloc(in.left ? in.left : 1);
	struct mew_symtab symbols = {0};
	struct mew_cfi cfi = {0};
	size_t n = in.left;
	Elf *elf;
	int rc;

	if (!image)
		abort();
	demangle(in.at, in.left, left % 8);
	elf_version(EV_CURRENT);
	fuzz_bytes(&in, image, in.left);
	elf = elf_memory(image, n);
	if (elf) {
		failing_alloc_after(left);
		rc = mew_cfi_read(elf, &cfi, NULL);
		failing_alloc_off();
		FUZZ_CHECK(rc != -ENOMEM || failing_alloc_hit());
		mew_cfi_done(&cfi);
		failing_alloc_after(left);
		rc = mew_symtab_add(elf, 0, &symbols);
		failing_alloc_off();
		FUZZ_CHECK(rc == (failing_alloc_hit() ? -ENOMEM : 0));
		mew_symtab_done(&symbols);
	}
	elf_end(elf);
	free(image);
	return 0;
}
