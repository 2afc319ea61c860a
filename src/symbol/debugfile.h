/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugfile.h: where the separate debug information of an ELF file lies on this machine: by
 * build-id, then by .gnu_debuglink, in /usr/lib/debug or the directories that MEW_DEBUG_DIR
 * names, parted by colons; then on debuginfod servers, if they are to be asked (debuginfod.h).
 */
#ifndef MEW_SYMBOL_DEBUGFILE_H
#define MEW_SYMBOL_DEBUGFILE_H

#include <libelf.h>

/*
 * Opens the debug file of elf, which is the file at path. What is opened has the same build-id, or,
 * where there is none, the check sum that the link names. Its descriptor, the caller's; or -ENOENT,
 * -ENOMEM.
 */
int mew_debugfile_open(Elf *elf, const char *path);

#endif
