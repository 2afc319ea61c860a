/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/buffer.h"
#include "failing_alloc.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void an_empty_buffer_is_an_empty_string(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	assert_string_equal(b.data, "");
	mew_buffer_reset(&b);
	mew_buffer_done(&b);
	mew_buffer_done(NULL);
}

static void additions_are_joined_and_ended(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	mew_buffer_puts(&b, "ab");
	mew_buffer_putc(&b, 'c');
	mew_buffer_fill(&b, '.', 3);
	mew_buffer_add(&b, "de", 1);
	mew_buffer_printf(&b, "%d", 42);
	assert_string_equal(b.data, "abc...d42");
	assert_int_equal(b.len, 9);
	mew_buffer_reset(&b);
	assert_string_equal(b.data, "");
	mew_buffer_done(&b);
}

static void printf_writes_texts_longer_than_the_first_try(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	mew_buffer_puts(&b, "<");
	assert_int_equal(mew_buffer_printf(&b, "%s>", text), 0);
	assert_int_equal(b.len, 1001);
	assert_int_equal(b.data[1000], '>');
	mew_buffer_done(&b);
}

static void nul_bytes_may_be_added(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	mew_buffer_add(&b, "a\0b", 3);
	assert_memory_equal(b.data, "a\0b\0", 4);
	mew_buffer_done(&b);
}

static void detach_hands_over_the_bytes(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	size_t len = 7;
	char *s = mew_buffer_detach(&b, &len);

	(void)state;
	assert_string_equal(s, "");
	assert_int_equal(len, 0);
	free(s);
	mew_buffer_puts(&b, "text");
	s = mew_buffer_detach(&b, NULL);
	assert_string_equal(s, "text");
	assert_int_equal(b.len, 0);
	free(s);
}

static void a_file_is_read_from_its_start_up_to_a_limit(void **state)
{
	FILE *file = tmpfile();
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	assert_non_null(file);
	for (unsigned i = 0; i < 20000; i++)
		fprintf(file, "%05u\n", i);
	fflush(file);
	assert_int_equal(mew_buffer_read(&b, fileno(file), 120000), 0);
	assert_int_equal(b.len, 120000);
	assert_string_equal(b.data + 119988, "19998\n19999\n");
	mew_buffer_done(&b);
	assert_int_equal(mew_buffer_read(&b, fileno(file), 119999), -EFBIG);
	mew_buffer_done(&b);
	fclose(file);
	assert_int_equal(mew_buffer_read(&b, -1, 100), -EBADF);
	mew_buffer_done(&b);
}

static void the_first_failure_sticks(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	mew_buffer_puts(&b, "kept");
	failing_alloc_after(0);
	assert_int_equal(mew_buffer_fill(&b, 'x', 1000), -ENOMEM);
	failing_alloc_off();
	assert_int_equal(mew_buffer_puts(&b, "y"), -ENOMEM);
	assert_int_equal(mew_buffer_printf(&b, "y"), -ENOMEM);
	assert_string_equal(b.data, "kept");
	assert_null(mew_buffer_detach(&b, NULL));
	assert_int_equal(mew_buffer_puts(&b, "again"), 0);
	assert_string_equal(b.data, "again");
	mew_buffer_done(&b);
}

static void printf_leaves_no_half_text_without_memory(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	mew_buffer_puts(&b, "a");
	failing_alloc_after(1);
	assert_int_equal(mew_buffer_printf(&b, "%s", text), -ENOMEM);
	failing_alloc_off();
	assert_string_equal(b.data, "a");
	mew_buffer_done(&b);
}

static void an_impossible_size_is_out_of_memory(void **state)
{
	struct mew_buffer b = MEW_BUFFER_INIT;

	(void)state;
	mew_buffer_puts(&b, "a");
	assert_int_equal(mew_buffer_reserve(&b, SIZE_MAX), -ENOMEM);
	mew_buffer_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_is_an_empty_string),
		cmocka_unit_test(additions_are_joined_and_ended),
		cmocka_unit_test(printf_writes_texts_longer_than_the_first_try),
		cmocka_unit_test(nul_bytes_may_be_added),
		cmocka_unit_test(detach_hands_over_the_bytes),
		cmocka_unit_test(a_file_is_read_from_its_start_up_to_a_limit),
		cmocka_unit_test(the_first_failure_sticks),
		cmocka_unit_test(printf_leaves_no_half_text_without_memory),
		cmocka_unit_test(an_impossible_size_is_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
