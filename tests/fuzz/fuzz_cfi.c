/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From CFI to rules: any bytes as the section .eh_frame or .debug_frame. The first byte says which,
 * and where the section, the code and the entry point lie.
 */
#include "config.h"

#include "elf_image.h"
#include "fuzz.h"
#include "unwind/cfi.h"

static void check(const struct mew_cfi *c)
{
	size_t i, n_evaluate = 0, n_unsaid = 0;

	FUZZ_CHECK(c->n_rules && c->n_rules <= MEW_CFI_RULES_MAX);
	for (i = 0; i < c->n_rules; i++) {
		FUZZ_CHECK(!i || c->rules[i].start > c->rules[i - 1].start);
		FUZZ_CHECK(c->rules[i].cfa <= MEW_CFA_DEREF_SP);
		FUZZ_CHECK(c->rules[i].fp <= MEW_FP_AT_FP);
		FUZZ_CHECK(c->rules[i].saves < c->n_saves || !c->rules[i].saves);
		if (c->rules[i].cfa != MEW_CFA_EVALUATE)
			continue;
		n_evaluate++;
		n_unsaid += c->rules[i].cfa_off == -1;
		FUZZ_CHECK(c->rules[i].cfa_off >= -1 && c->rules[i].cfa_off < (int64_t)c->n_ops);
	}
	FUZZ_CHECK(n_evaluate == c->n_evaluate && n_unsaid == c->n_unsaid);
	FUZZ_CHECK(c->n_saves <= MEW_RULE_SAVES);
	FUZZ_CHECK(!c->n_ops || !c->ops[c->n_ops - 1].atom);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t how = (uint8_t)fuzz_number(&in, 1);
	uint64_t load = how & 2 ? fuzz_number(&in, 8) : 0;
	uint64_t vaddr = how & 4 ? fuzz_number(&in, 8) : load + 0x2000;
	uint64_t entry = how & 8 ? fuzz_number(&in, 4) : 0;
	struct elf_image_section section = {how & 1 ? ".debug_frame" : ".eh_frame", in.at, in.left,
					    vaddr};
	struct mew_error error = {0};
	struct mew_cfi cfi = {0};
	size_t bytes;
	char *image = elf_image_make(&section, load, entry, &bytes);
	Elf *elf;
	int rc;

	if (!image)
		abort();
	elf_version(EV_CURRENT);
	elf = elf_memory(image, bytes);
	FUZZ_CHECK(elf);
	rc = mew_cfi_read(elf, &cfi, &error);
	FUZZ_CHECK(rc <= 0 && (!rc || error.text[0]));
	if (!rc)
		check(&cfi);
	mew_cfi_done(&cfi);
	elf_end(elf);
	free(image);
	return 0;
}
