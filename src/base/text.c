/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/text.h"

#include <string.h>

struct range {
	uint32_t first, last;
};

/* Columns of a terminal: the ranges that names in programs and labels meet, not all of Unicode. */
static const struct range zero_width[] = {
	{0x0300, 0x036f},   {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
	{0x0900, 0x0902},   {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},
	{0x0e34, 0x0e3a},   {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
	{0x2060, 0x2064},   {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
	{0xe0100, 0xe01ef},
};

static const struct range two_wide[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2614, 0x2615},
	{0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2e80, 0x303e},
	{0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
	{0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
	{0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd},
};

static bool in_ranges(const struct range *ranges, size_t n, uint32_t code)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

static size_t code_width(uint32_t code)
{
	if (code < 0x300 || code == UINT32_MAX)
		return 1;
	if (in_ranges(zero_width, sizeof(zero_width) / sizeof(zero_width[0]), code))
		return 0;
	return in_ranges(two_wide, sizeof(two_wide) / sizeof(two_wide[0]), code) ? 2 : 1;
}

size_t mew_text_decode(const char *s, size_t len, uint32_t *ret_code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = *s;
	size_t n, i;
	uint32_t code;

	*ret_code = UINT32_MAX;
	if (c < 0x80) {
		*ret_code = c;
		return 1;
	}
	n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || n > len)
		return 1;
	code = c & (0xff >> (n + 1));
	for (i = 1; i < n; i++) {
		c = s[i];
		if ((c & 0xc0) != 0x80)
			return 1;
		code = code << 6 | (c & 0x3f);
	}
	/* Overlong forms, surrogates and what lies past Unicode are no characters. */
	if (code < least[n] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return 1;
	*ret_code = code;
	return n;
}

size_t mew_text_width_n(const char *s, size_t len)
{
	size_t width = 0, n;
	uint32_t code;

	for (; len; s += n, len -= n) {
		n = mew_text_decode(s, len, &code);
		width += code_width(code);
	}
	return width;
}

size_t mew_text_width(const char *s)
{
	return mew_text_width_n(s, strlen(s));
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* They reorder what stands beside them: a name could forge a row. */
static bool is_bidi(uint32_t code)
{
	return code == 0x061c || code == 0x200e || code == 0x200f || code == 0x2028 ||
	       code == 0x2029 || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

int mew_text_escape(struct mew_buffer *out, const char *s)
{
	size_t len = strlen(s), n;
	uint32_t code;

	for (; len; s += n, len -= n) {
		n = mew_text_decode(s, len, &code);
		if (*s == '\n')
			mew_buffer_puts(out, "\\n");
		else if (*s == '\t')
			mew_buffer_puts(out, "\\t");
		else if (*s == '\r')
			mew_buffer_puts(out, "\\r");
		else if (code == UINT32_MAX || code < 0x20 || code == 0x7f)
			mew_buffer_printf(out, "\\x%02x", (unsigned char)*s);
		else if (is_control(code) || is_bidi(code))
			mew_buffer_printf(out, "\\u%04x", (unsigned int)code);
		else
			mew_buffer_add(out, s, n);
	}
	return out->error;
}

size_t mew_text_location(const char *s)
{
	size_t len = strlen(s), i;

	/* Parentheses inside would make it a parameter list: `f(int (*)(int))`. */
	if (len < 4 || s[len - 1] != ')')
		return len;
	for (i = len - 1; i > 1; i--) {
		if (s[i - 1] == ')')
			return len;
		if (s[i - 1] == '(')
			return s[i - 2] == ' ' && i > 2 ? i - 2 : len;
	}
	return len;
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Bytes of an operator's name at s + at, whose < and > are no brackets; 0 for another text. */
static size_t operator_span(const char *s, size_t at, size_t len)
{
	static const char *const names[] = {
		"operator<=>", "operator<<=", "operator>>=", "operator<<",
		"operator>>",  "operator<=",  "operator>=",  "operator->*",
		"operator->",  "operator<",   "operator>"};
	size_t i, n;

	if (s[at] != 'o' || (at && in_name(s[at - 1])))
		return 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		n = strlen(names[i]);
		if (n <= len - at && !memcmp(s + at, names[i], n))
			return n;
	}
	return 0;
}

/* Appends s[0..len) with the inside of every outermost <...> left out. */
static void collapse(struct mew_buffer *out, const char *s, size_t len)
{
	size_t depth = 0, i, n;

	for (i = 0; i < len; i++) {
		n = operator_span(s, i, len);
		if (n) {
			if (!depth)
				mew_buffer_add(out, s + i, n);
			i += n - 1;
			continue;
		}
		if (s[i] == '>' && depth && s[i - 1] != '-')
			depth--;
		if (!depth)
			mew_buffer_putc(out, s[i]);
		if (s[i] == '<')
			depth++;
	}
}

/* Leaves out the inside of every outermost (...), which are parameters, but of (anonymous). */
static void drop_parameters(struct mew_buffer *b)
{
	static const char anonymous[] = "(anonymous";
	size_t depth = 0, to = 0, i;

	for (i = 0; i < b->len; i++) {
		if (!depth && !strncmp(b->data + i, anonymous, sizeof(anonymous) - 1)) {
			while (i < b->len && b->data[i] != ')')
				b->data[to++] = b->data[i++];
			i--;
			continue;
		}
		if (b->data[i] == ')' && depth)
			depth--;
		if (!depth)
			b->data[to++] = b->data[i];
		if (b->data[i] == '(')
			depth++;
	}
	b->len = to;
	b->data[to] = '\0';
}

/* Bytes at the start of s that take at most `width` columns, whole characters only. */
static size_t head_bytes(const char *s, size_t len, size_t width)
{
	size_t at = 0, used = 0, n, w;
	uint32_t code;

	for (; at < len; at += n) {
		n = mew_text_decode(s + at, len - at, &code);
		w = code_width(code);
		if (used + w > width)
			break;
		used += w;
	}
	return at;
}

/* Where the shortest tail begins that leaves at most `width` columns, no combining mark alone. */
static size_t tail_start(const char *s, size_t len, size_t width)
{
	size_t at = 0, left = mew_text_width_n(s, len), n;
	uint32_t code;

	while (at < len) {
		n = mew_text_decode(s + at, len - at, &code);
		if (left <= width && (code_width(code) || left == 0))
			break;
		left -= code_width(code);
		at += n;
	}
	return at;
}

static void cut_middle(struct mew_buffer *out, const char *s, size_t len, size_t width)
{
	size_t head, tail;

	if (width <= 3) {
		mew_buffer_fill(out, '.', width);
		return;
	}
	width -= 3;
	head = head_bytes(s, len, width / 3);
	tail = tail_start(s, len, width - mew_text_width_n(s, head));
	mew_buffer_add(out, s, head);
	mew_buffer_puts(out, "...");
	mew_buffer_add(out, s + tail, len - tail);
}

int mew_text_shorten(struct mew_buffer *out, const char *s, size_t width, bool *ret_cut)
{
	size_t len = strlen(s);
	struct mew_buffer less = MEW_BUFFER_INIT;
	bool cut = false;

	if (mew_text_width_n(s, len) > width)
		len = mew_text_location(s);
	if (mew_text_width_n(s, len) <= width) {
		mew_buffer_add(out, s, len);
	} else {
		cut = true;
		collapse(&less, s, len);
		if (!less.error && mew_text_width_n(less.data, less.len) > width)
			drop_parameters(&less);
		if (less.error)
			out->error = out->error ? out->error : less.error;
		else if (mew_text_width_n(less.data, less.len) <= width)
			mew_buffer_add(out, less.data, less.len);
		else
			cut_middle(out, less.data, less.len, width);
		mew_buffer_done(&less);
	}
	if (ret_cut)
		*ret_cut = cut;
	return out->error;
}

int mew_text_quote(struct mew_buffer *out, const char *word)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-+=./:,@%^";

	if (*word && !word[strspn(word, harmless)])
		return mew_buffer_puts(out, word);
	mew_buffer_putc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			mew_buffer_puts(out, "'\\''");
		else
			mew_buffer_putc(out, *word);
	return mew_buffer_putc(out, '\'');
}
