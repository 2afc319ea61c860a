/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu.h: events as the PMUs in sysfs describe them: "event=0x3c,umask=1" by the bits that
 * <pmu>/format gives each term, or by a name in <pmu>/events. See
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events} of the kernel.
 */
#ifndef MEW_KERNEL_PMU_H
#define MEW_KERNEL_PMU_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/error.h"
#include "kernel/spec.h"

#define MEW_PMU_DIR "/sys/bus/event_source/devices"

/* pmu and terms as n bytes each. Sets type and config* of ret. 0, or -EINVAL:
 * error names the term. */
int mew_pmu_parse(const char *pmu, size_t n_pmu, const char *terms, size_t n_terms,
		  mew_spec_read_fn read, void *arg, struct perf_event_attr *ret,
		  struct mew_error *error);

/*
 * Numbers and ranges as the kernel writes them, "0-3,8": fn is called once each range. 0, -EINVAL
 * (not such a list, or a range that goes down), or what fn returned, if not 0.
 */
typedef int (*mew_range_fn)(void *arg, unsigned from, unsigned to);
int mew_ranges_parse(const char *text, mew_range_fn fn, void *arg);

#endif
