/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/registry.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static void nothing(struct mew_state *state)
{
	(void)state;
}

static const int64_t values[] = {100, -1};
struct input {
	int size;
	const char *name;
};
static const struct input inputs[] = {{1, "one"}, {2, NULL}, {3, "three"}};

static struct mew_entry plain(const char *name, struct mew_entry *next)
{
	return (struct mew_entry){.name = name, .run = nothing, .next_ = next};
}

static void entries_keep_the_order_they_were_registered_in(void **state)
{
	static struct mew_entry a, b;

	(void)state;
	assert_null(mew_registry_entries());
	a = plain("a", NULL);
	b = plain("b", NULL);
	mew_register(&b);
	mew_register(&a);
	assert_ptr_equal(mew_registry_entries(), &b);
	assert_ptr_equal(b.next_, &a);
	assert_null(a.next_);
}

static void a_plain_entry_is_one_case_without_a_label(void **state)
{
	struct mew_entry e = plain("sort", NULL);
	struct mew_cases c = {0};

	(void)state;
	assert_int_equal(mew_cases_init(&c, &e, NULL), 0);
	assert_int_equal(c.n, 1);
	assert_string_equal(c.cases[0].key, "sort");
	assert_string_equal(c.cases[0].label, "");
	assert_null(c.cases[0].param);
	mew_cases_done(&c);
}

static void values_are_labelled_with_their_name(void **state)
{
	struct mew_entry e = {.name = "sort",
			      .run = nothing,
			      .params = values,
			      .n_params = 2,
			      .param_bytes = sizeof(int64_t),
			      .arg = "n"};
	struct mew_cases c = {0};

	(void)state;
	assert_int_equal(mew_cases_init(&c, &e, NULL), 0);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.cases[0].key, "sort/case:0");
	assert_string_equal(c.cases[0].label, "n=100");
	assert_string_equal(c.cases[1].key, "sort/case:1");
	assert_string_equal(c.cases[1].label, "n=-1");
	assert_ptr_equal(c.cases[1].param, &values[1]);
	mew_cases_done(&c);
}

static void elements_are_labelled_with_their_member(void **state)
{
	struct mew_entry e = {.name = "parse",
			      .run = nothing,
			      .params = inputs,
			      .n_params = 3,
			      .param_bytes = sizeof(struct input),
			      .label_off = offsetof(struct input, name)};
	struct mew_cases c = {0};

	(void)state;
	assert_int_equal(mew_cases_init(&c, &e, NULL), 0);
	assert_int_equal(c.n, 3);
	assert_string_equal(c.cases[0].label, "one");
	assert_string_equal(c.cases[1].label, "");
	assert_string_equal(c.cases[2].label, "three");
	assert_ptr_equal(c.cases[2].param, &inputs[2]);
	mew_cases_done(&c);
}

static void two_entries_of_one_name_are_an_error(void **state)
{
	struct mew_entry b = plain("same", NULL), other = plain("other", &b);
	struct mew_entry a = plain("same", &other);
	struct mew_error error = {0};
	struct mew_cases c = {0};

	(void)state;
	assert_int_equal(mew_cases_init(&c, &a, &error), -EINVAL);
	assert_string_equal(error.text, "two benchmarks are named 'same'");
	assert_null(c.cases);
}

static void entries_that_cannot_be_are_errors(void **state)
{
	char name[MEW_KEY_BYTES + 1];
	struct mew_entry e = plain(NULL, NULL);
	struct mew_error error = {0};
	struct mew_cases c = {0};

	(void)state;
	assert_int_equal(mew_cases_init(&c, &e, &error), -EINVAL);
	e.name = "";
	assert_int_equal(mew_cases_init(&c, &e, &error), -EINVAL);
	e = plain("a", NULL);
	e.run = NULL;
	assert_int_equal(mew_cases_init(&c, &e, &error), -EINVAL);
	e = plain("a", NULL);
	e.n_threads = 257;
	assert_int_equal(mew_cases_init(&c, &e, &error), -EINVAL);
	assert_string_equal(error.text, "benchmark 'a' wants 257 threads; 256 is the most");
	e.n_threads = 256;
	assert_int_equal(mew_cases_init(&c, &e, &error), 0);
	mew_cases_done(&c);
	memset(name, 'x', sizeof(name));
	name[MEW_KEY_BYTES] = '\0';
	e = plain(name, NULL);
	assert_int_equal(mew_cases_init(&c, &e, &error), -EINVAL);
	name[MEW_KEY_BYTES - 1] = '\0';
	assert_int_equal(mew_cases_init(&c, &e, &error), 0);
	mew_cases_done(&c);
}

