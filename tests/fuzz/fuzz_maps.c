/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as lines of /proc/PID/maps. */
#include "config.h"

#include "fuzz.h"
#include "unwind/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t n = newline ? (size_t)(newline - data) : size;
		char *line = malloc(n + 1);
		struct mew_maps_line l;

		if (!line)
			abort();
		memcpy(line, data, n);
		line[n] = '\0';
		if (!mew_maps_parse(line, &l)) {
			FUZZ_CHECK(l.start_pc < l.end_pc);
			FUZZ_CHECK(l.path >= line && l.path + strlen(l.path) <= line + n);
		}
		free(line);
		data += n + !!newline;
		size -= n + !!newline;
	}
	return 0;
}
