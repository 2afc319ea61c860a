/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people write and read them. No function here allocates, and none obeys the locale: the
 * decimal mark is a point everywhere. No libm, so that libmew needs none either.
 */
#ifndef MEW_BASE_NUMBER_H
#define MEW_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Parsers take the whole text, with no blanks around it. 0, -EINVAL (not such a number) or -ERANGE
 * (it does not fit); *ret_ is untouched on failure.
 */

/* Decimal digits only. */
int mew_parse_u64(const char *s, uint64_t *ret);

/* [-+]digits[.digits][e[-+]digits]; no hexadecimal, inf or nan. */
int mew_parse_double(const char *s, double *ret);

/* A number >= 0 with a unit ns, us, ms, s, m (or min), h; seconds without one. */
int mew_parse_time(const char *s, double *ret_seconds);

/* A number >= 0 with a unit B, k, M, G, T (or KiB, KB, ...): powers of 1024, whatever the spelling.
 */
int mew_parse_bytes(const char *s, uint64_t *ret_bytes);

/*
 * Formatters write at most n bytes with the NUL and return buf. A value that is not a number is `-`
 * (not measured). MEW_NUMBER_SIZE is enough for each.
 */
enum { MEW_NUMBER_SIZE = 32 };

/* 4 significant digits and the unit: `5.282 us`, `77.22 us`, `514.8 ns`; below 1 ns `0.250 ns`;
 * `0`. */
char *mew_format_time(char *buf, size_t n, double seconds);

/* Exact up to `9999 B`, then `390.6 KiB`; a mean below 10 keeps decimals, `0.250 B`; `0`. */
char *mew_format_bytes(char *buf, size_t n, double bytes);

/* A whole number bare (`14`: the same every iteration), else 4 significant digits (`13.57`). */
char *mew_format_count(char *buf, size_t n, double count);

/*
 * share and half_width (of its 95 % interval) are fractions: 0.58, 0.012. Whole percents when the
 * half width is half a point or more, else one decimal. `<1%` or `<0.1%` for a share below
 * one of the last digit; `0%` only for 0.
 */
char *mew_format_percent(char *buf, size_t n, double share, double half_width);

/* 4 significant digits and a decimal prefix before unit: `12.95 M/s`, `75.73 MB/s`, `950 /s`. */
char *mew_format_rate(char *buf, size_t n, double per_second, const char *unit);

/* `1.03x` */
char *mew_format_ratio(char *buf, size_t n, double ratio);

/* A change as a fraction: `-26.9%`, `+144.4%`, `0.0%`. */
char *mew_format_change(char *buf, size_t n, double change);

/*
 * For CSV and JSON: 9 significant digits at most, whole numbers up to 2^53 exact and without a
 * point. An empty text for what is not a finite number.
 */
char *mew_format_csv_double(char *buf, size_t n, double value);

#endif
