/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.h: compare a text with a file of tests/golden, which $MEW_SRCDIR leads to. With
 * MEW_GOLDEN=write it writes the files instead: read the difference before it is committed.
 */
#ifndef MEW_TESTS_GOLDEN_H
#define MEW_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

static inline void assert_golden(const char *text, const char *name)
{
	const char *top = getenv("MEW_SRCDIR");
	static char want[1 << 16];
	char path[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/golden/%s", top ? top : ".", name);
	if (getenv("MEW_GOLDEN")) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
		return;
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open '%s'", path);
	n = fread(want, 1, sizeof(want) - 1, f);
	fclose(f);
	want[n] = '\0';
	assert_string_equal(text, want);
}

#endif
