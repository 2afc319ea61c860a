/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"
#include "say.h"

static int is_quiet;
static int progress_shown;

void mew_say_quiet(int quiet)
{
	is_quiet = quiet;
}

/* One write() a message, so that lines of several processes do not mix. A failure has no place to
 * go. */
static void put(const struct mew_buffer *b)
{
	ssize_t n = write(STDERR_FILENO, b->data, b->len);

	(void)n;
}

static void clear_progress(struct mew_buffer *b)
{
	if (progress_shown)
		mew_buffer_puts(b, "\r\033[K");
	progress_shown = 0;
}

/* One line, also when a name in it has more. */
static void say(const char *kind, const char *format, va_list ap)
{
	struct mew_buffer text = MEW_BUFFER_INIT, out = MEW_BUFFER_INIT;

	mew_buffer_vprintf(&text, format, ap);
	clear_progress(&out);
	mew_buffer_printf(&out, "mew-perf: %s", kind);
	mew_text_escape(&out, text.data);
	mew_buffer_putc(&out, '\n');
	if (text.error || out.error)
		dprintf(STDERR_FILENO, "mew-perf: out of memory\n");
	else
		put(&out);
	mew_buffer_done(&text);
	mew_buffer_done(&out);
}

#define SAY(name, kind, when)                                                                      \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (!(when))                                                                       \
			return;                                                                    \
		va_start(ap, format);                                                              \
		say(kind, format, ap);                                                             \
		va_end(ap);                                                                        \
	}
SAY(mew_say_error, "", 1)
SAY(mew_say_error_hint, "hint: ", 1)
SAY(mew_say_warning, "warning: ", !is_quiet)
SAY(mew_say_note, "", !is_quiet)
SAY(mew_say_hint, "hint: ", !is_quiet)

void mew_say_progress(const char *line)
{
	struct mew_buffer text = MEW_BUFFER_INIT, out = MEW_BUFFER_INIT;
	struct winsize size = {0};

	if (is_quiet || !isatty(STDERR_FILENO))
		return;
	clear_progress(&out);
	if (line) {
		ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
		mew_text_escape(&text, line);
		/* A line that wraps could not be taken away again. */
		mew_text_shorten(&out, text.data, size.ws_col > 1 ? size.ws_col - 1u : 79, NULL);
		progress_shown = 1;
	}
	if (!text.error && !out.error)
		put(&out);
	mew_buffer_done(&text);
	mew_buffer_done(&out);
}
