/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "failing_alloc.h"
#include "output/text.h"
#include "unit.h"

/* 20 iterations of 2 allocations: up to 800 B, in 10 slices of 4. */
static struct mew_session *session_new(void)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_pcase *c = mew_session_case(s, "f/case:0", "n=\033[1m");

	c->heap.profiler = "mew-heap";
	c->heap.iterations = 20;
	c->heap.total_allocations = 40;
	c->heap.iteration_peak_min = 100;
	c->heap.iteration_peak_median = 400;
	c->heap.iteration_peak_max = 800;
	c->shape.width = 4;
	for (int i = 0; i < 10; i++)
		mew_shape_point(&c->shape, i < 9 ? 100 * i : 50);
	mew_shape_size(&c->shape, 0, 1);
	mew_shape_size(&c->shape, 1, 3);
	mew_shape_size(&c->shape, 128, 36);
	mew_session_case(s, "skipped", "")->result = MEW_RESULT_SKIPPED;
	return s;
}

static char *shape_of(const struct mew_session *s, struct mew_output_options o)
{
	struct mew_buffer out = MEW_BUFFER_INIT;

	assert_int_equal(mew_text_shapes(s, &o, &out), 0);
	return mew_buffer_detach(&out, NULL);
}

static void check(struct mew_session *s, struct mew_output_options o, const char *want)
{
	char *text = shape_of(s, o);

	assert_string_equal(text, want);
	free(text);
	mew_session_free(s);
}

static void a_case_has_its_curve_peaks_and_sizes(void **state)
{
	(void)state;
	check(session_new(), (struct mew_output_options){.verbose = 1, .utf8 = 1},
	      "\nf/case:0 n=\\x1b[1m\n"
	      "  live    _▁▂▃▄▅▆▇█▁\n"
	      "          up to 800 B over 40 allocations\n"
	      "  peaks   of an iteration: 100 B to 800 B, median 400 B\n"
	      "  sizes              0           1    2%  █\n"
	      "                   1 B           3    8%  ██\n"
	      "          <=     128 B          36   90%  ████████████████████████\n");
}

static void drawings_are_ascii_where_utf8_is_not_known(void **state)
{
	struct mew_session *s = session_new();
	char *text = shape_of(s, (struct mew_output_options){.verbose = 1});

	(void)state;
	assert_non_null(strstr(text, "  live    _.:-=+*#@.\n"));
	assert_non_null(strstr(text, "  ########################\n"));
	for (const char *at = text; *at; at++)
		assert_true((unsigned char)*at < 128);
	free(text);
	mew_session_free(s);
}

static void equal_peaks_are_told_once_and_those_of_a_program_not(void **state)
{
	struct mew_session *s = session_new();
	char *text;

	(void)state;
	s->cases[0].heap.iteration_peak_min = s->cases[0].heap.iteration_peak_max;
	text = shape_of(s, (struct mew_output_options){.verbose = 1});
	assert_non_null(strstr(text, "  peaks   of an iteration: 800 B\n"));
	free(text);
	s->cases[0].heap.iterations = 1;
	text = shape_of(s, (struct mew_output_options){.verbose = 1});
	assert_null(strstr(text, "peaks"));
	free(text);
	mew_session_free(s);
}

static void mappings_are_told_when_they_were_counted(void **state)
{
	struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
	struct mew_heap_row *row = &mew_session_case(s, "f", "")->heap;
	char *text;

	(void)state;
	row->mapped_calls = 6;
	row->mapped_bytes = 31 * 4096;
	row->mapped_peak_bytes = 20 * 4096;
	row->mapped_held_bytes = 0;
	row->hook_bytes = 2048;
	text = shape_of(s, (struct mew_output_options){0});
	assert_string_equal(text,
			    "\nf\n  mmap    6 calls, 124.0 KiB mapped, peak 80.00 KiB, held 0\n");
	free(text);
	check(s, (struct mew_output_options){.verbose = 1},
	      "\nf\n  mmap    6 calls, 124.0 KiB mapped, peak 80.00 KiB, held 0\n"
	      "  hook    2048 B of memory of its own\n");
}

/* 256 points are 64 columns, or what a narrow terminal has room for. */
static void no_line_is_wider_than_the_terminal_or_80_columns(void **state)
{
	static const unsigned widths[] = {0, 200, 80, 40};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct mew_session *s = mew_session_new(MEW_SESSION_HEAP);
		struct mew_pcase *c = mew_session_case(s, "f", "");
		char *text, *end;

		c->shape.width = 1;
		for (int64_t k = 0; k < 256; k++)
			mew_shape_point(&c->shape, 1ll << 50);
		text = shape_of(s, (struct mew_output_options){
					   .verbose = 1, .utf8 = 1, .width = widths[i]});
		end = strstr(text, "\n          up to");
		assert_non_null(end);
		*end = '\0';
		assert_int_equal(mew_text_width(strstr(text, "  live")),
				 widths[i] == 40 ? 40 : 10 + 64);
		free(text);
		mew_session_free(s);
	}
}

static void no_memory_is_told(void **state)
{
	struct mew_session *s = session_new();
	struct mew_output_options o = {.verbose = 1, .utf8 = 1};
	long n;

	(void)state;
	for (n = 0; failing_alloc_more(n); n++) {
		struct mew_buffer out = MEW_BUFFER_INIT;
		int rc = mew_text_shapes(s, &o, &out);

		failing_alloc_off();
		assert_int_equal(rc, failing_alloc_hit() ? -ENOMEM : 0);
		mew_buffer_done(&out);
	}
	assert_true(n > 1);
	mew_session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_case_has_its_curve_peaks_and_sizes),
		cmocka_unit_test(drawings_are_ascii_where_utf8_is_not_known),
		cmocka_unit_test(equal_peaks_are_told_once_and_those_of_a_program_not),
		cmocka_unit_test(mappings_are_told_when_they_were_counted),
		cmocka_unit_test(no_line_is_wider_than_the_terminal_or_80_columns),
		cmocka_unit_test(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
