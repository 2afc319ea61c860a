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

struct mew_smaps mew_smaps_anonymous(char *text)
{
	uint64_t file_end = 0, guard_end = 0, writable = 0, touched = 0;
	struct mew_smaps sum = {0};
	bool is_own = false;
	char *line, *next;

	for (line = text; *line; line = next) {
		unsigned long long kib;
		struct mew_maps_line l;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (!mew_maps_parse(line, &l)) {
			const char *access = line + strcspn(line, " ");

			is_own = (!*l.path || !strcmp(l.path, "[heap]") ||
				  !strncmp(l.path, "[anon:", 6)) &&
				 l.start_pc != file_end && l.start_pc != guard_end;
			if (l.path[0] == '/')
				file_end = l.end_pc;
			if (!strncmp(access, " ---p", 5) && l.end_pc - l.start_pc <= GUARD_BYTES)
				guard_end = l.end_pc;
			writable = access[0] && access[2] == 'w' ? l.end_pc - l.start_pc : 0;
			touched = 0;
		} else if (is_own && sscanf(line, "Anonymous: %llu kB", &kib) == 1 &&
			   kib < UINT64_MAX >> 11) {
			touched = (uint64_t)kib << 10;
			sum.touched_bytes += touched;
		} else if (is_own && !strncmp(line, "VmFlags:", 8)) {
			int is_given = writable > touched && !strstr(line, " nr");

			sum.given_bytes += is_given ? writable : touched;
			is_own = false;
		}
	}
	return sum;
}

int mew_smaps_read(int fd, struct mew_smaps *ret)
{
	struct mew_buffer text = MEW_BUFFER_INIT;
	int err = mew_buffer_read(&text, fd, MEW_BUFFER_PROC_MAX);

	if (!err)
		*ret = mew_smaps_anonymous(text.data);
	mew_buffer_done(&text);
	return err;
}
