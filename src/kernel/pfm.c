/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/pfm.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the kernel's header, so that libpfm4 does not declare the attr a second time. */
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

static int init_rc;

static void init(void)
{
	init_rc = pfm_initialize();
}

/* Keeps its tables until the program ends: there is no use in starting it twice. */
static int start(struct mew_error *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init);
	if (init_rc != PFM_SUCCESS)
		return mew_error_set(error, -EIO, "libpfm4 does not start: %s",
				     pfm_strerror(init_rc));
	return 0;
}

/* Whether one of the parts behind a ':' is modifier m, alone or with a value. */
static int has_modifier(const char *name, char m)
{
	while ((name = strchr(name, ':'))) {
		name++;
		if (*name == m && (!name[1] || name[1] == ':' || name[1] == '='))
			return 1;
	}
	return 0;
}

int mew_pfm_find(const char *name, struct mew_spec *ret, struct mew_error *error)
{
	struct mew_spec spec = {.what = {.size = sizeof(spec.what)}};
	pfm_perf_encode_arg_t arg = {.attr = &spec.what, .size = sizeof(arg), .cpu = -1};
	int rc = start(error);

	if (rc)
		return rc;
	rc = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (rc == PFM_ERR_NOTFOUND)
		return mew_error_set(error, -ENOENT, "no event is called '%s'", name);
	if (rc != PFM_SUCCESS)
		return mew_error_set(error, -EINVAL, "event '%s': %s", name, pfm_strerror(rc));
	if (spec.what.freq)
		return mew_error_set(error, -EINVAL,
				     "event '%s': a frequency is given by the interval, not here",
				     name);
	spec.side_given =
		has_modifier(name, 'u') || has_modifier(name, 'k') || has_modifier(name, 'h');
	rc = mew_spec_show(&spec, name, strlen(name), ":", "", error);
	if (!rc)
		rc = mew_spec_settle(&spec, error);
	if (!rc)
		*ret = spec;
	return rc;
}

static void list_name(const char *glob, const char *event, const char *mask, const char *summary,
		      mew_event_name_fn fn, void *arg)
{
	char name[256];
	int n = snprintf(name, sizeof(name), "%s%s%s", event, mask ? ":" : "", mask ? mask : "");

	if (n > 0 && (size_t)n < sizeof(name) && (!glob || !fnmatch(glob, name, 0)))
		fn(arg, name, summary);
}

static void list_event(const char *glob, const pfm_event_info_t *e, mew_event_name_fn fn, void *arg)
{
	int masks = 0;

	for (int i = 0; i < e->nattrs; i++) {
		pfm_event_attr_info_t a = {.size = sizeof(a)};

		if (pfm_get_event_attr_info(e->idx, i, PFM_OS_PERF_EVENT_EXT, &a) != PFM_SUCCESS ||
		    a.type != PFM_ATTR_UMASK)
			continue;
		masks = 1;
		list_name(glob, e->name, a.name, a.desc, fn, arg);
	}
	if (!masks)
		list_name(glob, e->name, NULL, e->desc, fn, arg);
}

int mew_pfm_list(const char *glob, mew_event_name_fn fn, void *arg, struct mew_error *error)
{
	int pmu, rc = start(error);

	if (rc)
		return rc;
	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t info = {.size = sizeof(info)};

		/* The generic ones are perf's own names again. */
		if (pmu == PFM_PMU_PERF_EVENT || pmu == PFM_PMU_PERF_EVENT_RAW ||
		    pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS || !info.is_present)
			continue;
		for (int i = info.first_event; i >= 0; i = pfm_get_event_next(i)) {
			pfm_event_info_t e = {.size = sizeof(e)};

			if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &e) == PFM_SUCCESS)
				list_event(glob, &e, fn, arg);
		}
	}
	return 0;
}
