/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "symbol/kallsyms.h"
#include "unit.h"

static char *copy(const char *text)
{
	char *own = malloc(strlen(text) + 1);

	assert_non_null(own);
	return strcpy(own, text);
}

static struct mew_kallsyms parsed(const char *text)
{
	struct mew_kallsyms k = {0};

	assert_int_equal(mew_kallsyms_parse(copy(text), strlen(text), &k), 0);
	return k;
}

/* "name", or "name[module]" of a module; "-": nothing is known. */
static void check_at(const struct mew_kallsyms *k, uint64_t pc, const char *expected)
{
	const struct mew_kallsyms_entry *e = mew_kallsyms_find(k, pc);
	char text[256] = "-";

	if (e)
		snprintf(text, sizeof(text), "%s%s", e->name, e->module);
	assert_string_equal(text, expected);
}

static void a_function_reaches_to_the_next_one(void **state)
{
	/* sorted by nobody, data among them */
	struct mew_kallsyms k = parsed("ffffffff81000200 t third\n"
				       "ffffffff81000000 T _stext\n"
				       "0000000000000000 A fixed_percpu_data\n"
				       "ffffffff81000180 d data\n"
				       "ffffffff81000100 W second\n"
				       "ffffffff81000300 w fourth\n"
				       "ffffffff81000340 T _etext\n");

	(void)state;
	check_at(&k, 0xffffffff80ffffff, "-");
	check_at(&k, 0xffffffff81000000, "_stext");
	check_at(&k, 0xffffffff810000ff, "_stext");
	check_at(&k, 0xffffffff81000100, "second");
	check_at(&k, 0xffffffff810001ff, "second");
	check_at(&k, 0xffffffff81000200, "third");
	check_at(&k, 0xffffffff8100033f, "fourth");
	check_at(&k, 0xffffffff81000340, "-");
	check_at(&k, 0, "-");
	check_at(&k, UINT64_MAX, "-");
	mew_kallsyms_done(&k);
	check_at(&k, 0xffffffff81000000, "-");
}

static void nothing_above_etext_is_the_kernels(void **state)
{
	/* the last function is longer than a page, the code of the start is gone */
	struct mew_kallsyms k = parsed("ffffffff81000000 T last\n"
				       "ffffffff81004000 T _etext\n"
				       "ffffffff83000000 T _sinittext\n"
				       "ffffffff83000010 t early\n"
				       "ffffffffc0000000 t f\t[mod]\n");

	(void)state;
	check_at(&k, 0xffffffff81003fff, "last");
	check_at(&k, 0xffffffff81004000, "-");
	check_at(&k, 0xffffffff83000000, "-");
	check_at(&k, 0xffffffff83000018, "-");
	check_at(&k, 0xffffffffc0000000, "f[mod]");
	mew_kallsyms_done(&k);
}

static void the_last_function_of_a_module_ends_with_its_page(void **state)
{
	struct mew_kallsyms k = parsed("ffffffffc0000000 t first\t[one]\n"
				       "ffffffffc0002010 t last\t[one]\n"
				       "ffffffffc0008000 t other\t[two]\n"
				       "fffffffffffffff0 t top\t[three]\n");

	(void)state;
	check_at(&k, 0xffffffffc000200f, "first[one]");
	check_at(&k, 0xffffffffc0002fff, "last[one]");
	check_at(&k, 0xffffffffc0003000, "-");
	check_at(&k, 0xffffffffc0008fff, "other[two]");
	check_at(&k, 0xffffffffc0009000, "-");
	check_at(&k, 0xfffffffffffffff8, "top[three]");
	mew_kallsyms_done(&k);
}

static void every_generated_program_ends_with_its_page(void **state)
{
	struct mew_kallsyms k = parsed("ffffffffc0000100 t bpf_prog_1_a\t[bpf]\n"
				       "ffffffffc0000180 t bpf_prog_2_b\t[bpf]\n"
				       "ffffffffc0004000 t bpf_prog_3_c\t[bpf]\n"
				       "ffffffffc0009000 t kprobe\t[__builtin__kprobes]\n"
				       "ffffffffc0020000 t kprobe\t[__builtin__kprobes]\n");

	(void)state;
	check_at(&k, 0xffffffffc000017f, "bpf_prog_1_a[bpf]");
	check_at(&k, 0xffffffffc0000fff, "bpf_prog_2_b[bpf]");
	check_at(&k, 0xffffffffc0001000, "-");
	check_at(&k, 0xffffffffc0004000, "bpf_prog_3_c[bpf]");
	check_at(&k, 0xffffffffc0009fff, "kprobe[__builtin__kprobes]");
	check_at(&k, 0xffffffffc000a000, "-");
	mew_kallsyms_done(&k);
}

