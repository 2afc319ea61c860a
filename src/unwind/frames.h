/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h: a section of call frame information (.eh_frame, .debug_frame) by itself, in an ELF
 * image in memory that libdw may read: without .eh_frame_hdr, which it would trust, and without the
 * entries that would cost it too much (program.h). Knows what an FDE covers, not what it says.
 */
#ifndef MEW_UNWIND_FRAMES_H
#define MEW_UNWIND_FRAMES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mew_frames {
	Elf *elf;       /* owned; has that section alone */
	uint8_t *image; /* owned; of elf */
	Elf_Data data;  /* the section, in image */
	uint64_t vaddr;
	bool eh;           /* .eh_frame, not .debug_frame */
	uint64_t last_off; /* of the entry before; -1: none */
	/* of the CIE read last */
	uint64_t cie_off; /* -1: none */
	uint8_t encoding; /* of its FDEs' addresses */
	bool sized;       /* its FDEs say the length of their augmentation */
	bool safe;        /* its program may be run */
	size_t n_ops;     /* that it has */
};

/* The addresses of an FDE. */
struct mew_frames_range {
	uint64_t lo, hi; /* vaddr */
	size_t n_ops;    /* instructions, with the CIE's */
};

/*
 * A copy of the n bytes at section, which lie at vaddr. 0 or -ENOMEM. mew_frames_done takes
 * what is zeroed or half done, too.
 */
int mew_frames_open(struct mew_frames *f, bool eh, const void *section, size_t n, uint64_t vaddr);
void mew_frames_done(struct mew_frames *f);

/* Makes sure that what libdw comes upon is what mew_frames_next sees. 0, or -EBADMSG: it is made to
 * deceive. Before the first mew_frames_next. */
int mew_frames_clean(struct mew_frames *f);

enum mew_frames_entry {
	MEW_FRAMES_END,
	MEW_FRAMES_FDE,
	MEW_FRAMES_OTHER, /* a CIE, or none */
	MEW_FRAMES_BAD,   /* cannot be read: now it covers nothing */
};

/* The entry at *off (0 to begin with), which moves on; *ret is set for an FDE. To be read to the
 * end before libdw gets elf. */
enum mew_frames_entry mew_frames_next(struct mew_frames *f, uint64_t *off,
				      struct mew_frames_range *ret);

#endif
