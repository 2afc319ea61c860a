/* SPDX-License-Identifier: Apache-2.0 */
/* zlib on a real file: what a level costs to write, and what reading it back costs. */
#include <mew/mew.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define DEFAULT_FILE "/usr/share/common-licenses/GPL-3"

/* The whole of MEW_ZLIB_FILE, or of a file that every Debian has. NULL: the case has failed. */
static Bytef *read_file(struct mew_state *state, uLong *ret_len)
{
	const char *path = getenv("MEW_ZLIB_FILE");
	Bytef *bytes = NULL;
	FILE *f;
	long len = 0;

	if (!path)
		path = DEFAULT_FILE;
	f = fopen(path, "rb");
	if (f && !fseek(f, 0, SEEK_END))
		len = ftell(f);
	if (len > 0) {
		rewind(f);
		bytes = malloc((size_t)len);
	}
	if (bytes && fread(bytes, 1, (size_t)len, f) != (size_t)len) {
		free(bytes);
		bytes = NULL;
	}
	if (f)
		fclose(f);
	if (!bytes)
		mew_fail(state, "cannot read '%s': name a file in MEW_ZLIB_FILE", path);
	*ret_len = (uLong)len;
	return bytes;
}

MEW_BENCHMARK_VALUES(deflate_file, state, "level", 1, 6, 9)
{
	int level = (int)mew_value(state);
	uLong len;
	Bytef *in = read_file(state, &len), *out;

	if (!in)
		return;
	out = malloc(compressBound(len));
	MEW_LOOP(state) {
		uLongf n = compressBound(len);

		if (!out || compress2(out, &n, in, len, level) != Z_OK)
			mew_fail(state, "compress2 failed");
		MEW_KEEP(n);
	}
	mew_bytes_per_iteration(state, (double)len);
	free(out);
	free(in);
}

MEW_BENCHMARK(inflate_file, state)
{
	uLong len;
	Bytef *in = read_file(state, &len), *packed;
	uLongf n_packed;

	if (!in)
		return;
	n_packed = compressBound(len);
	packed = malloc(n_packed);
	if (!packed || compress2(packed, &n_packed, in, len, 6) != Z_OK) {
		mew_fail(state, "compress2 failed");
	} else {
		MEW_LOOP(state) {
			uLongf n = len;

			if (uncompress(in, &n, packed, n_packed) != Z_OK)
				mew_fail(state, "uncompress failed");
			MEW_KEEP(n);
		}
	}
	mew_bytes_per_iteration(state, (double)len);
	free(packed);
	free(in);
}

MEW_MAIN();
