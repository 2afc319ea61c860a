/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/text.h"
#include "failing_alloc.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static void assert_escape(const char *s, const char *want)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	assert_int_equal(mew_text_escape(&out, s), 0);
	assert_string_equal(out.data, want);
	mew_buffer_done(&out);
}

static void assert_short(const char *s, size_t width, const char *want, bool want_cut)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	bool cut = !want_cut;

	assert_int_equal(mew_text_shorten(&out, s, width, &cut), 0);
	assert_string_equal(out.data, want);
	assert_int_equal(cut, want_cut);
	assert_true(mew_text_width(out.data) <= width);
	mew_buffer_done(&out);
}

static void width_counts_columns_not_bytes(void **state)
{
	(void)state;
	assert_int_equal(mew_text_width(""), 0);
	assert_int_equal(mew_text_width("abc"), 3);
	assert_int_equal(mew_text_width("n\xc3\xa4her"), 5);
	assert_int_equal(mew_text_width("e\xcc\x81"), 1);
	assert_int_equal(mew_text_width("\xe7\x8c\xab"), 2);
	assert_int_equal(mew_text_width("\xf0\x9f\x90\xb1"), 2);
	assert_int_equal(mew_text_width("\xff\xc3"), 2);
}

static void what_is_no_utf8_is_decoded_byte_by_byte(void **state)
{
	static const char *const bad[] = {"\x80",         "\xc0\xaf",
					  "\xed\xa0\x80", "\xf4\x90\x80\x80",
					  "\xe2\x82",     "\xf8\x88\x80\x80"};
	uint32_t code;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(mew_text_decode(bad[i], strlen(bad[i]), &code), 1);
		assert_true(code == UINT32_MAX);
	}
	assert_int_equal(mew_text_decode("\xe2\x82\xac", 3, &code), 3);
	assert_int_equal(code, 0x20ac);
}

static void control_characters_are_shown(void **state)
{
	(void)state;
	assert_escape("plain \\ text", "plain \\ text");
	assert_escape("a\nb\tc\rd", "a\\nb\\tc\\rd");
	assert_escape("\033[31mred", "\\x1b[31mred");
	assert_escape("\x7f\xff", "\\x7f\\xff");
	assert_escape("\xc2\x9b", "\\u009b");
	assert_escape("\xe2\x80\xae", "\\u202e");
	assert_escape("\xe7\x8c\xab", "\xe7\x8c\xab");
}

static void the_location_is_the_final_parenthesis(void **state)
{
	(void)state;
	assert_int_equal(mew_text_location("push (a.c:4)"), 4);
	assert_int_equal(mew_text_location("f(int) (a.c:4)"), 6);
	assert_int_equal(mew_text_location("f(int (*)(int))"), strlen("f(int (*)(int))"));
	assert_int_equal(mew_text_location("f()"), 3);
	assert_int_equal(mew_text_location("()"), 2);
	assert_int_equal(mew_text_location(" (x)"), 4);
	assert_int_equal(mew_text_location(""), 0);
}

static void a_name_that_fits_is_whole(void **state)
{
	(void)state;
	assert_short("push (a.c:4)", 12, "push (a.c:4)", false);
}

static void the_location_goes_first_and_is_no_cut(void **state)
{
	(void)state;
	assert_short("push (a.c:4)", 11, "push", false);
	assert_short("push (a.c:4)", 4, "push", false);
}

static void then_template_arguments_collapse(void **state)
{
	(void)state;
	assert_short("std::vector<std::pair<int, int>>::push (v.h:1)", 30, "std::vector<>::push",
		     true);
	assert_short("ns::operator<< <char, long>(int) (o.h:1)", 25, "ns::operator<< <>(int)",
		     true);
	assert_short("a<b<c>>::operator-><d>() const", 27, "a<>::operator-><>() const", true);
	assert_short("call<f()->int>()", 10, "call<>()", true);
}

static void then_parameters_go(void **state)
{
	(void)state;
	assert_short("ns::insert(std::pair<int, int> const&, char*) (o.h:1)", 12, "ns::insert()",
		     true);
	assert_short("a::(anonymous)::operator()(int (*)(char)) const", 34,
		     "a::(anonymous)::operator()() const", true);
	assert_short("(anonymous namespace)::f(int)", 26, "(anonymous namespace)::f()", true);
	assert_short("unbalanced(int", 13, "unbalanced(", true);
	assert_short("unbalanced)int(x)", 16, "unbalanced)int()", true);
}

static void at_last_the_middle_is_cut(void **state)
{
	(void)state;
	assert_short("a_very_long_function_name_indeed", 19, "a_ver...name_indeed", true);
	assert_short("abcdefgh", 4, "...h", true);
	assert_short("abcdefgh", 3, "...", true);
	assert_short("abcdefgh", 2, "..", true);
	assert_short("abcdefgh", 0, "", true);
}

static void a_cut_never_splits_a_character(void **state)
{
	(void)state;
	assert_short("\xe7\x8c\xab\xe7\x8c\xab\xe7\x8c\xab\xe7\x8c\xab", 7,
		     "...\xe7\x8c\xab\xe7\x8c\xab", true);
	assert_short("abcdefe\xcc\x81g", 5, "...\x65\xcc\x81g", true);
	assert_short("abcdefe\xcc\x81", 4, "...\x65\xcc\x81", true);
	assert_short("abcdefe\xcc\x81g", 4, "...g", true);
}

static void a_word_is_quoted_as_a_shell_reads_it(void **state)
{
	static const char *const words[][2] = {
		{"-n=1,a/b:c@d%e^f", "-n=1,a/b:c@d%e^f"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", "'it'\\''s'"},
		{"$x;`y`*", "'$x;`y`*'"},
	};
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		mew_buffer_reset(&out);
		assert_int_equal(mew_text_quote(&out, words[i][0]), 0);
		assert_string_equal(out.data, words[i][1]);
	}
	mew_buffer_done(&out);
}

static void without_memory_the_buffer_says_so(void **state)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	(void)state;
	mew_buffer_reserve(&out, 100);
	failing_alloc_after(0);
	assert_int_equal(mew_text_shorten(&out, "long<int>", 5, NULL), -ENOMEM);
	failing_alloc_off();
	mew_buffer_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(width_counts_columns_not_bytes),
		cmocka_unit_test(what_is_no_utf8_is_decoded_byte_by_byte),
		cmocka_unit_test(control_characters_are_shown),
		cmocka_unit_test(the_location_is_the_final_parenthesis),
		cmocka_unit_test(a_name_that_fits_is_whole),
		cmocka_unit_test(the_location_goes_first_and_is_no_cut),
		cmocka_unit_test(then_template_arguments_collapse),
		cmocka_unit_test(then_parameters_go),
		cmocka_unit_test(at_last_the_middle_is_cut),
		cmocka_unit_test(a_cut_never_splits_a_character),
		cmocka_unit_test(a_word_is_quoted_as_a_shell_reads_it),
		cmocka_unit_test(without_memory_the_buffer_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
