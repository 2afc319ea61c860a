/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/csv.h"
#include "unit.h"

static void a_row_is_cells_commas_and_crlf(void **state)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	struct mew_csv csv;

	(void)state;
	mew_csv_init(&csv, &out);
	mew_csv_text(&csv, "name");
	mew_csv_u64(&csv, UINT64_MAX);
	mew_csv_double(&csv, 0.25);
	mew_csv_empty(&csv);
	mew_csv_end_row(&csv);
	mew_csv_text(&csv, NULL);
	mew_csv_text(&csv, "next");
	mew_csv_end_row(&csv);
	assert_string_equal(out.data, "name,18446744073709551615,0.25,\r\n,next\r\n");
	mew_buffer_done(&out);
}

static void cells_are_quoted_only_where_needed(void **state)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	struct mew_csv csv;

	(void)state;
	mew_csv_init(&csv, &out);
	mew_csv_text(&csv, "a b");
	mew_csv_text(&csv, "std::map<int, int>");
	mew_csv_text(&csv, "say \"x\"");
	mew_csv_text(&csv, "two\nlines");
	mew_csv_end_row(&csv);
	assert_string_equal(out.data,
			    "a b,\"std::map<int, int>\",\"say \"\"x\"\"\",\"two\nlines\"\r\n");
	mew_buffer_done(&out);
}

static void a_text_that_looks_like_a_formula_is_disarmed(void **state)
{
	struct mew_buffer out = MEW_BUFFER_INIT;
	struct mew_csv csv;

	(void)state;
	mew_csv_init(&csv, &out);
	mew_csv_text(&csv, "=1+1");
	mew_csv_text(&csv, "+a");
	mew_csv_text(&csv, "-b");
	mew_csv_text(&csv, "@c");
	mew_csv_text(&csv, "\td");
	mew_csv_text(&csv, "\re");
	mew_csv_text(&csv, "=f,g");
	mew_csv_double(&csv, -1);
	mew_csv_end_row(&csv);
	assert_string_equal(out.data, "'=1+1,'+a,'-b,'@c,'\td,\"'\re\",\"'=f,g\",-1\r\n");
	mew_buffer_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_cells_commas_and_crlf),
		cmocka_unit_test(cells_are_quoted_only_where_needed),
		cmocka_unit_test(a_text_that_looks_like_a_formula_is_disarmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
