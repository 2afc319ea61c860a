/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no file; the rest is in tests/integration/symbols.sh. */
#include "config.h"

#include "base/buffer.h"
#include "failing_alloc.h"
#include "symbol/symbol.h"
#include "unit.h"
#include "unwind/table.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void describes_as(struct mew_function f, const char *text)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	mew_function_describe(&f, &out);
	assert_string_equal(out.data, text);
	mew_buffer_done(&out);
}

static void a_function_is_described_by_its_file_else_by_its_module(void **state)
{
	(void)state;
	describes_as((struct mew_function){.name = "f(int)",
					   .file = "/src/a b/f.cc",
					   .line = 12,
					   .module = "/bin/prog",
					   .source = MEW_SYMBOL_DWARF},
		     "f(int) (f.cc:12)");
	describes_as((struct mew_function){.name = "f",
					   .file = "f.c",
					   .module = "/bin/prog",
					   .source = MEW_SYMBOL_DWARF},
		     "f (f.c)");
	describes_as((struct mew_function){.name = "f",
					   .module = "/lib/libc.so.6",
					   .source = MEW_SYMBOL_ELF},
		     "f (libc.so.6)");
	describes_as((struct mew_function){.name = "[libc.so.6]",
					   .module = "/lib/libc.so.6",
					   .source = MEW_SYMBOL_NONE},
		     "[libc.so.6]");
	describes_as((struct mew_function){.name = "[unknown]", .module = ""}, "[unknown]");
}

static void no_module(void *arg, const char *path, enum mew_symbol_lack lack, uint64_t n_lookups)
{
	assert_string_equal(path, "/nowhere/lib a.so");
	assert_int_equal(n_lookups, 3);
	assert_int_equal(lack, MEW_LACK_FILE);
	++*(int *)arg;
}

static void what_lies_nowhere_is_unknown_and_what_cannot_be_read_is_its_module(void **state)
{
	void *space = calloc(1, sizeof(struct mew_unwind_table));
	struct mew_modules *modules = mew_modules_new(space, sizeof(struct mew_unwind_table), NULL);
	struct mew_symbols *s = mew_symbols_new(modules, NULL);
	const struct mew_symbol_frame *frames, *again;
	unsigned n = 0;
	int n_poor = 0;

	(void)state;
	assert_non_null(s);
	assert_int_equal(
		mew_modules_add(modules,
				&(struct mew_mapped){0x1000, 0x2000, .path = "/nowhere/lib a.so"},
				NULL),
		0);
	assert_int_equal(mew_modules_add(modules,
					 &(struct mew_mapped){0x3000, 0x4000, .path = "//anon"},
					 NULL),
			 0);

	/* Nowhere, in the kernel, in code that was made at run time. */
	frames = mew_symbols_at(s, 0x999, 0, 0, &n);
	assert_int_equal(n, 1);
	assert_string_equal(frames->function->name, "[unknown]");
	assert_string_equal(frames->function->module, "");
	assert_int_equal(frames->inlined, 0);
	again = mew_symbols_at(s, 0xffffffff81000000, 1, 0, &n);
	assert_ptr_equal(again->function, frames->function);
	again = mew_symbols_at(s, 0, 1, 0, &n);
	assert_ptr_equal(again->function, frames->function);
	again = mew_symbols_at(s, 0x3000, 0, 0, &n);
	assert_string_equal(again->function->name, "[anon]");

	frames = mew_symbols_at(s, 0x1000, 0, 0, &n);
	assert_int_equal(n, 1);
	assert_string_equal(frames->function->name, "[lib a.so]");
	assert_int_equal(frames->function->source, MEW_SYMBOL_NONE);
	assert_int_equal(frames->function->id, 2);
	again = mew_symbols_at(s, 0x1fff, 0, 0, &n);
	assert_ptr_equal(again->function, frames->function);
	/* The return address of a call that ends the mapping. */
	again = mew_symbols_at(s, 0x2000, 1, 0, &n);
	assert_ptr_equal(again->function, frames->function);
	mew_symbols_lacks(no_module, &n_poor);
	assert_int_equal(n_poor, 1);
	mew_symbols_lacks(no_module, &n_poor);
	assert_int_equal(n_poor, 1);
	mew_symbols_free(s);
	mew_symbols_free(NULL);
	mew_symbols_forget();
	mew_modules_free(modules);
	free(space);
}

/* This program, in its own memory: 0 and the function at pc, or -ENOMEM. */
static int name_of(uint64_t pc, void *space, size_t bytes, char *ret_name, size_t size)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), rc = -ENOMEM;
	struct mew_modules *modules = mew_modules_new(space, bytes, NULL);
	struct mew_symbols *s = modules ? mew_symbols_new(modules, NULL) : NULL;
	const struct mew_symbol_frame *frames;
	unsigned n;

	if (s)
		rc = mew_modules_read_maps(modules, fd, NULL);
	if (!rc) {
		frames = mew_symbols_at(s, pc, 0, 0, &n);
		if (!frames)
			rc = -ENOMEM;
		else
			strncat(ret_name, frames[n - 1].function->name, size - 1);
	}
	mew_symbols_free(s);
	mew_symbols_forget();
	mew_modules_free(modules);
	close(fd);
	return rc;
}

static void a_function_of_the_vdso_has_its_name(void **state)
{
	size_t bytes = sizeof(struct mew_unwind_table) + (16u << 20);
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), *space, *pc = NULL;
	char name[64] = "";

	(void)state;
#if defined(__x86_64__)
	pc = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
#else
	pc = vdso ? dlsym(vdso, "__kernel_clock_gettime") : NULL;
#endif
	if (!pc)
		return; /* valgrind hides it */
	space = calloc(1, bytes);
	assert_int_equal(name_of((uintptr_t)pc, space, bytes, name, sizeof(name)), 0);
	assert_non_null(strstr(name, "clock_gettime"));
	free(space);
}

static void without_memory_nothing_is_named_and_nothing_breaks(void **state)
{
	size_t bytes = sizeof(struct mew_unwind_table) + (16u << 20);
	void *space = calloc(1, bytes);
	bool done = false;
	long i;

	(void)state;
	assert_non_null(space);
	for (i = 0; failing_alloc_more(i); i++) {
		char name[64] = "";
		int rc = name_of((uintptr_t)name_of, space, bytes, name, sizeof(name));

		failing_alloc_off();
		if (failing_alloc_hit()) {
			assert_int_equal(rc, -ENOMEM);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_string_equal(name, "name_of");
		done = true;
	}
	assert_true(done);
	assert_true(i > 20);
	free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_described_by_its_file_else_by_its_module),
		cmocka_unit_test(
			what_lies_nowhere_is_unknown_and_what_cannot_be_read_is_its_module),
		cmocka_unit_test(a_function_of_the_vdso_has_its_name),
		cmocka_unit_test(without_memory_nothing_is_named_and_nothing_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
