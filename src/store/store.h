/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h: recordings: an SQLite file of sessions, one transaction a case. The schema is a contract
 * (mew-perf-recording(5)). SQLite is named in this part only.
 */
#ifndef MEW_STORE_STORE_H
#define MEW_STORE_STORE_H

#include "base/error.h"
#include "profile/profile.h"

struct mew_store;

enum mew_store_mode { MEW_STORE_READ, MEW_STORE_WRITE /* made when missing */ };

/* Open a recording. NULL: error says why (not a recording, made by a newer version, locked,
 * unwritable, corrupt: path named). Writing survives a killed process: what was committed is there.
 */
struct mew_store *mew_store_open(const char *path, enum mew_store_mode mode,
				 struct mew_error *error);
/* A recording that this one made goes again unless a case was put into it. */
void mew_store_close(struct mew_store *st);

/* Begin a session: its head (no cases). Sets s->id. */
int mew_store_begin(struct mew_store *st, struct mew_session *s, struct mew_error *error);
/* One finished case with its functions, stacks and values, in one transaction. Sets c->id. */
int mew_store_case(struct mew_store *st, const struct mew_session *s, struct mew_pcase *c,
		   struct mew_error *error);
/* The session is complete (a session that was not ended is shown as interrupted). */
int mew_store_end(struct mew_store *st, const struct mew_session *s, struct mew_error *error);

/* Heads of all sessions, newest first: cases and stacks are not loaded. */
typedef void (*mew_store_session_fn)(void *arg, const struct mew_session *head, int complete);
int mew_store_list(struct mew_store *st, mew_store_session_fn fn, void *arg,
		   struct mew_error *error);
/* Cases that a session has so far. Negative errno on failure. */
int64_t mew_store_n_cases(struct mew_store *st, int64_t id, struct mew_error *error);
/* Remove a session and all that is its. -ENOENT: there is none. */
int mew_store_remove(struct mew_store *st, int64_t id, struct mew_error *error);

/* Load a whole session. NULL with -ENOENT: there is none of that id; else the
 * file is damaged, or there is no memory. The caller's. */
struct mew_session *mew_store_load(struct mew_store *st, int64_t id, struct mew_error *error);
/* Id of the newest session of a kind that has at least one case; 0: none; negative errno. */
int64_t mew_store_newest(struct mew_store *st, enum mew_session_kind kind, struct mew_error *error);

#endif
