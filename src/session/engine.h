/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: what the two engines are to run.c: one case, or one whole program, from its start to
 * its row in the session.
 */
#ifndef MEW_SESSION_ENGINE_H
#define MEW_SESSION_ENGINE_H

#include "session/dialogue.h"
#include "session/session.h"

/* What is the same for all cases of a run. */
struct mew_run {
	const struct mew_run_options *o;
	struct mew_program program;
	struct mew_session *session;
	void *engine;     /* the engine's own, from open to close */
	int begun;        /* the caller knows the session's head */
	int whole_chosen; /* the filters choose the program, if it is run whole */
};

struct mew_run_engine {
	enum mew_session_kind kind;
	/* Look whether it can work at all, fill session->engine; *ret_engine is handed to the
	 * others. */
	int (*open)(struct mew_run *r, struct mew_error *error);
	void (*close)(struct mew_run *r);
	/* Run item (NULL: the whole program) and fill c, values and row included, as far as the
	 * outcome permits. 0 although the case failed; negative errno for own failures. */
	int (*run_case)(struct mew_run *r, const struct mew_listed_case *item, struct mew_pcase *c,
			struct mew_outcome *ret, struct mew_error *error);
	/* Say by mew_run_note() what holds for all rows; NULL: nothing. */
	void (*describe)(struct mew_run *r);
};

extern const struct mew_run_engine mew_engine_cpu, mew_engine_heap;

/* Label, result and reason of c, as the dialogue ended. 0 or -ENOMEM. */
int mew_run_take_outcome(struct mew_session *s, struct mew_pcase *c, const struct mew_outcome *out);

/*
 * The case's own counters: what was counted over `iterations` becomes a figure of one; rates are by
 * iterations_per_s, and NAN leaves them out (a heap run tells nothing of time). 0 or -ENOMEM.
 */
int mew_run_take_counters(struct mew_session *s, struct mew_pcase *c, const struct mew_outcome *out,
			  uint64_t iterations, double iterations_per_s);

/* printf to the caller's note function. */
void mew_run_note(const struct mew_run_options *o, char kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
