/* SPDX-License-Identifier: Apache-2.0 */
/* package.h: the Debian package that installed a file, by dpkg's lists of files. Runs nothing. */
#ifndef MEW_SYMBOL_PACKAGE_H
#define MEW_SYMBOL_PACKAGE_H

#include "base/buffer.h"

/*
 * Appends the name of the package, without its architecture. lists: dpkg's directory, such as
 * "/var/lib/dpkg/info": a text PACKAGE[:ARCH].list of paths for each package. A path below /usr may
 * be listed without it, as / and /usr are merged. 0; -ENOENT: none has it; other negative errno.
 */
int mew_package_of(const char *lists, const char *path, struct mew_buffer *out);

#endif
