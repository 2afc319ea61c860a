/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/number.h"
#include "unit.h"

#include <errno.h>
#include <locale.h>

#define assert_format(call, text)                                                                  \
	do {                                                                                       \
		char buf[MEW_NUMBER_SIZE];                                                         \
		assert_string_equal(call, text);                                                   \
	} while (0)
#define TIME(s, text) assert_format(mew_format_time(buf, sizeof(buf), s), text)
#define BYTES(b, text) assert_format(mew_format_bytes(buf, sizeof(buf), b), text)
#define COUNT(c, text) assert_format(mew_format_count(buf, sizeof(buf), c), text)
#define RATE(r, text) assert_format(mew_format_rate(buf, sizeof(buf), r, "B/s"), text)
#define PERCENT(p, h, text) assert_format(mew_format_percent(buf, sizeof(buf), p, h), text)
#define RATIO(r, text) assert_format(mew_format_ratio(buf, sizeof(buf), r), text)
#define CHANGE(c, text) assert_format(mew_format_change(buf, sizeof(buf), c), text)
#define CSV(v, text) assert_format(mew_format_csv_double(buf, sizeof(buf), v), text)

static void assert_time(const char *s, double seconds)
{
	double value = -1;

	assert_int_equal(mew_parse_time(s, &value), 0);
	assert_true(value == seconds);
}

static void refuse_time(const char *s, int code)
{
	double value = -1;

	assert_int_equal(mew_parse_time(s, &value), code);
	assert_true(value == -1);
}

static void times_take_units_and_exponents(void **state)
{
	(void)state;
	assert_time("100us", 1e-4);
	assert_time("1e-4", 1e-4);
	assert_time("0.1ms", 1e-4);
	assert_time("100000ns", 1e-4);
	assert_time("100\xc2\xb5s", 1e-4);
	assert_time("2s", 2);
	assert_time(".5", 0.5);
	assert_time("1m", 60);
	assert_time("1.5min", 90);
	assert_time("1h", 3600);
	assert_time("0", 0);
}

static void what_is_no_time_is_refused(void **state)
{
	(void)state;
	refuse_time("", -EINVAL);
	refuse_time("s", -EINVAL);
	refuse_time(".", -EINVAL);
	refuse_time("-1", -EINVAL);
	refuse_time("1 s", -EINVAL);
	refuse_time(" 1", -EINVAL);
	refuse_time("1x", -EINVAL);
	refuse_time("1e", -EINVAL);
	refuse_time("1,5", -EINVAL);
	refuse_time("nan", -EINVAL);
	refuse_time("inf", -EINVAL);
	refuse_time("0x10", -EINVAL);
	refuse_time("1e999", -ERANGE);
	refuse_time("1e308h", -ERANGE);
	refuse_time("000000000000000000000000000000000000000000000000000000000000000000001",
		    -EINVAL);
}

