/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: run a program under one of the two engines and fill a session: start a process a case,
 * talk to it, drain its rings or read its heap segment, unwind, symbolise, account. Never prints:
 * cases and messages go to the caller's functions.
 */
#ifndef MEW_SESSION_SESSION_H
#define MEW_SESSION_SESSION_H

#include <signal.h>
#include <stdint.h>

#include "base/error.h"
#include "channel/message.h"
#include "profile/profile.h"

struct mew_run_options {
	char *const *argv;          /* program and arguments, NULL at the end */
	const char *const *filters; /* POSIX extended regular expressions on key and label; a
				     * leading '-' excludes */
	size_t n_filters;
	uint64_t iterations;  /* 0: the default of the engine */
	uint64_t warm_up;     /* heap; UINT64_MAX: max(1, iterations / 10) */
	unsigned repetitions; /* of the whole set of cases, 1 or more */
	double timeout_s;     /* of a case; 0: none */
	double interval_s;    /* cpu; 0: adapt from 100 us */
	uint64_t count;       /* cpu: exact period of the event; 0: by interval */
	uint32_t heap_flags;  /* heap; enum mew_heap_flags */
	const char *event;    /* cpu; NULL: the best there is */
	uint32_t stack_bytes; /* cpu; 0: default */
	enum mew_pause_mode pause;
	int verbose; /* notes on what is usually not worth one */
	const char *tag;
	const char *heap_library;                 /* path of libmew-heap.so */
	const volatile sig_atomic_t *interrupted; /* set by the caller's signal handler: end soon,
						   * keep what is finished. NULL: never */
	/* Called once, when the first case has ended: a session has a case. Not 0: give up with
	 * that error. */
	int (*begin)(void *arg, struct mew_session *s, struct mew_error *error);
	/* Called as each case ends, in order. Not 0: give up with that error. */
	int (*finished)(void *arg, struct mew_session *s, struct mew_pcase *c,
			struct mew_error *error);
	/* A case begins (progress): index from 0, of n. */
	void (*starting)(void *arg, const char *key, const char *label, size_t index, size_t n);
	/* One line for the person: kind 'n' note, 'w' warning, 'h' hint. */
	void (*note)(void *arg, char kind, const char *line);
	void *arg;
};

/* What the program is, before it runs. */
enum mew_program_kind {
	MEW_PROGRAM_BENCHMARK, /* carries the note of mew.h */
	MEW_PROGRAM_OTHER,     /* an ELF program, or a script */
};

struct mew_program {
	char *path; /* absolute, found on PATH; the caller's: free by mew_program_done */
	enum mew_program_kind kind;
	int is_static, is_setuid, is_sanitized, is_script;
	char build_id[129]; /* hex; "" none */
};

/* Find and look at a program without running it. -ENOENT: not found (exit 127); -EACCES, -ENOEXEC:
 * cannot run (126). */
int mew_program_inspect(const char *name, struct mew_program *ret, struct mew_error *error);
void mew_program_done(struct mew_program *p);

/* One case as the program lists it. */
struct mew_listed_case {
	char key[MEW_KEY_BYTES], label[MEW_LABEL_BYTES];
	uint32_t index, n_threads;
};
/* Ask a benchmark for its cases. *ret is malloc'ed, the caller's. -EPROTO: it is no benchmark of
 * ours. */
int mew_session_list(char *const *argv, struct mew_listed_case **ret, size_t *ret_n,
		     struct mew_error *error);

/*
 * Run. *ret is the session with all cases that finished, also after a failure (NULL only when it
 * never began); the caller's. 0; -ENOENT: filters match nothing (the text lists the keys: exit 2);
 * -ENOEXEC: it was found but cannot be run (126); -EINTR: interrupted; else own failures. A case
 * that fails is no failure of the run: its result says so.
 */
int mew_session_cpu(const struct mew_run_options *o, struct mew_session **ret,
		    struct mew_error *error);
int mew_session_heap(const struct mew_run_options *o, struct mew_session **ret,
		     struct mew_error *error);

#endif
