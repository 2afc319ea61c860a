/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.h: one process image that carries the heap hook, as mew-perf sees it: its segment, its
 * tables, its questions for tables; and at the end its stacks as values of a case.
 */
#ifndef MEW_SESSION_HOOK_H
#define MEW_SESSION_HOOK_H

#include <sys/types.h>

#include "channel/segment.h"
#include "profile/profile.h"
#include "session/breaks.h"
#include "session/memory.h"
#include "symbol/executable.h"
#include "symbol/symbol.h"
#include "unwind/modules.h"

struct mew_hook {
	pid_t pid;
	int sock, maps_fd; /* -1: closed */
	struct mew_memory segment, table;
	struct mew_modules *modules;
	struct mew_symbols *symbols;      /* made by mew_hook_values */
	struct mew_executable executable; /* what its file says, when is_known */
	int is_known;
	int smaps_fd;                    /* -1: none */
	uint64_t base_bytes, most_bytes; /* of anonymous memory: given when that was read first,
					    and touched at most since */
	char *warning; /* first table that could not be made, or NULL; malloc'ed */
};

/* Answer its HELLO: it may record, as flags (enum mew_heap_flags) say. sock and maps_fd become the
 * hook's, also on failure. */
int mew_hook_open(struct mew_hook *h, int sock, pid_t pid, int maps_fd, int whole, uint32_t flags,
		  struct mew_error *error);
void mew_hook_close(struct mew_hook *h);

/* Its socket is readable: answer. Never fails: a hook that went away is closed. */
void mew_hook_ready(struct mew_hook *h);

/* Reads what it has mapped now: what asks for no table is seen by this alone. */
void mew_hook_look(struct mew_hook *h);

/* Measures its memory: when all that malloc gives is counted from then on, and when it was up to
 * then. Where it cannot be read, none is known. */
void mew_hook_weigh_first(struct mew_hook *h);
void mew_hook_weigh(struct mew_hook *h);

/* Bytes that it took between these, at the least, and not by malloc: when they are more than
 * malloc's. 0: they are not. At the end. */
uint64_t mew_hook_unseen(const struct mew_hook *h);

const struct mew_segment *mew_hook_segment(const struct mew_hook *h);

enum mew_hook_with {
	MEW_HOOK_PEAK = 1,
	MEW_HOOK_HELD = 2,
};

/*
 * All its stacks become values of the case (peaks and what is held only when asked for). A stack's
 * leaf is the allocation function that was called. Those that broke are added to breaks, whose
 * modules stay the hook's. 0, -ENOMEM, -EPROTO (indices that cannot be).
 */
int mew_hook_values(struct mew_hook *h, struct mew_session *s, struct mew_pcase *c, unsigned with,
		    struct mew_breaks *breaks, struct mew_error *error);

#endif