static void a_long_label_is_cut_at_a_characters_edge(void **state)
{
	char label[10];

	(void)state;
	mew_label_set(label, sizeof(label), "123456789");
	assert_string_equal(label, "123456789");
	mew_label_set(label, sizeof(label), "1234567890");
	assert_string_equal(label, "123456...");
	/* the a with two dots takes bytes 6 and 7 */
	mew_label_set(label, sizeof(label),
		      "12345\xc3\xa4"
		      "890");
	assert_string_equal(label, "12345...");
}

static struct mew_cases three_cases(struct mew_entry *e)
{
	struct mew_cases c = {0};

	e[2] = plain("merge", NULL);
	e[1] = plain("sort_more", &e[2]);
	e[0] = (struct mew_entry){.name = "sort",
				  .run = nothing,
				  .params = values,
				  .n_params = 2,
				  .param_bytes = sizeof(int64_t),
				  .arg = "n",
				  .next_ = &e[1]};
	assert_int_equal(mew_cases_init(&c, e, NULL), 0);
	return c;
}

/* Filters and what they leave, keys joined by blanks. */
static void check_filters(const char *const *filters, size_t n, const char *want)
{
	struct mew_entry e[3];
	struct mew_cases c = three_cases(e);
	char keys[256] = "";
	size_t i;

	assert_int_equal(mew_cases_filter(&c, filters, n, NULL), 0);
	for (i = 0; i < c.n; i++) {
		strcat(keys, i ? " " : "");
		strcat(keys, c.cases[i].key);
	}
	assert_string_equal(keys, want);
	mew_cases_done(&c);
}

static void filters_match_keys_and_labels_and_exclude(void **state)
{
	(void)state;
	check_filters((const char *[]){"^sort"}, 1, "sort/case:0 sort/case:1 sort_more");
	check_filters((const char *[]){"n=100"}, 1, "sort/case:0");
	check_filters((const char *[]){"-sort"}, 1, "merge");
	check_filters((const char *[]){"sort", "-case:[0-9]"}, 2, "sort_more");
	check_filters((const char *[]){"merge", "case:1"}, 2, "sort/case:1 merge");
	check_filters(NULL, 0, "sort/case:0 sort/case:1 sort_more merge");
}

static void a_filter_that_matches_nothing_leaves_the_cases_as_they_are(void **state)
{
	static const char *const filters[] = {"absent"}, *const broken[] = {"a", "(b"};
	struct mew_entry e[3];
	struct mew_cases c = three_cases(e);
	struct mew_error error = {0};

	(void)state;
	assert_int_equal(mew_cases_filter(&c, filters, 1, &error), -ENOENT);
	assert_int_equal(c.n, 4);
	assert_int_equal(mew_cases_filter(&c, broken, 2, &error), -EINVAL);
	assert_non_null(strstr(error.text, "'(b' is no regular expression"));
	mew_cases_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_keep_the_order_they_were_registered_in),
		cmocka_unit_test(a_plain_entry_is_one_case_without_a_label),
		cmocka_unit_test(values_are_labelled_with_their_name),
		cmocka_unit_test(elements_are_labelled_with_their_member),
		cmocka_unit_test(two_entries_of_one_name_are_an_error),
		cmocka_unit_test(entries_that_cannot_be_are_errors),
		cmocka_unit_test(a_long_label_is_cut_at_a_characters_edge),
		cmocka_unit_test(filters_match_keys_and_labels_and_exclude),
		cmocka_unit_test(a_filter_that_matches_nothing_leaves_the_cases_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
