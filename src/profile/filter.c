/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>

#include "profile/filter.h"

struct mew_filter {
	const char *const *texts;
	size_t n; /* compiled */
	regex_t regexes[];
};

struct mew_filter *mew_filter_new(const char *const *texts, size_t n, struct mew_error *error)
{
	struct mew_filter *f = calloc(1, sizeof(*f) + n * sizeof(*f->regexes));
	char why[128];

	if (!f) {
		mew_error_errno(error, -ENOMEM, "cannot filter cases");
		return NULL;
	}
	f->texts = texts;
	for (; f->n < n; f->n++) {
		const char *text = texts[f->n] + (texts[f->n][0] == '-');
		int code = regcomp(&f->regexes[f->n], text, REG_EXTENDED | REG_NOSUB);

		if (!code)
			continue;
		regerror(code, &f->regexes[f->n], why, sizeof(why));
		mew_error_set(error, code == REG_ESPACE ? -ENOMEM : -EINVAL,
			      "'%s' is no regular expression: %s", text, why);
		mew_filter_free(f);
		return NULL;
	}
	return f;
}

void mew_filter_free(struct mew_filter *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->n; i++)
		regfree(&f->regexes[i]);
	free(f);
}

int mew_filter_chooses(const struct mew_filter *f, const char *key, const char *label)
{
	int any = 0, hit = 0;
	size_t i;

	for (i = 0; i < f->n; i++) {
		int match = !regexec(&f->regexes[i], key, 0, NULL, 0) ||
			    (*label && !regexec(&f->regexes[i], label, 0, NULL, 0));

		if (f->texts[i][0] == '-') {
			if (match)
				return 0;
			continue;
		}
		any = 1;
		hit |= match;
	}
	return !any || hit;
}
