/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/say.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/commit.h"
#include "base/text.h"

void mew_say(const char *kind, const char *format, ...)
{
	struct mew_buffer text = MEW_BUFFER_INIT, line = MEW_BUFFER_INIT;
	va_list ap;

	mew_buffer_printf(&text, "%s: ", program_invocation_short_name);
	if (kind)
		mew_buffer_printf(&text, "%s: ", kind);
	va_start(ap, format);
	mew_buffer_vprintf(&text, format, ap);
	va_end(ap);
	mew_text_escape(&line, text.data);
	mew_buffer_putc(&line, '\n');
	mew_write_all(STDERR_FILENO, line.data, line.len);
	mew_buffer_done(&line);
	mew_buffer_done(&text);
}
