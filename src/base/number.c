/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest text of a double that is looked at; a longer one is no number a person typed. */
enum { DOUBLE_TEXT_MAX = 64 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int mew_parse_u64(const char *s, uint64_t *ret)
{
	uint64_t value = 0;

	if (!is_digit(*s))
		return -EINVAL;
	for (; is_digit(*s); s++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s - '0', &value))
			return -ERANGE;
	if (*s)
		return -EINVAL;
	*ret = value;
	return 0;
}

/* Bytes of the number that s begins with, 0 for none. */
static size_t double_span(const char *s)
{
	const char *p = s, *exponent;
	bool digits = false;

	if (*p == '-' || *p == '+')
		p++;
	for (; is_digit(*p); p++)
		digits = true;
	if (*p == '.')
		for (p++; is_digit(*p); p++)
			digits = true;
	if (!digits)
		return 0;
	if (*p == 'e' || *p == 'E') {
		exponent = p + 1;
		if (*exponent == '-' || *exponent == '+')
			exponent++;
		if (is_digit(*exponent)) {
			while (is_digit(*exponent))
				exponent++;
			p = exponent;
		}
	}
	return p - s;
}

/* Parses the number that s begins with; *ret_end is what follows it. */
static int parse_prefix(const char *s, double *ret, const char **ret_end)
{
	const char *mark = localeconv()->decimal_point;
	char text[DOUBLE_TEXT_MAX + 16];
	size_t span = double_span(s), len = 0, i;
	double value;

	if (!span || span > DOUBLE_TEXT_MAX || strlen(mark) > 8)
		return -EINVAL;
	/* strtod reads the locale's mark. */
	for (i = 0; i < span; i++) {
		if (s[i] != '.') {
			text[len++] = s[i];
			continue;
		}
		memcpy(text + len, mark, strlen(mark));
		len += strlen(mark);
	}
	text[len] = '\0';
	value = strtod(text, NULL);
	if (__builtin_isinf(value))
		return -ERANGE;
	*ret = value;
	*ret_end = s + span;
	return 0;
}

int mew_parse_double(const char *s, double *ret)
{
	const char *end;
	double value;
	int rc = parse_prefix(s, &value, &end);

	if (rc)
		return rc;
	if (*end)
		return -EINVAL;
	*ret = value;
	return 0;
}

int mew_parse_time(const char *s, double *ret_seconds)
{
	/* Fractions by division: 0.1 / 1000 is rounded once, 100us is exactly the 1e-4 of C. */
	static const struct {
		const char *name;
		double times, over;
	} units[] = {
		{"", 1, 1},     {"s", 1, 1},  {"ms", 1, 1e3}, {"us", 1, 1e6}, {"\xc2\xb5s", 1, 1e6},
		{"ns", 1, 1e9}, {"m", 60, 1}, {"min", 60, 1}, {"h", 3600, 1},
	};
	const char *end;
	double value;
	size_t i;
	int rc = parse_prefix(s, &value, &end);

	if (rc)
		return rc;
	if (value < 0)
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name))
			continue;
		value = value * units[i].times / units[i].over;
		if (__builtin_isinf(value))
			return -ERANGE;
		*ret_seconds = value;
		return 0;
	}
	return -EINVAL;
}

/* The power of 1024 that the unit stands for, or -1. */
static int byte_power(const char *unit)
{
	static const char letters[] = "kmgtKMGT";
	const char *letter;

	if (!*unit || !strcmp(unit, "B"))
		return 0;
	letter = strchr(letters, *unit);
	if (!letter)
		return -1;
	unit++;
	if (*unit && strcmp(unit, "B") && strcmp(unit, "iB") && strcmp(unit, "i"))
		return -1;
	return (int)((letter - letters) % 4) + 1;
}

