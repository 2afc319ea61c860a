/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h: messages to the person, on stderr: "mew-perf: warning: ...", one write() a line, control
 * characters escaped; and the line that shows progress on a terminal.
 */
#ifndef MEW_PERF_SAY_H
#define MEW_PERF_SAY_H

/* quiet: only errors are said. */
void mew_say_quiet(int quiet);

/* An error is always said; what follows it as a hint, too. */
void mew_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mew_say_error_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mew_say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mew_say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mew_say_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replace the progress line; nothing when stderr is no terminal. NULL takes it away. */
void mew_say_progress(const char *line);

#endif
