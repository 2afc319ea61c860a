/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "session/engine.h"
#include "session/lack.h"
#include "symbol/debuginfod.h"
#include "symbol/symbol.h"

/* A file without debug info is none of these: the notes of the session tell how much it matters. */
static const struct {
	const char *warning, *hint;
} texts[] = {
	[MEW_LACK_SPLIT] = {"its debug info is split, and the .dwo files are not where they were "
			    "made: its functions are by symbol table",
			    "keep the .dwo files, or build without -gsplit-dwarf (.dwp files are "
			    "not read)"},
	[MEW_LACK_PART] = {"the file that dwz moved a part of its debug info to is not there: some "
			   "of its functions are by symbol table",
			   "install its debug symbols once more, whole"},
	[MEW_LACK_REPLACED] = {"was replaced or written over since the program mapped it: its "
			       "functions have no names",
			       "build into a new file, not over one that runs"},
	[MEW_LACK_HIDDEN] = {"the kernel does not show where its functions are: they have no names",
			     "sysctl kernel.kptr_restrict=0 shows it to root, and with "
			     "kernel.perf_event_paranoid=1 to others"},
	[MEW_LACK_KALLSYMS] = {"/proc/kallsyms cannot be read: functions of the kernel have no "
			       "names",
			       NULL},
	[MEW_LACK_UNREADABLE] = {"it, or its debug info, is damaged or packed in an unknown way: "
				 "not all its functions have names and lines",
				 NULL},
};

static void say(void *arg, const char *path, enum mew_symbol_lack lack, uint64_t n_lookups)
{
	const struct mew_run_options *o = arg;

	(void)n_lookups;
	if (lack >= sizeof texts / sizeof *texts || !texts[lack].warning)
		return;
	mew_run_note(o, 'w', "'%s': %s", path, texts[lack].warning);
	if (texts[lack].hint)
		mew_run_note(o, 'h', "%s", texts[lack].hint);
}

void mew_lacks_note(const struct mew_run_options *o)
{
	mew_symbols_lacks(say, (void *)(uintptr_t)o);
	if (mew_debuginfod_failed())
		mew_run_note(o, 'w', "a debuginfod server failed and was asked no more: %s",
			     strerror(mew_debuginfod_failed()));
}
