/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "unwind/maps.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool parse_number(const char **p, unsigned base, char end, uint64_t *ret)
{
	const char *s = *p;
	uint64_t value = 0;

	for (; *s != end; s++) {
		unsigned digit = 99;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			digit = (unsigned)(*s - 'a') + 10;
		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	if (s == *p)
		return false;
	*p = s + 1;
	*ret = value;
	return true;
}

/* The kernel escapes a newline in a path, and nothing else: \012. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (!strncmp(s, "\\012", 4)) {
			*out++ = '\n';
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

int mew_maps_parse(char *line, struct mew_maps_line *ret)
{
	struct mew_maps_line l = {0};
	const char *p = line;
	uint64_t major, minor;
	char *path;

	if (!parse_number(&p, 16, '-', &l.start_pc) || !parse_number(&p, 16, ' ', &l.end_pc) ||
	    l.end_pc <= l.start_pc)
		return -EINVAL;
	if (strnlen(p, 5) < 5 || p[4] != ' ')
		return -EINVAL;
	l.executable = p[2] == 'x';
	p += 5;
	if (!parse_number(&p, 16, ' ', &l.file_off) || !parse_number(&p, 16, ':', &major) ||
	    !parse_number(&p, 16, ' ', &minor))
		return -EINVAL;
	l.dev = makedev((unsigned)major, (unsigned)minor);
	/* Anonymous memory: the kernel ends the line with the number or with blanks. */
	path = line + (p - line) + strcspn(p, " ");
	if (*path)
		*path++ = '\0';
	if (!parse_number(&p, 10, '\0', &l.ino))
		return -EINVAL;
	path += strspn(path, " ");
	unescape(path);
	l.path = path;
	*ret = l;
	return 0;
}
