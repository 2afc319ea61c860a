/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernel/pmu.h"

struct plain {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* The first name of a config is the one to list. */
static const struct plain plains[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
};

struct alias {
	const char *name;
	uint64_t value;
};

/* A longer alias before one that it begins with. The first of a value is the one to list. */
static const struct alias caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-data", PERF_COUNT_HW_CACHE_L1D},
	{"l1-d", PERF_COUNT_HW_CACHE_L1D},      {"l1d", PERF_COUNT_HW_CACHE_L1D},
	{"L1-icache", PERF_COUNT_HW_CACHE_L1I}, {"L1-instruction", PERF_COUNT_HW_CACHE_L1I},
	{"l1-i", PERF_COUNT_HW_CACHE_L1I},      {"l1i", PERF_COUNT_HW_CACHE_L1I},
	{"LLC", PERF_COUNT_HW_CACHE_LL},        {"L2", PERF_COUNT_HW_CACHE_LL},
	{"dTLB", PERF_COUNT_HW_CACHE_DTLB},     {"d-tlb", PERF_COUNT_HW_CACHE_DTLB},
	{"Data-TLB", PERF_COUNT_HW_CACHE_DTLB}, {"iTLB", PERF_COUNT_HW_CACHE_ITLB},
	{"i-tlb", PERF_COUNT_HW_CACHE_ITLB},    {"Instruction-TLB", PERF_COUNT_HW_CACHE_ITLB},
	{"branch", PERF_COUNT_HW_CACHE_BPU},    {"bpu", PERF_COUNT_HW_CACHE_BPU},
	{"btb", PERF_COUNT_HW_CACHE_BPU},       {"bpc", PERF_COUNT_HW_CACHE_BPU},
	{"node", PERF_COUNT_HW_CACHE_NODE},
};

