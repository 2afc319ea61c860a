/* SPDX-License-Identifier: Apache-2.0 */
/* sysctl.h: the numbers and texts that the kernel shows in little files. */
#ifndef MEW_KERNEL_SYSCTL_H
#define MEW_KERNEL_SYSCTL_H

#include <stddef.h>
#include <stdint.h>

/* The number in /proc/sys/<name>, or otherwise when it cannot be read. */
int64_t mew_sysctl_read(const char *name, int64_t otherwise);

/* The text of a small file without its last newline into buf, NUL-terminated. Its length; -EFBIG
 * when it does not fit, -errno. */
int mew_sysfs_read(const char *path, char *buf, size_t cap);

#endif