int mew_parse_bytes(const char *s, uint64_t *ret_bytes)
{
	size_t digits = strspn(s, "0123456789");
	char whole[24];
	const char *end;
	uint64_t value;
	double number;
	int power, rc;

	if (s[digits] != '.') {
		if (digits >= sizeof(whole))
			return -ERANGE;
		memcpy(whole, s, digits);
		whole[digits] = '\0';
		rc = mew_parse_u64(whole, &value);
		power = byte_power(s + digits);
		if (rc || power < 0)
			return rc ? rc : -EINVAL;
		if (__builtin_mul_overflow(value, (uint64_t)1 << (10 * power), &value))
			return -ERANGE;
		*ret_bytes = value;
		return 0;
	}
	rc = parse_prefix(s, &number, &end);
	if (rc)
		return rc;
	power = byte_power(end);
	if (power < 0 || number < 0)
		return -EINVAL;
	number *= (double)((uint64_t)1 << (10 * power));
	if (number >= 0x1p63)
		return -ERANGE;
	*ret_bytes = (uint64_t)(number + 0.5);
	return 0;
}

/* Makes the locale's decimal mark, whatever its bytes, a point. */
static void use_point(char *buf)
{
	char *to = buf;
	const char *from = buf;
	bool in_mark = false;

	for (; *from; from++) {
		if (is_digit(*from) || strchr("+-einfax", *from)) {
			*to++ = *from;
			in_mark = false;
		} else if (!in_mark) {
			*to++ = '.';
			in_mark = true;
		}
	}
	*to = '\0';
}

static void format_fixed(char *buf, size_t n, int decimals, double value)
{
	snprintf(buf, n, "%.*f", decimals, value);
	use_point(buf);
}

/* Decimals that show `digits` significant digits of a value >= 0, at most `max`. */
static int decimals_for(double value, int digits, int max)
{
	double limit = 1;
	int decimals = digits;

	/* Half a unit of the last digit more: 9.9996 has one digit less after the point. */
	while (decimals > 0) {
		double unit = 1;
		int i;

		for (i = 0; i < decimals; i++)
			unit *= 10;
		if (value + 0.5 / unit < limit)
			break;
		limit *= 10;
		decimals--;
	}
	if (value < 0.1) {
		for (limit = 0.1; value < limit && decimals < max; limit /= 10)
			decimals++;
	}
	return decimals < max ? decimals : max;
}

static bool is_whole(double value)
{
	return value > -0x1p53 && value < 0x1p53 && value == (double)(int64_t)value;
}

static char *not_measured(char *buf, size_t n)
{
	snprintf(buf, n, "-");
	return buf;
}

char *mew_format_time(char *buf, size_t n, double seconds)
{
	static const struct {
		double per_second;
		const char *name;
	} units[] = {{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}, {1, "s"}};
	double size = seconds < 0 ? -seconds : seconds, value = 0;
	char number[MEW_NUMBER_SIZE];
	size_t i;

	if (!(size < 1e15))
		return not_measured(buf, n);
	if (size == 0) {
		snprintf(buf, n, "0");
		return buf;
	}
	/* 999.96 would be rounded to 1000: the next unit has it. */
	for (i = 0; i < 4; i++) {
		value = size * units[i].per_second;
		if (value < 999.95 || i == 3)
			break;
	}
	format_fixed(number, sizeof(number), decimals_for(value, 4, 3), value);
	snprintf(buf, n, "%s%s %s", seconds < 0 ? "-" : "", number, units[i].name);
	return buf;
}