static void the_first_name_of_an_address_is_shown(void **state)
{
	struct mew_kallsyms k = parsed("ffffffff81000010 T after\n"
				       "ffffffff81000000 T __x64_sys_getpid\n"
				       "ffffffff81000000 T __ia32_sys_getpid\n"
				       "ffffffff81000020 T _etext\n"
				       "ffffffff81000020 T __fentry_end\n");

	(void)state;
	assert_int_equal(k.n, 3);
	check_at(&k, 0xffffffff8100000f, "__x64_sys_getpid");
	check_at(&k, 0xffffffff81000010, "after");
	check_at(&k, 0xffffffff81000020, "-");
	mew_kallsyms_done(&k);
}

static void what_is_no_function_is_passed_over(void **state)
{
	struct mew_kallsyms k = parsed("\n \nT\n81000000\n81000000 \n81000000 T\n81000000 T \n"
				       "81000000 t \t[mod]\n81000000 T name\tmod]\n"
				       "81000000 T name\t[mod\n81000000  T blanks\n"
				       "81000000 TT types\n0x81000000 T prefix\n-81000000 T sign\n"
				       "11111111181000000 T digits\n81000000 B bss\n"
				       "81000000 ? what\ng1000000 T number\n"
				       "82000000 T good\n82000010 t in module\t[m] and more\n"
				       "82000020 t tabbed\t[m] and more\n"
				       "82000030 T without_an_end");

	(void)state;
	assert_int_equal(k.n, 2);
	check_at(&k, 0x82000000, "good");
	check_at(&k, 0x82000020, "tabbed[m]");
	check_at(&k, 0x82000030, "tabbed[m]");
	mew_kallsyms_done(&k);
}

static void a_name_of_any_length_is_cut(void **state)
{
	char text[MEW_KALLSYMS_NAME + 64];
	struct mew_kallsyms k;
	int n = snprintf(text, sizeof(text), "81000000 T ");

	(void)state;
	memset(text + n, 'x', MEW_KALLSYMS_NAME + 10);
	strcpy(text + n + MEW_KALLSYMS_NAME + 10, "\n");
	k = parsed(text);
	assert_int_equal(k.n, 1);
	assert_int_equal(strlen(k.entries[0].name), MEW_KALLSYMS_NAME);
	mew_kallsyms_done(&k);
}

static void hidden_addresses_are_told_from_a_list_without_functions(void **state)
{
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t f\t[mod]\n";
	static const char none[] = "0000000000000000 A data\nffffffff81000000 D data\n";
	struct mew_kallsyms k = {.n = 7};

	(void)state;
	assert_int_equal(mew_kallsyms_parse(copy(hidden), strlen(hidden), &k), -EACCES);
	assert_int_equal(mew_kallsyms_parse(copy(none), strlen(none), &k), -ENOENT);
	assert_int_equal(mew_kallsyms_parse(copy(""), 0, &k), -ENOENT);
	assert_int_equal(mew_kallsyms_read("/nonexistent/kallsyms", &k), -ENOENT);
	assert_int_equal(k.n, 7); /* untouched */
}

static void without_memory_it_fails(void **state)
{
	static const char text[] = "ffffffff81000000 T f\nffffffff81000010 T g\n";
	struct mew_kallsyms k = {0};
	long n;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		char *own;
		int rc;

		failing_alloc_off();
		own = copy(text);
		failing_alloc_after(n);
		rc = mew_kallsyms_parse(own, strlen(text), &k);
		failing_alloc_off();
		assert_int_equal(rc, failing_alloc_hit() ? -ENOMEM : 0);
	}
	assert_int_equal(k.n, 2);
	mew_kallsyms_done(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_reaches_to_the_next_one),
		cmocka_unit_test(nothing_above_etext_is_the_kernels),
		cmocka_unit_test(the_last_function_of_a_module_ends_with_its_page),
		cmocka_unit_test(every_generated_program_ends_with_its_page),
		cmocka_unit_test(the_first_name_of_an_address_is_shown),
		cmocka_unit_test(what_is_no_function_is_passed_over),
		cmocka_unit_test(a_name_of_any_length_is_cut),
		cmocka_unit_test(hidden_addresses_are_told_from_a_list_without_functions),
		cmocka_unit_test(without_memory_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
