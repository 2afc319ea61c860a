/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kernel/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERM_BYTES 128
#define FILE_BYTES 512

/* One parse: an event's name in events/ is a list of terms itself, but no further one. */
struct parse {
	const char *pmu;
	mew_spec_read_fn read;
	void *arg;
	struct perf_event_attr *attr;
	struct mew_error *error;
	int depth;
};

static int parse_range(const char **at, unsigned *ret_from, unsigned *ret_to)
{
	unsigned long from, to;
	char *end;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	from = to = strtoul(*at, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return -EINVAL;
		to = strtoul(end + 1, &end, 10);
	}
	if (from > to || to > INT32_MAX)
		return -EINVAL;
	*at = end;
	*ret_from = (unsigned)from;
	*ret_to = (unsigned)to;
	return 0;
}

int mew_ranges_parse(const char *text, mew_range_fn fn, void *arg)
{
	for (;;) {
		unsigned from = 0, to = 0;
		int rc = parse_range(&text, &from, &to);

		if (!rc && *text && *text != ',')
			rc = -EINVAL;
		if (!rc)
			rc = fn(arg, from, to);
		if (rc)
			return rc;
		if (!*text++)
			return 0;
	}
}

/* Names are pieces of a path: letters, digits, '_', '-', '.', the first one no '.'. */
static int is_name(const char *s)
{
	if (!*s || *s == '.')
		return 0;
	for (; *s; s++) {
		if (!isalnum((unsigned char)*s) && !strchr("_-.", *s))
			return 0;
	}
	return 1;
}

struct bits {
	uint64_t value; /* what is left of it, lowest bit first */
	__u64 *config;
};

static int put_bits(void *arg, unsigned from, unsigned to)
{
	struct bits *b = arg;
	unsigned n = to - from + 1;
	uint64_t mask;

	if (to > 63)
		return -EINVAL;
	mask = n == 64 ? UINT64_MAX : (1ull << n) - 1;
	*b->config &= ~(mask << from);
	*b->config |= (b->value & mask) << from;
	b->value = n == 64 ? 0 : b->value >> n;
	return 0;
}

static __u64 *config_of(struct perf_event_attr *attr, const char *field, size_t n)
{
	static const char *const names[] = {"config", "config1", "config2"};
	__u64 *const fields[] = {&attr->config, &attr->config1, &attr->config2};

	for (size_t i = 0; i < 3; i++) {
		if (strlen(names[i]) == n && !memcmp(names[i], field, n))
			return fields[i];
	}
	return NULL;
}

/* Put value where format ("config:0-7,32-35") says. */
static int put_value(struct parse *p, const char *term, const char *format, uint64_t value)
{
	const char *colon = strchr(format, ':');
	struct bits bits = {value, NULL};

	if (colon)
		bits.config = config_of(p->attr, format, (size_t)(colon - format));
	if (!bits.config || mew_ranges_parse(colon + 1, put_bits, &bits))
		return mew_error_set(p->error, -EINVAL,
				     "the format '%s' of term '%s' of PMU '%s' is not known",
				     format, term, p->pmu);
	if (bits.value)
		return mew_error_set(p->error, -EINVAL,
				     "the value of term '%s' of PMU '%s' has too many bits", term,
				     p->pmu);
	return 0;
}

static int parse_terms(struct parse *p, const char *terms, size_t n);

/* A term without a value: an event of the PMU's, or a flag. */
static int parse_flag(struct parse *p, const char *term)
{
	char path[2 * TERM_BYTES + 16], text[FILE_BYTES];
	int n;

	snprintf(path, sizeof(path), "%s/events/%s", p->pmu, term);
	n = p->depth ? -ENOENT : p->read(p->arg, path, text, sizeof(text));
	if (n >= 0) {
		p->depth++;
		n = parse_terms(p, text, (size_t)n);
		p->depth--;
		return n;
	}
	snprintf(path, sizeof(path), "%s/format/%s", p->pmu, term);
	if (p->read(p->arg, path, text, sizeof(text)) < 0)
		return mew_error_set(p->error, -EINVAL, "PMU '%s' has no event or term '%s'",
				     p->pmu, term);
	return put_value(p, term, text, 1);
}

static int parse_term(struct parse *p, char *term)
{
	char path[2 * TERM_BYTES + 16], text[FILE_BYTES], *equals = strchr(term, '='), *end;
	__u64 value, *config;

	if (equals)
		*equals = '\0';
	if (!is_name(term))
		return mew_error_set(p->error, -EINVAL, "PMU '%s' has no event or term '%s'",
				     p->pmu, term);
	if (!equals)
		return parse_flag(p, term);
	errno = 0;
	value = strtoull(equals + 1, &end, 0);
	if (errno || !isdigit((unsigned char)equals[1]) || *end)
		return mew_error_set(p->error, -EINVAL, "term '%s' of PMU '%s': '%s' is no number",
				     term, p->pmu, equals + 1);
	config = config_of(p->attr, term, strlen(term));
	if (config) {
		*config = value;
		return 0;
	}
	if (!strcmp(term, "period")) {
		p->attr->sample_period = value;
		return 0;
	}
	snprintf(path, sizeof(path), "%s/format/%s", p->pmu, term);
	if (p->read(p->arg, path, text, sizeof(text)) < 0)
		return mew_error_set(p->error, -EINVAL, "PMU '%s' has no term '%s'", p->pmu, term);
	return put_value(p, term, text, value);
}

static int parse_terms(struct parse *p, const char *terms, size_t n)
{
	const char *end = terms + n;

	for (;;) {
		const char *comma = memchr(terms, ',', (size_t)(end - terms));
		size_t len = (size_t)((comma ? comma : end) - terms);
		char term[TERM_BYTES];
		int rc;

		if (len >= sizeof(term))
			return mew_error_set(p->error, -EINVAL, "a term of PMU '%s' is too long",
					     p->pmu);
		memcpy(term, terms, len);
		term[len] = '\0';
		rc = parse_term(p, term);
		if (rc || !comma)
			return rc;
		terms = comma + 1;
	}
}

int mew_pmu_parse(const char *pmu, size_t n_pmu, const char *terms, size_t n_terms,
		  mew_spec_read_fn read, void *arg, struct perf_event_attr *ret,
		  struct mew_error *error)
{
	char name[TERM_BYTES] = "", path[TERM_BYTES + 8], text[32];
	struct parse p = {name, read, arg, ret, error, 0};
	unsigned long type;
	char *end;

	if (n_pmu < sizeof(name))
		memcpy(name, pmu, n_pmu);
	if (!is_name(name))
		return mew_error_set(error, -EINVAL, "'%.*s' is no name of a PMU", (int)n_pmu, pmu);
	snprintf(path, sizeof(path), "%s/type", name);
	if (read(arg, path, text, sizeof(text)) <= 0)
		return mew_error_set(error, -EINVAL,
				     "this machine has no PMU '%s' (see " MEW_PMU_DIR ")", name);
	type = strtoul(text, &end, 10);
	if (*end || type > UINT32_MAX)
		return mew_error_set(error, -EINVAL, "the type '%s' of PMU '%s' is not known", text,
				     name);
	ret->type = (uint32_t)type;
	return parse_terms(&p, terms, n_terms);
}