static void whole_numbers_are_digits_only(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_int_equal(mew_parse_u64("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(mew_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(mew_parse_u64("", &value), -EINVAL);
	assert_int_equal(mew_parse_u64("-1", &value), -EINVAL);
	assert_int_equal(mew_parse_u64("+1", &value), -EINVAL);
	assert_int_equal(mew_parse_u64("1x", &value), -EINVAL);
	assert_true(value == UINT64_MAX);
	assert_int_equal(mew_parse_u64("007", &value), 0);
	assert_int_equal(value, 7);
}

static void doubles_take_signs(void **state)
{
	double value = 0;

	(void)state;
	assert_int_equal(mew_parse_double("-1.5e3", &value), 0);
	assert_true(value == -1500);
	assert_int_equal(mew_parse_double("+2.", &value), 0);
	assert_true(value == 2);
	assert_int_equal(mew_parse_double("1.5.", &value), -EINVAL);
}

static void sizes_take_powers_of_1024(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_int_equal(mew_parse_bytes("8k", &value), 0);
	assert_int_equal(value, 8192);
	assert_int_equal(mew_parse_bytes("1MiB", &value), 0);
	assert_int_equal(value, 1 << 20);
	assert_int_equal(mew_parse_bytes("1.5kB", &value), 0);
	assert_int_equal(value, 1536);
	assert_int_equal(mew_parse_bytes("65528", &value), 0);
	assert_int_equal(value, 65528);
	assert_int_equal(mew_parse_bytes("3B", &value), 0);
	assert_int_equal(value, 3);
	assert_int_equal(mew_parse_bytes("99999999T", &value), -ERANGE);
	assert_int_equal(mew_parse_bytes("9999999999999999999999999", &value), -ERANGE);
	assert_int_equal(mew_parse_bytes("9999999.5T", &value), -ERANGE);
	assert_int_equal(mew_parse_bytes("k", &value), -EINVAL);
	assert_int_equal(mew_parse_bytes("1x", &value), -EINVAL);
	assert_int_equal(mew_parse_bytes("1kx", &value), -EINVAL);
	assert_int_equal(mew_parse_bytes("-1", &value), -EINVAL);
	assert_int_equal(value, 3);
}

static void times_have_four_digits_and_a_unit(void **state)
{
	(void)state;
	TIME(77.22e-6, "77.22 us");
	TIME(5.282e-6, "5.282 us");
	TIME(514.8e-9, "514.8 ns");
	TIME(12.55e-3, "12.55 ms");
	TIME(1.5, "1.500 s");
	TIME(1234.4, "1234 s");
	TIME(0.25e-9, "0.250 ns");
	TIME(0, "0");
	TIME(-2e-3, "-2.000 ms");
	TIME(__builtin_nan(""), "-");
	TIME(__builtin_inf(), "-");
}

static void rounding_moves_on_to_the_next_unit(void **state)
{
	(void)state;
	TIME(999.94e-9, "999.9 ns");
	TIME(999.96e-9, "1.000 us");
	TIME(9.9996e-6, "10.00 us");
	TIME(99.996e-6, "100.0 us");
	TIME(999.99e-3, "1.000 s");
	BYTES(9999.6, "9.765 KiB");
	BYTES(1023.4 * 1024, "1023 KiB");
	BYTES(1023.7 * 1024, "1.000 MiB");
	COUNT(9.99996, "10.00");
}

static void bytes_are_exact_up_to_9999(void **state)
{
	(void)state;
	BYTES(0, "0");
	BYTES(1, "1 B");
	BYTES(362, "362 B");
	BYTES(9999, "9999 B");
	BYTES(10000, "9.766 KiB");
	BYTES(400000, "390.6 KiB");
	BYTES(10.0 * 1024 * 1024, "10.00 MiB");
	BYTES(0x1p60, "1.000 EiB");
	BYTES(293.4, "293 B");
	BYTES(0.25, "0.250 B");
	BYTES(-500, "-500 B");
	BYTES(__builtin_nan(""), "-");
}

static void a_whole_count_has_no_decimals(void **state)
{
	(void)state;
	COUNT(0, "0");
	COUNT(14, "14");
	COUNT(123456789, "123456789");
	COUNT(13.567, "13.57");
	COUNT(1.00004, "1.000");
	COUNT(0.0123, "0.01230");
	COUNT(12345.6, "12346");
	COUNT(1e-9, "<1e-6");
	COUNT(-2, "-2");
	COUNT(__builtin_nan(""), "-");
}

static void a_rate_has_a_prefix(void **state)
{
	(void)state;
	RATE(0, "0 B/s");
	RATE(950, "950 B/s");
	RATE(999.94, "999.9 B/s");
	RATE(999.96, "1.000 kB/s");
	RATE(12.95e6, "12.95 MB/s");
	RATE(-2.5e9, "-2.500 GB/s");
	RATE(5e15, "5000 TB/s");
	RATE(__builtin_nan(""), "-");
	RATE(__builtin_inf(), "-");
}

static void a_share_shows_no_digit_that_it_cannot_bear(void **state)
{
	(void)state;
	PERCENT(0.5812, 0.02, "58%");
	PERCENT(0.5812, 0.005, "58%");
	PERCENT(0.5812, 0.001, "58.1%");
	PERCENT(0.004, 0.02, "<1%");
	PERCENT(0.006, 0.02, "<1%");
	PERCENT(0.01, 0.02, "1%");
	PERCENT(0.0004, 0.0001, "<0.1%");
	PERCENT(0, 0.02, "0%");
	PERCENT(0, 0, "0%");
	PERCENT(1, 0, "100.0%");
	PERCENT(0.999, 0.02, "100%");
	PERCENT(0.5, __builtin_nan(""), "50%");
	PERCENT(__builtin_nan(""), 0, "-");
}

static void ratios_and_changes_are_short(void **state)
{
	(void)state;
	RATIO(1.03, "1.03x");
	RATIO(123.4, "123x");
	RATIO(__builtin_nan(""), "-");
	CHANGE(-0.269, "-26.9%");
	CHANGE(1.444, "+144.4%");
	CHANGE(0.0001, "0.0%");
	CHANGE(-0.0001, "0.0%");
	CHANGE(__builtin_nan(""), "-");
}

static void csv_numbers_are_plain(void **state)
{
	(void)state;
	CSV(0, "0");
	CSV(-0.0, "0");
	CSV(0.0001, "0.0001");
	CSV(1.0 / 3, "0.333333333");
	CSV(7.722e-05, "7.722e-05");
	CSV(9007199254740991, "9007199254740991");
	CSV(1e300, "1e+300");
	CSV(-2.5, "-2.5");
	CSV(__builtin_nan(""), "");
	CSV(__builtin_inf(), "");
}

static void a_small_buffer_is_never_overrun(void **state)
{
	char buf[4] = "xxx";

	(void)state;
	mew_format_time(buf, 3, 77.22e-6);
	assert_string_equal(buf, "77");
	mew_format_csv_double(buf, sizeof(buf), 123456);
	assert_string_equal(buf, "123");
}

static void the_locale_is_ignored(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
	size_t i;

	(void)state;
	/* Without such a locale on the machine this tests the C locale once more. */
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (setlocale(LC_ALL, names[i]))
			break;
	TIME(77.22e-6, "77.22 us");
	CSV(1.5, "1.5");
	CSV(1.5e-7, "1.5e-07");
	assert_time("1.5", 1.5);
	refuse_time("1,5", -EINVAL);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_take_units_and_exponents),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(whole_numbers_are_digits_only),
		cmocka_unit_test(doubles_take_signs),
		cmocka_unit_test(sizes_take_powers_of_1024),
		cmocka_unit_test(times_have_four_digits_and_a_unit),
		cmocka_unit_test(rounding_moves_on_to_the_next_unit),
		cmocka_unit_test(bytes_are_exact_up_to_9999),
		cmocka_unit_test(a_whole_count_has_no_decimals),
		cmocka_unit_test(a_rate_has_a_prefix),
		cmocka_unit_test(a_share_shows_no_digit_that_it_cannot_bear),
		cmocka_unit_test(ratios_and_changes_are_short),
		cmocka_unit_test(csv_numbers_are_plain),
		cmocka_unit_test(a_small_buffer_is_never_overrun),
		cmocka_unit_test(the_locale_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
