/* SPDX-License-Identifier: Apache-2.0 */
/* pfm.h: the names that libpfm4 knows (the vendor's own events of this CPU). libpfm4 is named only
 * in its source. */
#ifndef MEW_KERNEL_PFM_H
#define MEW_KERNEL_PFM_H

#include "base/error.h"
#include "kernel/event.h"
#include "kernel/spec.h"

/* 0; -ENOENT: not a name of libpfm4's; -EINVAL: it is, and error tells the fault. */
int mew_pfm_find(const char *name, struct mew_spec *ret, struct mew_error *error);

/* Each event, and event with unit mask, of the PMUs that this machine has and that matches glob
 * (NULL: all). 0, -EIO: libpfm4 does not start. */
int mew_pfm_list(const char *glob, mew_event_name_fn fn, void *arg, struct mew_error *error);

#endif
