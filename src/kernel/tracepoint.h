/* SPDX-License-Identifier: Apache-2.0 */
/* tracepoint.h: tracepoints by name, from a tracefs that is mounted already (none is mounted here).
 * libtracefs and libtraceevent are named only in its source. */
#ifndef MEW_KERNEL_TRACEPOINT_H
#define MEW_KERNEL_TRACEPOINT_H

#include <stdint.h>

#include "base/error.h"
#include "kernel/event.h"

/* The id of system:event, for perf_event_attr.config. 0; -ENXIO: there is none; -ENOENT:
 * tracefs is not mounted, -EACCES: it cannot be read: error says what to type. */
int mew_tracepoint_find(const char *system, const char *event, uint64_t *ret_id,
			struct mew_error *error);

/* Each tracepoint that matches glob (NULL: all) as "system:event", with its fields as the summary.
 * 0; -ENOENT, -EACCES as above, -ENOMEM. */
int mew_tracepoint_list(const char *glob, mew_event_name_fn fn, void *arg, struct mew_error *error);

#endif
