/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "heap/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u
#define FOREIGN_BELOW_BYTES                                                                        \
	(64u << 10) /* how much deeper such a stack may get before it is looked up again */
#define MAIN_BYTES_MAX (64u << 20) /* the kernel maps nothing else this near below the stack */

enum field { START, END, REST, NAME, SKIP };

static int line_ends(struct mew_stack_scan *s)
{
	if (s->sp >= s->first && s->sp < s->number) {
		s->start = s->first;
		s->end = s->number;
		s->is_main = s->n_name == 7 && !memcmp(s->name, "[stack]", 7);
		return 1;
	}
	s->end_before = s->number;
	s->number = s->first = 0;
	s->n_name = s->field = 0;
	return 0;
}

int mew_stack_scan(struct mew_stack_scan *s, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (c == '\n') {
			if (line_ends(s))
				return 1;
		} else if (s->field == START && c == '-') {
			s->first = s->number;
			s->number = 0;
			s->field = END;
		} else if (s->field == END && c == ' ') {
			s->field = REST;
		} else if (s->field <= END && digit >= 0) {
			s->number = s->number * 16 + (unsigned)digit;
		} else if (s->field == REST && c == '[') {
			s->field = NAME;
			s->name[s->n_name++] = c;
		} else if (s->field == REST && c == '/') {
			s->field = SKIP;
		} else if (s->field == NAME && s->n_name < sizeof(s->name)) {
			s->name[s->n_name++] = c;
		}
	}
	return 0;
}

/*
 * Raw: the C library's open and read are cancellation points, which malloc is not. Of the thread,
 * which is there: /proc/self is empty once the main thread has ended.
 */
static int read_maps(struct mew_stack_scan *scan, char *buf, size_t n_buf)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	int is_found = 0;
	long n;

	if (fd < 0)
		return 0;
	while (!is_found) {
		n = syscall(SYS_read, fd, buf, n_buf);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		is_found = mew_stack_scan(scan, buf, (size_t)n);
	}
	syscall(SYS_close, fd);
	return is_found;
}

static int is_mapped(const struct mew_stack_range *r, uint64_t sp)
{
	unsigned char pages[(MEW_STACK_FOREIGN_BYTES + FOREIGN_BELOW_BYTES) / PAGE + 1];
	uint64_t lo = sp & ~(uint64_t)(PAGE - 1);

	return !mincore((void *)(uintptr_t)lo, r->hi - lo, pages);
}

uint64_t mew_stack_end(struct mew_stack *stack, uint64_t sp, uint64_t thread_pointer, char *buf,
		       size_t n_buf)
{
	struct mew_stack_scan scan = {.sp = sp};
	struct mew_stack_range *r = &stack->own;

	if (sp >= r->lo && sp < r->hi)
		return r->hi;
	r = &stack->foreign;
	if (sp >= r->lo && sp < r->hi && is_mapped(r, sp))
		return r->hi;
	if (!read_maps(&scan, buf, n_buf))
		return sp;
	if (scan.is_main) {
		r = &stack->own;
		r->hi = scan.end;
		r->lo = scan.end - MAIN_BYTES_MAX;
		if (r->lo < scan.end_before)
			r->lo = scan.end_before;
	} else if (thread_pointer > sp && thread_pointer < scan.end) {
		/* Mappings beside the stack may have become one with it. */
		r = &stack->own;
		r->lo = scan.start;
		r->hi = thread_pointer;
	} else {
		uint64_t page = sp & ~(uint64_t)(PAGE - 1);

		r->lo = page - scan.start > FOREIGN_BELOW_BYTES ? page - FOREIGN_BELOW_BYTES
								: scan.start;
		r->hi = scan.end - page > MEW_STACK_FOREIGN_BYTES ? page + MEW_STACK_FOREIGN_BYTES
								  : scan.end;
	}
	return r->hi;
}
