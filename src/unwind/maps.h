/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h: a line of /proc/PID/maps (proc(5)). Text in, fields out; opens nothing. */
#ifndef MEW_UNWIND_MAPS_H
#define MEW_UNWIND_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct mew_maps_line {
	uint64_t start_pc, end_pc, file_off;
	uint64_t dev; /* as makedev(3) has it */
	uint64_t ino; /* 0: no file */
	bool executable;
	const char *path; /* in the line, unescaped; "" for anonymous memory */
};

/* Parses a line without its newline, in place. 0 or -EINVAL. */
int mew_maps_parse(char *line, struct mew_maps_line *ret);

#endif