char *mew_format_bytes(char *buf, size_t n, double bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double size = bytes < 0 ? -bytes : bytes;
	const char *sign = bytes < 0 ? "-" : "";
	char number[MEW_NUMBER_SIZE];
	size_t i;

	if (!(size < 0x1p80))
		return not_measured(buf, n);
	if (size == 0) {
		snprintf(buf, n, "0");
		return buf;
	}
	if (size < 9999.5) {
		if (is_whole(size) || size >= 9.995)
			format_fixed(number, sizeof(number), 0, size);
		else
			format_fixed(number, sizeof(number), decimals_for(size, 3, 4), size);
		snprintf(buf, n, "%s%s B", sign, number);
		return buf;
	}
	size /= 1024;
	for (i = 0; size >= 1023.5 && i < 5; i++)
		size /= 1024;
	format_fixed(number, sizeof(number), decimals_for(size, 4, 3), size);
	snprintf(buf, n, "%s%s %s", sign, number, units[i]);
	return buf;
}

char *mew_format_count(char *buf, size_t n, double count)
{
	double size = count < 0 ? -count : count;
	char number[MEW_NUMBER_SIZE];

	if (!(size < 1e20))
		return not_measured(buf, n);
	if (is_whole(count))
		format_fixed(number, sizeof(number), 0, size);
	else if (size < 0.0000005)
		snprintf(number, sizeof(number), "<1e-6");
	else
		format_fixed(number, sizeof(number), decimals_for(size, 4, 6), size);
	snprintf(buf, n, "%s%s", count < 0 ? "-" : "", number);
	return buf;
}

char *mew_format_rate(char *buf, size_t n, double per_second, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T"};
	char number[MEW_NUMBER_SIZE];
	size_t i;

	if (!(per_second < 1e300 && per_second > -1e300))
		return not_measured(buf, n);
	/* 999.96 would be rounded to 1000: the next prefix has it. */
	for (i = 0; (per_second >= 999.95 || per_second <= -999.95) && i < 4; i++)
		per_second /= 1000;
	mew_format_count(number, sizeof(number), per_second);
	snprintf(buf, n, "%s %s%s", number, prefixes[i], unit);
	return buf;
}

char *mew_format_percent(char *buf, size_t n, double share, double half_width)
{
	bool coarse = !(half_width < 0.005);
	double percent = share * 100;
	char number[MEW_NUMBER_SIZE];

	if (!(percent > -1e9 && percent < 1e9))
		return not_measured(buf, n);
	if (percent == 0)
		snprintf(buf, n, "0%%");
	else if (coarse && percent > 0 && percent < 1)
		snprintf(buf, n, "<1%%");
	else if (!coarse && percent > 0 && percent < 0.1)
		snprintf(buf, n, "<0.1%%");
	else {
		format_fixed(number, sizeof(number), coarse ? 0 : 1, percent);
		snprintf(buf, n, "%s%%", number);
	}
	return buf;
}

char *mew_format_ratio(char *buf, size_t n, double ratio)
{
	char number[MEW_NUMBER_SIZE];

	if (!(ratio >= 0 && ratio < 1e12))
		return not_measured(buf, n);
	format_fixed(number, sizeof(number), ratio < 99.995 ? 2 : 0, ratio);
	snprintf(buf, n, "%sx", number);
	return buf;
}

char *mew_format_change(char *buf, size_t n, double change)
{
	double percent = change * 100;
	char number[MEW_NUMBER_SIZE];
	bool nothing = percent > -0.05 && percent < 0.05;

	if (!(percent > -1e12 && percent < 1e12))
		return not_measured(buf, n);
	format_fixed(number, sizeof(number), 1, nothing ? 0 : percent);
	snprintf(buf, n, "%s%s%%", percent > 0 && !nothing ? "+" : "", number);
	return buf;
}

char *mew_format_csv_double(char *buf, size_t n, double value)
{
	char number[MEW_NUMBER_SIZE];

	if (!__builtin_isfinite(value)) {
		snprintf(buf, n, "%s", "");
		return buf;
	}
	/* -0 is 0. */
	if (is_whole(value))
		snprintf(number, sizeof(number), "%.0f", value == 0 ? 0 : value);
	else
		snprintf(number, sizeof(number), "%.9g", value);
	use_point(number);
	snprintf(buf, n, "%s", number);
	return buf;
}
