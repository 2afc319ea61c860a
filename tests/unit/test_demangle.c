/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "symbol/demangle.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demangles_to(const char *linkage, const char *name)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	mew_buffer_puts(&out, "<");
	assert_int_equal(mew_demangle(linkage, &out), 0);
	assert_string_equal(out.data + 1, name);
	mew_buffer_done(&out);
}

static void stays(const char *linkage)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	assert_int_equal(mew_demangle(linkage, &out), -EINVAL);
	assert_int_equal(out.len, 0);
	mew_buffer_puts(&out, "kept");
	assert_int_equal(mew_demangle(linkage, &out), -EINVAL);
	assert_string_equal(out.data, "kept");
	mew_buffer_done(&out);
}

static void names_of_cxx_have_parameters_and_no_return_type(void **state)
{
	(void)state;
	demangles_to("_ZN4deep5outerEi", "deep::outer(int)");
	demangles_to("_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden(int)");
	demangles_to("_Z3addIlET_S0_S0_", "add<long>(long, long)");
	demangles_to("_ZNK3boxclEv", "box::operator()() const");
	demangles_to("_ZN3fooB5cxx11Ev", "foo[abi:cxx11]()");
	demangles_to("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
}

static void names_of_rust_lose_their_hash(void **state)
{
	(void)state;
	demangles_to("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		     "core::fmt::Write::write_fmt");
	demangles_to("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void what_is_not_mangled_stays(void **state)
{
	(void)state;
	stays("");
	stays("main");
	stays("_start");
	stays("_Z");
	stays("_ZN");
	stays("_R");
	stays("_ZZZZZZZZZZ");
	stays("Z3foov");
}

static void a_name_that_would_explode_stays(void **state)
{
	char text[MEW_MANGLED_MAX + 100], *p = text;
	int i;

	(void)state;
	/* Each parameter is a template of the two before it: twice the text each time. */
	p += sprintf(p, "_Z1fI1aEv1bIS_S_E");
	for (i = 0; i < 30; i++)
		p += sprintf(p, "1cIS%d_S%d_E", i, i);
	stays(text);
	memset(text, 'P', sizeof(text));
	memcpy(text, "_Z1f", 4);
	text[sizeof(text) - 1] = '\0';
	stays(text);
	/* As deep as a name of the permitted length can be. */
	text[MEW_MANGLED_MAX - 1] = 'i';
	text[MEW_MANGLED_MAX] = '\0';
	stays(text);
}

static void random_names_do_no_harm(void **state)
{
	static const char letters[] = "_ZNRSTEIKPLXJDCvilaw0123456789thus.$C";
	struct mew_buffer out = MEW_BUFFER_INIT;
	uint64_t x = 88172645463325252u;
	char text[200];
	size_t i, n;

	(void)state;
	for (i = 0; i < 20000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		n = 3 + x % 150;
		memcpy(text, x & 1 << 20 ? "_ZN" : "_RN", 3);
		text[n] = '\0';
		for (size_t k = 3; k < n; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			text[k] = letters[x % (sizeof(letters) - 1)];
		}
		mew_buffer_reset(&out);
		if (mew_demangle(text, &out))
			assert_int_equal(out.len, 0);
		else
			assert_in_range(out.len, 1, MEW_DEMANGLED_MAX);
	}
	mew_buffer_done(&out);
}

static void the_pieces_of_a_function_have_its_name(void **state)
{
	static const char *const names[][2] = {
		{"foo", "foo"},
		{"foo.cold", "foo"},
		{"foo.cold.12", "foo"},
		{"foo.part.0", "foo"},
		{"foo.constprop.0.isra.3", "foo"},
		{"_ZN1a1bEv.isra.0.cold", "_ZN1a1bEv"},
		{"foo.llvm.123456789", "foo"},
		{"foo.lto_priv.0", "foo"},
		{"write@@GLIBC_2.2.5", "write"},
		{"foo.bar", "foo.bar"},
		{"foo.1", "foo.1"},
		{"foo.scold", "foo.scold"},
		{".cold", ".cold"},
		{"foo1", "foo1"},
		{"foo.", "foo."},
		{"", ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(mew_linkage_length(names[i][0]), strlen(names[i][1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_cxx_have_parameters_and_no_return_type),
		cmocka_unit_test(names_of_rust_lose_their_hash),
		cmocka_unit_test(what_is_not_mangled_stays),
		cmocka_unit_test(a_name_that_would_explode_stays),
		cmocka_unit_test(random_names_do_no_harm),
		cmocka_unit_test(the_pieces_of_a_function_have_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
