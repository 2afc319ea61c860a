/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/smaps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "unwind/maps.h"

#define GUARD_BYTES 65536 /* at most: what is kept free below a thread's stack */

uint64_t mew_smaps_anonymous(char *text)
{
	uint64_t total = 0, file_end = 0, guard_end = 0;
	bool is_own = false;
	char *line, *next;

	for (line = text; *line; line = next) {
		unsigned long long kib;
		struct mew_maps_line l;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (!mew_maps_parse(line, &l)) {
			is_own = (!*l.path || !strcmp(l.path, "[heap]") ||
				  !strncmp(l.path, "[anon:", 6)) &&
				 l.start_pc != file_end && l.start_pc != guard_end;
			if (l.path[0] == '/')
				file_end = l.end_pc;
			if (!strncmp(line + strcspn(line, " "), " ---p", 5) &&
			    l.end_pc - l.start_pc <= GUARD_BYTES)
				guard_end = l.end_pc;
		} else if (is_own && sscanf(line, "Anonymous: %llu kB", &kib) == 1 &&
			   kib < UINT64_MAX >> 11) {
			total += (uint64_t)kib << 10;
		}
	}
	return total;
}

int mew_smaps_read(int fd, uint64_t *ret_bytes)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	int err = mew_buffer_read(&text, fd);

	if (!err)
		*ret_bytes = mew_smaps_anonymous(text.data);
	mew_buffer_done(&text);
	return err;
}
