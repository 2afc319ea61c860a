/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "unwind/frames.h"

#define VADDR 0x2000

/* A section as it is built: little endian, entries padded by no instructions. */
struct section {
	uint8_t bytes[512];
	size_t n;
};

static void put(struct section *s, uint64_t value, size_t bytes)
{
	memcpy(s->bytes + s->n, &value, bytes);
	s->n += bytes;
}

static size_t begin(struct section *s)
{
	put(s, 0, 4);
	return s->n;
}

static void end(struct section *s, size_t start)
{
	uint32_t n;

	while ((s->n - start) % 4)
		put(s, DW_CFA_nop, 1);
	n = (uint32_t)(s->n - start);
	memcpy(s->bytes + start - 4, &n, sizeof(n));
}

/* "zR", addresses of 4 bytes relative to themselves; CFA = r7 + 8, RA at CFA - 8. Its offset. */
static size_t put_cie(struct section *s)
{
	size_t start = begin(s);

	put(s, 0, 4);
	put(s, 1, 1);
	memcpy(s->bytes + s->n, "zR", 3);
	s->n += 3;
	put(s, 1, 1);
	put(s, 0x78, 1);
	put(s, 16, 1);
	put(s, 1, 1);
	put(s, 0x1b, 1);
	put(s, DW_CFA_def_cfa | 7 << 8 | 8 << 16, 3);
	put(s, (DW_CFA_offset | 16) | 1 << 8, 2);
	end(s, start);
	return start - 4;
}

/* Covers [lo, lo + bytes). */
static void put_fde(struct section *s, size_t cie, uint64_t lo, uint32_t bytes, uint64_t program,
		    size_t n)
{
	size_t start = begin(s);

	put(s, start - cie, 4);
	put(s, lo - VADDR - s->n, 4);
	put(s, bytes, 4);
	put(s, 0, 1);
	put(s, program, n);
	end(s, start);
}

static void open_it(struct mew_frames *f, const struct section *s)
{
	elf_version(EV_CURRENT);
	assert_int_equal(mew_frames_open(f, true, s->bytes, s->n, VADDR), 0);
}

/* Whether libdw finds a row for vaddr. */
static bool has_row(struct mew_frames *f, uint64_t vaddr)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(f->elf);
	Dwarf_Frame *frame = NULL;
	bool found = cfi && !dwarf_cfi_addrframe(cfi, vaddr, &frame);

	free(frame);
	if (cfi)
		dwarf_cfi_end(cfi);
	return found;
}

static void entries_are_given_with_their_addresses(void **state)
{
	struct section s = {.n = 0};
	struct mew_frames f;
	struct mew_frames_range r = {0};
	uint64_t off = 0;
	size_t cie;

	(void)state;
	cie = put_cie(&s);
	put_fde(&s, cie, 0x1000, 0x40, DW_CFA_advance_loc | 1, 1);
	put(&s, 0, 4);
	open_it(&f, &s);
	assert_int_equal(mew_frames_clean(&f), 0);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_OTHER);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_FDE);
	assert_int_equal(r.lo, 0x1000);
	assert_int_equal(r.hi, 0x1040);
	assert_true(r.n_ops >= 3);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_END);
	assert_true(has_row(&f, 0x1020));
	mew_frames_done(&f);
}

static void a_terminator_in_the_middle_ends_nothing(void **state)
{
	struct section s = {.n = 0};
	struct mew_frames f;
	size_t cie;

	(void)state;
	cie = put_cie(&s);
	put_fde(&s, cie, 0x1000, 0x40, 0, 1);
	put(&s, 0, 4);
	put(&s, 0, 4);
	put_fde(&s, cie, 0x1080, 0x40, 0, 1);
	put(&s, 0, 4);
	open_it(&f, &s);
	assert_false(has_row(&f, 0x1090));
	assert_int_equal(mew_frames_clean(&f), 0);
	assert_true(has_row(&f, 0x1010));
	assert_true(has_row(&f, 0x1090));
	mew_frames_done(&f);
}

static void what_is_too_dear_for_libdw_is_blanked(void **state)
{
	const uint64_t dear = DW_CFA_undefined | 0x3fffff << 8; /* register 0xfffff */
	struct section s = {.n = 0};
	struct mew_frames_range r;
	struct mew_frames f;
	uint64_t off = 0;
	size_t cie;

	(void)state;
	cie = put_cie(&s);
	put_fde(&s, cie, 0x1000, 0x40, dear | 0x80808000 >> 8 << 8, 4);
	put_fde(&s, cie, 0x1040, 0x40, 0, 1);
	put(&s, 0, 4);
	open_it(&f, &s);
	assert_true(has_row(&f, 0x1010));
	assert_int_equal(mew_frames_clean(&f), 0);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_OTHER);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_BAD);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_FDE);
	assert_int_equal(r.lo, 0x1040);
	assert_false(has_row(&f, 0x1010));
	assert_true(has_row(&f, 0x1050));
	mew_frames_done(&f);
}

static void put_debug_cie(struct section *s)
{
	size_t start = begin(s);

	put(s, UINT32_MAX, 4);
	put(s, 1, 1);
	put(s, 0, 1);
	put(s, 1, 1);
	put(s, 0x78, 1);
	put(s, 16, 1);
	put(s, DW_CFA_def_cfa | 7 << 8 | 8 << 16, 3);
	end(s, start);
}

/* In .debug_frame an FDE may come first. Its CIE here lies inside of an entry that is blanked: read
 * again, it says another thing. */
static void a_cie_inside_of_a_bad_entry_is_refused(void **state)
{
	struct section s = {.n = 0};
	struct mew_frames f;
	size_t start, cie;

	(void)state;
	put_debug_cie(&s);
	start = begin(&s);
	cie = s.n;
	put(&s, 0, 4);
	put(&s, 0x1000, 8);
	put(&s, 0x40, 8);
	end(&s, start);
	start = begin(&s);
	put(&s, 0, 4);
	put(&s, 0x1100, 8);
	put(&s, 0x40, 8);
	put(&s, 0x3c3c3c3c, 4); /* unknown instructions */
	memcpy(s.bytes + cie, &s.n, 4);
	put_debug_cie(&s);
	end(&s, start);
	put(&s, 0, 8);
	assert_int_equal(mew_frames_open(&f, false, s.bytes, s.n, 0), 0);
	assert_int_equal(mew_frames_clean(&f), -EBADMSG);
	mew_frames_done(&f);
}

static void nothing_is_an_end(void **state)
{
	struct section s = {.n = 0};
	struct mew_frames_range r;
	struct mew_frames f;
	uint64_t off = 0;

	(void)state;
	put(&s, 0, 4);
	open_it(&f, &s);
	assert_int_equal(mew_frames_clean(&f), 0);
	assert_int_equal(mew_frames_next(&f, &off, &r), MEW_FRAMES_END);
	mew_frames_done(&f);
	mew_frames_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_given_with_their_addresses),
		cmocka_unit_test(a_terminator_in_the_middle_ends_nothing),
		cmocka_unit_test(what_is_too_dear_for_libdw_is_blanked),
		cmocka_unit_test(a_cie_inside_of_a_bad_entry_is_refused),
		cmocka_unit_test(nothing_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
