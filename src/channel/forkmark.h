/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forkmark.h: a word that reads 1 in the process that made it and 0 in its forked children, because
 * the kernel wipes its page there (MADV_WIPEONFORK, Linux 4.14). Costs one load to test and takes
 * no lock, so that harness and heap hook can test it on every call. A vfork child shares its
 * parent's memory and reads 1.
 */
#ifndef MEW_CHANNEL_FORKMARK_H
#define MEW_CHANNEL_FORKMARK_H

struct mew_forkmark {
	unsigned *word; /* in a page of its own; NULL before open. Not to be written */
};

/* Make the mark in this process. No allocation but a mmap. 0, or -errno (-EINVAL: the kernel cannot
 * wipe on fork). */
int mew_forkmark_open(struct mew_forkmark *m);

/* Unmap. NULL, zeroed and closed marks are fine. */
void mew_forkmark_close(struct mew_forkmark *m);

/* 1: this is the process that opened the mark; 0: a forked child of it, or the mark is not open. */
static inline int mew_forkmark_ours(const struct mew_forkmark *m)
{
	return m->word != 0 && __atomic_load_n(m->word, __ATOMIC_RELAXED) != 0;
}

#endif
