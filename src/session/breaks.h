/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaks.h: how the walks of one case ended, and for those that broke, where and why: counted as
 * they come, said to the person when the case is over.
 */
#ifndef MEW_SESSION_BREAKS_H
#define MEW_SESSION_BREAKS_H

#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "unwind/modules.h"
#include "unwind/walk.h"

/* Stacks that broke in one module for one reason. */
struct mew_break {
	char *module; /* its path, owned; "": in code of no file */
	enum mew_walk_end why;
	uint64_t n;
};

/* Zeroed to start. */
struct mew_breaks {
	uint64_t n[MEW_WALK_ENDS]; /* walks by how they ended */
	uint64_t n_stacks, n_broken;
	uint64_t n_coroutines;      /* whole, but of a stack that the loop's thread made itself */
	uint64_t n_stacks_by_fp;    /* with a frame that was left by the frame pointer alone */
	uint64_t n_unread;          /* of the broken: in no figure but n_stacks */
	uint64_t n_frames, n_by_fp; /* walked; and of these, left by the frame pointer alone */
	uint64_t need_bytes;      /* the most that a whole stack had between its sp and its root */
	struct mew_break *places; /* owned */
	size_t n_places, cap_places;
};

/* A walk has ended. broken: not where it should. 0 or -ENOMEM. */
int mew_breaks_add(struct mew_breaks *b, const struct mew_modules *m,
		   const struct mew_walk_result *w, int broken);

/* The program's stack could not be read, of a sample in the kernel: broken. */
void mew_breaks_unread(struct mew_breaks *b);

/* n stacks broke at pc, at time_ns or (0) now. 0 or -ENOMEM. */
int mew_breaks_at(struct mew_breaks *b, const struct mew_modules *m, uint64_t pc, uint64_t time_ns,
		  enum mew_walk_end why, uint64_t n);

/* Nothing is counted, as to start. */
void mew_breaks_done(struct mew_breaks *b);

/*
 * Notes: where stacks broke, most of them first, when they are many or o->verbose; and then, how
 * all walks ended. n_misses: look-ups that the cache of rules did not have.
 */
void mew_breaks_say(const struct mew_breaks *b, const struct mew_run_options *o, const char *key,
		    uint64_t n_misses);

#endif
