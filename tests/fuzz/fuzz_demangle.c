/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a linkage name: C++, Rust, and what compilers append. A first byte of 0xff: the
 * others are numbers of pieces that manglings are made of, so that names nest deeply and mean
 * something; above the table, how often the piece before comes again.
 */
#include "config.h"

#include <errno.h>

#include "fuzz.h"
#include "symbol/demangle.h"

#define TEXT_MAX (MEW_MANGLED_MAX + 100)

static const char *const pieces[] = {
	"_Z",
	"_R",
	"N",
	"E",
	"I",
	"J",
	"K",
	"P",
	"R",
	"O",
	"S_",
	"S0_",
	"S1_",
	"T_",
	"T0_",
	"Tn",
	"Dp",
	"DT",
	"Dt",
	"Dv4_",
	"Dn",
	"L",
	"LZ",
	"Lb1",
	"Li7",
	"X",
	"X1",
	"Z",
	"Ul",
	"UlT",
	"v",
	"i",
	"c",
	"F",
	"FvvE",
	"M",
	"A4_",
	"A_",
	"C1",
	"D0",
	"cv",
	"cl",
	"pl",
	"mi",
	"dt",
	"sr",
	"sZ",
	"fp_",
	"fL0p_",
	"1a",
	"3foo",
	"St",
	"Sa",
	"Ss",
	"B3abi",
	"GV",
	"TV",
	"Th8_",
	"NvC",
	"NtNt",
	"Cs1_",
	"C1a",
	"B_",
	"B0_",
	"h",
	"u",
	"y",
	"p",
	"D",
	"G_",
	"17h0123456789abcdefE",
	"_",
	"0",
	"9",
	"$LT$",
	"$u7e$",
	".",
	"..",
	".cold",
	".llvm.1",
	"@@V1",
	"l",
};

#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

static size_t build(struct fuzz_input *in, char *text)
{
	const char *piece = "";
	size_t n = 0;

	while (in->left) {
		size_t at = fuzz_number(in, 1), times = 1, len;

		if (at < PIECES)
			piece = pieces[at];
		else
			times = (size_t)1 << (at - PIECES) % 13;
		len = strlen(piece);
		for (; times && n + len <= TEXT_MAX; times--, n += len)
			memcpy(text + n, piece, len);
	}
	return n;
}

static void demangle(const char *name)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	int rc;

	FUZZ_CHECK(mew_linkage_length(name) <= strlen(name));
	mew_buffer_puts(&out, "before ");
	rc = mew_demangle(name, &out);
	FUZZ_CHECK(rc == 0 || rc == -EINVAL);
	FUZZ_CHECK(out.len == strlen(out.data) && out.len <= 7 + MEW_DEMANGLED_MAX);
	FUZZ_CHECK(!strncmp(out.data, "before ", 7) && (rc == 0) == (out.len > 7));
	mew_buffer_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *name = malloc(TEXT_MAX + size + 1);
	size_t n = size;

	if (!name)
		abort();
	if (size && data[0] == 0xff) {
		fuzz_number(&in, 1);
		n = build(&in, name);
	} else if (size) {
		memcpy(name, data, size);
	}
	name[n] = '\0';
	demangle(name);
	free(name);
	return 0;
}
