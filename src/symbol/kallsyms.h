/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.h: the functions of the running kernel, as /proc/kallsyms lists them: lines of "ADDRESS
 * TYPE NAME" and, of what was loaded into it, a tab and "[MODULE]" (proc(5); kernel/kallsyms.c).
 * There are no sizes, so how far a function reaches is worked out, and rather too short than too
 * far. The file is not trusted: what is no such line is passed over. Knows no samples.
 */
#ifndef MEW_SYMBOL_KALLSYMS_H
#define MEW_SYMBOL_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#define MEW_KALLSYMS_PATH "/proc/kallsyms"
#define MEW_KALLSYMS_NAME 1024 /* bytes of a name; longer ones are cut */
#define MEW_KALLSYMS_PAGE 4096u

struct mew_kallsyms_entry {
	uint64_t lo, hi;    /* pc; hi: the first that is not its own any more */
	const char *name;   /* in the text, as it is there */
	const char *module; /* in the text, "[ext4]"; "" is the kernel itself */
	size_t line;
};

/* Zeroed: no names. */
struct mew_kallsyms {
	char *text;                         /* owned */
	struct mew_kallsyms_entry *entries; /* owned; sorted by lo, one an address */
	size_t n, cap;
};

/*
 * Reads the file at path. 0; -EACCES: it may not be opened, or shows all addresses as 0
 * (kernel.kptr_restrict, for all that have not CAP_SYSLOG or, when it is 2, for everybody); -ENOENT
 * or another errno: it is not there, or is no such file; -ENOMEM.
 */
int mew_kallsyms_read(const char *path, struct mew_kallsyms *ret);
void mew_kallsyms_done(struct mew_kallsyms *k);

/* Takes text (malloc'ed, of n bytes and a NUL), also on failure. 0; -EACCES: no address but 0;
 * -ENOENT: no function; -ENOMEM. */
int mew_kallsyms_parse(char *text, size_t n, struct mew_kallsyms *ret);

/*
 * What is at pc, or NULL. A function reaches to the next one. The last before _etext ends there,
 * what is above _etext (code of the start, which is gone) has no names. The last of a module ends
 * with its page, as does every generated program (module "[bpf]" or "[__builtin__...]"): what comes
 * next may be anybody's.
 */
const struct mew_kallsyms_entry *mew_kallsyms_find(const struct mew_kallsyms *k, uint64_t pc);

#endif
