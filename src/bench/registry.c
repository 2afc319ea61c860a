/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "channel/window.h"

static struct mew_entry *first_entry, *last_entry;

void mew_register(struct mew_entry *entry)
{
	entry->next_ = NULL;
	if (last_entry)
		last_entry->next_ = entry;
	else
		first_entry = entry;
	last_entry = entry;
}

struct mew_entry *mew_registry_entries(void)
{
	return first_entry;
}

void mew_label_set(char *label, size_t n, const char *text)
{
	static const char dots[] = "...";
	size_t len = strlen(text), end = 0;

	if (len < n) {
		memcpy(label, text, len + 1);
		return;
	}
	for (;;) {
		uint32_t code;
		size_t bytes = mew_text_decode(text + end, len - end, &code);

		if (end + bytes + sizeof(dots) > n)
			break;
		end += bytes;
	}
	memcpy(label, text, end);
	memcpy(label + end, dots, sizeof(dots));
}

static int set_case(struct mew_case *c, const struct mew_entry *e, size_t i,
		    struct mew_error *error)
{
	char text[MEW_LABEL_BYTES];
	int len;

	c->entry = e;
	c->param = NULL;
	c->label[0] = '\0';
	if (!e->params) {
		len = snprintf(c->key, sizeof(c->key), "%s", e->name);
	} else {
		const char *param = (const char *)e->params + i * e->param_bytes;

		c->param = param;
		len = snprintf(c->key, sizeof(c->key), "%s/case:%zu", e->name, i);
		if (e->arg) {
			int64_t value;

			memcpy(&value, param, sizeof(value));
			/* A name that does not fit still leaves a label that can be read. */
			snprintf(text, sizeof(text), "%.200s=%" PRId64, e->arg, value);
			mew_label_set(c->label, sizeof(c->label), text);
		} else {
			const char *label;

			memcpy(&label, param + e->label_off, sizeof(label));
			mew_label_set(c->label, sizeof(c->label), label ? label : "");
		}
	}
	if (len < 0 || (size_t)len >= sizeof(c->key))
		return mew_error_set(error, -EINVAL, "the name of benchmark '%.40s...' is too long",
				     e->name);
	return 0;
}

static int check_entry(const struct mew_entry *e, struct mew_error *error)
{
	if (!e->name || !e->name[0])
		return mew_error_set(error, -EINVAL, "a benchmark has no name");
	if (!e->run)
		return mew_error_set(error, -EINVAL, "benchmark '%s' has no function", e->name);
	if (e->n_threads > MEW_WINDOW_THREADS)
		return mew_error_set(error, -EINVAL,
				     "benchmark '%s' wants %u threads; %d is the most", e->name,
				     e->n_threads, MEW_WINDOW_THREADS);
	if (e->params && e->arg && e->param_bytes != sizeof(int64_t))
		return mew_error_set(error, -EINVAL, "the values of benchmark '%s' are no int64_t",
				     e->name);
	if (e->min_time_s < 0)
		return mew_error_set(error, -EINVAL, "benchmark '%s' has a time below 0", e->name);
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(const struct mew_case *const *)a)->key,
		      (*(const struct mew_case *const *)b)->key);
}

static int check_unique(const struct mew_cases *cases, struct mew_error *error)
{
	const struct mew_case **sorted;
	size_t i;
	int err = 0;

	if (cases->n == 0)
		return 0;
	sorted = malloc(cases->n * sizeof(const struct mew_case *));
	if (!sorted)
		return mew_error_errno(error, -ENOMEM, "cannot list the benchmarks");
	for (i = 0; i < cases->n; i++)
		sorted[i] = &cases->cases[i];
	qsort(sorted, cases->n, sizeof(sorted[0]), compare_keys);
	for (i = 1; i < cases->n && !err; i++) {
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			err = mew_error_set(error, -EINVAL, "two benchmarks are named '%s'",
					    sorted[i]->entry->name);
	}
	free(sorted);
	return err;
}

int mew_cases_init(struct mew_cases *ret, const struct mew_entry *entries, struct mew_error *error)
{
	struct mew_cases cases = {NULL, 0};
	const struct mew_entry *e;
	size_t n = 0, i;
	int err = 0;

	for (e = entries; e; e = e->next_) {
		err = check_entry(e, error);
		if (err)
			return err;
		n += e->params ? e->n_params : 1;
	}
	cases.cases = calloc(n ? n : 1, sizeof(*cases.cases));
	if (!cases.cases)
		return mew_error_errno(error, -ENOMEM, "cannot list the benchmarks");
	for (e = entries; e && !err; e = e->next_) {
		for (i = 0; i < (e->params ? e->n_params : 1) && !err; i++)
			err = set_case(&cases.cases[cases.n++], e, i, error);
	}
	if (!err)
		err = check_unique(&cases, error);
	if (err)
		mew_cases_done(&cases);
	else
		*ret = cases;
	return err;
}

void mew_cases_done(struct mew_cases *cases)
{
	if (!cases)
		return;
	free(cases->cases);
	cases->cases = NULL;
	cases->n = 0;
}

struct filter {
	regex_t regex;
	bool exclude;
};

static int filters_init(struct filter *f, const char *const *filters, size_t n,
			struct mew_error *error)
{
	char why[128];
	size_t i;
	int code;

	for (i = 0; i < n; i++) {
		f[i].exclude = filters[i][0] == '-';
		code = regcomp(&f[i].regex, filters[i] + f[i].exclude, REG_EXTENDED | REG_NOSUB);
		if (code == 0)
			continue;
		regerror(code, &f[i].regex, why, sizeof(why));
		mew_error_set(error, -EINVAL, "'%s' is no regular expression: %s", filters[i], why);
		while (i > 0)
			regfree(&f[--i].regex);
		return -EINVAL;
	}
	return 0;
}

static bool matches(const struct filter *f, const struct mew_case *c)
{
	return regexec(&f->regex, c->key, 0, NULL, 0) == 0 ||
	       regexec(&f->regex, c->label, 0, NULL, 0) == 0;
}

static bool is_kept(const struct filter *f, size_t n, const struct mew_case *c)
{
	bool any_include = false, included = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (f[i].exclude) {
			if (matches(&f[i], c))
				return false;
			continue;
		}
		any_include = true;
		included = included || matches(&f[i], c);
	}
	return included || !any_include;
}

int mew_cases_filter(struct mew_cases *cases, const char *const *filters, size_t n_filters,
		     struct mew_error *error)
{
	struct filter *f;
	size_t i, n = 0;
	int err;

	if (n_filters == 0)
		return 0;
	f = calloc(n_filters, sizeof(*f));
	if (!f)
		return mew_error_errno(error, -ENOMEM, "cannot filter the benchmarks");
	err = filters_init(f, filters, n_filters, error);
	if (err) {
		free(f);
		return err;
	}
	for (i = 0; i < cases->n; i++)
		n += is_kept(f, n_filters, &cases->cases[i]);
	if (n == 0)
		err = mew_error_set(error, -ENOENT, "no benchmark matches");
	for (n = 0, i = 0; i < cases->n && !err; i++) {
		if (is_kept(f, n_filters, &cases->cases[i]))
			cases->cases[n++] = cases->cases[i];
	}
	if (!err)
		cases->n = n;
	for (i = 0; i < n_filters; i++)
		regfree(&f[i].regex);
	free(f);
	return err;
}
