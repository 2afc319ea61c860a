/* SPDX-License-Identifier: Apache-2.0 */
/* say.h: a benchmark program's words to its user: results to stdout, messages to stderr. */
#ifndef MEW_BENCH_SAY_H
#define MEW_BENCH_SAY_H

/*
 * One line to stderr, in one write: "PROGRAM: text", or "PROGRAM: warning: text" for kind
 * "warning". What would disturb a terminal is escaped.
 */
void mew_say(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