static const struct alias operations[] = {
	{"loads", PERF_COUNT_HW_CACHE_OP_READ},
	{"load", PERF_COUNT_HW_CACHE_OP_READ},
	{"read", PERF_COUNT_HW_CACHE_OP_READ},
	{"stores", PERF_COUNT_HW_CACHE_OP_WRITE},
	{"store", PERF_COUNT_HW_CACHE_OP_WRITE},
	{"write", PERF_COUNT_HW_CACHE_OP_WRITE},
	{"prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH},
	{"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH},
	{"speculative-read", PERF_COUNT_HW_CACHE_OP_PREFETCH},
	{"speculative-load", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

static const struct alias results[] = {
	{"refs", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"reference", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"ops", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"access", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"misses", PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"miss", PERF_COUNT_HW_CACHE_RESULT_MISS},
};

#define N_OF(array) (sizeof(array) / sizeof(*(array)))

/* Whether *at..end begins with an alias that ends there or at '-': its value, and *at moves behind
 * it and the '-'. -1: none. */
static int64_t take_alias(const char **at, const char *end, const struct alias *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i].name);

		if ((size_t)(end - *at) < len || strncasecmp(*at, list[i].name, len))
			continue;
		if (*at + len < end && (*at)[len] != '-')
			continue;
		*at += len;
		if (*at < end)
			++*at;
		return (int64_t)list[i].value;
	}
	return -1;
}

/* <cache>[-<operation>][-<result>]; loads and accesses unless said. */
static int parse_cache(const char *at, const char *end, struct perf_event_attr *what)
{
	int64_t cache, operation, result;

	if (at == end || end[-1] == '-')
		return -ENOENT;
	cache = take_alias(&at, end, caches, N_OF(caches));
	if (cache < 0)
		return -ENOENT;
	operation = take_alias(&at, end, operations, N_OF(operations));
	result = take_alias(&at, end, results, N_OF(results));
	if (at != end)
		return -ENOENT;
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	what->type = PERF_TYPE_HW_CACHE;
	what->config = (uint64_t)(cache | operation << 8 | result << 16);
	return 0;
}

/* r and hexadecimal digits: the number as the PMU takes it. */
static int parse_raw(const char *at, const char *end, struct perf_event_attr *what)
{
	uint64_t config = 0;

	if (end - at < 2 || end - at > 17 || *at != 'r')
		return -ENOENT;
	for (at++; at < end; at++) {
		if (!isxdigit((unsigned char)*at))
			return -ENOENT;
		config = config << 4 | (uint64_t)(isdigit((unsigned char)*at)
							  ? *at - '0'
							  : tolower((unsigned char)*at) - 'a' + 10);
	}
	what->type = PERF_TYPE_RAW;
	what->config = config;
	return 0;
}

static int parse_plain(const char *at, const char *end, struct perf_event_attr *what)
{
	size_t len = (size_t)(end - at);

	for (size_t i = 0; i < N_OF(plains); i++) {
		if (strlen(plains[i].name) == len && !strncasecmp(plains[i].name, at, len)) {
			what->type = plains[i].type;
			what->config = plains[i].config;
			return 0;
		}
	}
	if (!parse_cache(at, end, what))
		return 0;
	return parse_raw(at, end, what);
}

int mew_spec_modify(const char *modifiers, struct mew_spec *ret, struct mew_error *error)
{
	int user = 0, kernel = 0, hv = 0, host = 0, guest = 0;
	unsigned precise = 0;

	for (const char *m = modifiers; *m; m++) {
		if (*m == 'u')
			user = 1;
		else if (*m == 'k')
			kernel = 1;
		else if (*m == 'h')
			hv = 1;
		else if (*m == 'H')
			host = 1;
		else if (*m == 'G')
			guest = 1;
		else if (*m == 'I')
			ret->what.exclude_idle = 1;
		else if (*m == 'D')
			ret->what.pinned = 1;
		else if (*m == 'e')
			ret->what.exclusive = 1;
		else if (*m == 'P')
			ret->precise_max = 1;
		else if (*m == 'p' && precise < 3)
			ret->what.precise_ip = ++precise;
		else
			return mew_error_set(error, -EINVAL,
					     "event modifier '%c' in '%s' is not one of "
					     "u k h p P H G I D e",
					     *m, modifiers);
	}
	ret->side_given = user || kernel || hv;
	ret->what.exclude_user = ret->side_given && !user;
	ret->what.exclude_kernel = !kernel;
	ret->what.exclude_hv = !hv;
	ret->what.exclude_host = guest && !host;
	ret->what.exclude_guest = host && !guest;
	return 0;
}

static int in_kernel_alone(const struct perf_event_attr *what)
{
	if (what->type == PERF_TYPE_TRACEPOINT)
		return 1;
	return what->type == PERF_TYPE_SOFTWARE &&
	       (what->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		what->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		what->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

int mew_spec_settle(struct mew_spec *spec, struct mew_error *error)
{
	if (!in_kernel_alone(&spec->what))
		return 0;
	if (spec->side_given && spec->what.exclude_kernel)
		return mew_error_set(error, -EINVAL,
				     "event '%s' happens in the kernel alone: leave out the 'u'",
				     spec->shown);
	if (!spec->side_given)
		spec->what.exclude_kernel = 0;
	return 0;
}

int mew_spec_show(struct mew_spec *spec, const char *base, size_t n_base, const char *sep,
		  const char *modifiers, struct mew_error *error)
{
	const char *user = "";
	int n;

	if (!spec->side_given && !in_kernel_alone(&spec->what))
		user = "u";
	if (!*user && !*modifiers && *sep == ':')
		sep = "";
	n = snprintf(spec->shown, sizeof(spec->shown), "%.*s%s%s%s", (int)n_base, base, sep, user,
		     modifiers);
	if (n < 0 || (size_t)n >= sizeof(spec->shown))
		return mew_error_set(error, -EINVAL, "an event's name is longer than %zu bytes",
				     sizeof(spec->shown) - 4);
	return 0;
}

/* pmu/terms/modifiers */
static int parse_pmu(const char *name, mew_spec_read_fn read, void *arg, struct mew_spec *spec,
		     struct mew_error *error)
{
	const char *slash = strchr(name, '/'), *last = strrchr(name, '/');
	const char *modifiers = last + 1 + (last[1] == ':');
	int rc;

	if (last == slash)
		return mew_error_set(error, -EINVAL, "event '%s' lacks its second '/'", name);
	rc = mew_pmu_parse(name, (size_t)(slash - name), slash + 1, (size_t)(last - slash - 1),
			   read, arg, &spec->what, error);
	if (rc)
		return rc;
	rc = mew_spec_modify(modifiers, spec, error);
	if (rc)
		return rc;
	return mew_spec_show(spec, name, (size_t)(last - name), "/", modifiers, error);
}

int mew_spec_parse(const char *name, mew_spec_read_fn read, void *arg, struct mew_spec *ret,
		   struct mew_error *error)
{
	const char *colon = strchr(name, ':'), *end = colon ? colon : name + strlen(name);
	struct mew_spec spec = {.side_given = 0};
	int rc;

	if (strlen(name) >= sizeof(spec.shown))
		return mew_error_set(error, -EINVAL, "an event's name is longer than %zu bytes",
				     sizeof(spec.shown) - 4);
	if (strchr(name, '/')) {
		rc = parse_pmu(name, read, arg, &spec, error);
	} else {
		rc = parse_plain(name, end, &spec.what);
		if (rc)
			return mew_error_set(error, -ENOENT, "no event is called '%s'", name);
		rc = mew_spec_modify(colon ? colon + 1 : "", &spec, error);
		if (!rc)
			rc = mew_spec_show(&spec, name, (size_t)(end - name), ":",
					   colon ? colon + 1 : "", error);
	}
	if (!rc)
		rc = mew_spec_settle(&spec, error);
	if (!rc)
		*ret = spec;
	return rc;
}

static void each_cache(void (*fn)(void *arg, const char *name), void *arg)
{
	static const char *const kinds[] = {"loads",        "load-misses", "stores",
					    "store-misses", "prefetches",  "prefetch-misses"};
	char name[64];

	for (size_t i = 0; i < N_OF(caches); i++) {
		if (i && caches[i].value == caches[i - 1].value)
			continue;
		for (size_t k = 0; k < N_OF(kinds); k++) {
			snprintf(name, sizeof(name), "%s-%s", caches[i].name, kinds[k]);
			fn(arg, name);
		}
	}
}

void mew_spec_each(void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < N_OF(plains); i++) {
		if (!i || plains[i].config != plains[i - 1].config ||
		    plains[i].type != plains[i - 1].type)
			fn(arg, plains[i].name);
	}
	each_cache(fn, arg);
}

int mew_spec_hybrid(struct mew_spec *spec, mew_spec_read_fn read, void *arg)
{
	char text[32], name[MEW_SPEC_NAME_BYTES];
	const char *colon = strchr(spec->shown, ':');
	unsigned long type;
	int n;

	if (spec->what.type != PERF_TYPE_HARDWARE && spec->what.type != PERF_TYPE_HW_CACHE)
		return 0;
	if (read(arg, "cpu_atom/type", text, sizeof(text)) <= 0 ||
	    read(arg, "cpu_core/type", text, sizeof(text)) <= 0)
		return 0;
	type = strtoul(text, NULL, 10);
	n = snprintf(name, sizeof(name), "cpu_core/%.*s/%s",
		     (int)(colon ? (size_t)(colon - spec->shown) : strlen(spec->shown)),
		     spec->shown, colon ? colon + 1 : "");
	if (!type || type > UINT32_MAX || n < 0 || (size_t)n >= sizeof(name))
		return 0;
	/* PERF_PMU_TYPE_SHIFT: the PMU of a generic event stands above its config. */
	spec->what.config |= (uint64_t)type << 32;
	memcpy(spec->shown, name, (size_t)n + 1);
	return 1;
}
