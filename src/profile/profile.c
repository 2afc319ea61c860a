/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "profile/profile.h"
#include "profile/roles.h"

struct mew_session_private {
	struct mew_arena *arena;
	struct mew_strings strings;
	struct mew_bytes_map functions; /* struct function_key -> index */
	struct mew_bytes_map stacks;    /* struct stack_key -> index */
	struct mew_map values;          /* value_key() -> index in the case's values */
	size_t cap_cases, cap_functions, cap_stacks;
	size_t *cap_values; /* one a case */
	size_t cap_cap_values;
};

/* Interned texts compare by their addresses. No padding: the keys are compared as bytes. */
struct function_key {
	const char *name, *file, *module;
	uint64_t line;
};

struct stack_key {
	uint32_t parent, function, line, inlined;
};

/* Cases that the key below has room for. */
enum { CASES_MAX = 1 << 30 };

static uint64_t value_key(size_t index, uint32_t stack, int whole)
{
	return (uint64_t)index << 33 | (uint64_t)stack << 1 | !!whole;
}

struct mew_session *mew_session_new(enum mew_session_kind kind)
{
	struct mew_session *s = calloc(1, sizeof(*s));
	struct mew_session_private *p;

	if (!s)
		return NULL;
	s->kind = kind;
	s->program = s->build_id = s->arguments = s->tag = s->engine = s->machine = s->version = "";
	s->private_ = p = calloc(1, sizeof(*p));
	if (!p)
		goto fail;
	p->arena = mew_arena_new();
	mew_strings_init(&p->strings, p->arena);
	mew_bytes_map_init(&p->functions);
	mew_bytes_map_init(&p->stacks);
	mew_map_init(&p->values);
	if (!p->arena || MEW_ARRAY_PUSH(s->stacks, s->n_stacks, p->cap_stacks))
		goto fail;
	s->stacks[s->n_stacks++] = (struct mew_pstack){0};
	return s;
fail:
	mew_session_free(s);
	return NULL;
}

void mew_session_free(struct mew_session *s)
{
	struct mew_session_private *p;
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n_cases; i++) {
		free(s->cases[i].values);
		free(s->cases[i].counters);
		mew_shape_done(&s->cases[i].shape);
	}
	free(s->cases);
	free(s->functions);
	free(s->stacks);
	p = s->private_;
	if (p) {
		mew_strings_done(&p->strings);
		mew_bytes_map_done(&p->functions);
		mew_bytes_map_done(&p->stacks);
		mew_map_done(&p->values);
		mew_arena_free(p->arena);
		free(p->cap_values);
	}
	free(p);
	free(s);
}

const char *mew_session_text(struct mew_session *s, const char *text)
{
	return mew_strings_intern(&s->private_->strings, text, strlen(text));
}

const char *mew_session_printf(struct mew_session *s, const char *format, ...)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	const char *kept = NULL;
	va_list ap;

	va_start(ap, format);
	if (!mew_buffer_vprintf(&b, format, ap))
		kept = mew_session_text(s, b.data);
	va_end(ap);
	mew_buffer_done(&b);
	return kept;
}

uint32_t mew_session_function(struct mew_session *s, const char *name, const char *file,
			      uint32_t line, const char *module)
{
	struct mew_session_private *p = s->private_;
	struct function_key key = {.line = line};
	uint64_t *index;
	bool is_new;

	key.name = mew_session_text(s, name);
	key.file = mew_session_text(s, file ? file : "");
	key.module = mew_session_text(s, module ? module : "");
	/* Room first: once the map knows the function, it must be there. */
	if (!key.name || !key.file || !key.module || s->n_functions >= UINT32_MAX - 1 ||
	    MEW_ARRAY_PUSH(s->functions, s->n_functions, p->cap_functions))
		return UINT32_MAX;
	index = mew_bytes_map_add(&p->functions, &key, sizeof(key), s->n_functions, &is_new);
	if (!index)
		return UINT32_MAX;
	if (is_new)
		s->functions[s->n_functions++] = (struct mew_pfunction){
			.name = key.name,
			.file = key.file,
			.line = line,
			.module = key.module,
			.role = mew_function_role(key.name, key.module),
		};
	return (uint32_t)*index;
}

uint32_t mew_session_stack(struct mew_session *s, uint32_t parent, uint32_t function, uint32_t line,
			   int inlined)
{
	struct mew_session_private *p = s->private_;
	struct stack_key key = {parent, function, line, !!inlined};
	uint64_t *index;
	bool is_new;

	if (s->n_stacks >= UINT32_MAX - 1 || MEW_ARRAY_PUSH(s->stacks, s->n_stacks, p->cap_stacks))
		return UINT32_MAX;
	index = mew_bytes_map_add(&p->stacks, &key, sizeof(key), s->n_stacks, &is_new);
	if (!index)
		return UINT32_MAX;
	if (is_new)
		s->stacks[s->n_stacks++] =
			(struct mew_pstack){parent, function, line, (uint8_t) !!inlined};
	return (uint32_t)*index;
}

static void nothing_measured(struct mew_pcase *c)
{
	c->cpu = (struct mew_cpu_row){
		.profiler = "",
		.wall_time_s = NAN,
		.top_function = "",
		.top_self_s = NAN,
		.interval_s = NAN,
		.paused_time_s = NAN,
		.kernel_time_s = NAN,
		.off_cpu_time_s = NAN,
		.slowdown = NAN,
		.pause_cost_s = NAN,
		.time_per_iteration_s = NAN,
		.time_spread = NAN,
		.user_time_s = NAN,
		.top_share = NAN,
		.top_share_half_width = NAN,
	};
	c->heap = (struct mew_heap_row){
		.profiler = "",
		.allocations_per_iteration = NAN,
		.iteration_peak_min = NAN,
		.iteration_peak_median = NAN,
		.iteration_peak_max = NAN,
		.mapped_calls = NAN,
		.mapped_bytes = NAN,
		.mapped_peak_bytes = NAN,
		.mapped_held_bytes = NAN,
		.hook_bytes = NAN,
		.top_allocator = "-",
		.top_allocator_share = NAN,
	};
}

struct mew_pcase *mew_session_case(struct mew_session *s, const char *key, const char *label)
{
	struct mew_session_private *p = s->private_;
	struct mew_pcase *c;

	if (s->n_cases >= CASES_MAX || MEW_ARRAY_PUSH(s->cases, s->n_cases, p->cap_cases) ||
	    MEW_ARRAY_PUSH(p->cap_values, s->n_cases, p->cap_cap_values))
		return NULL;
	key = mew_session_text(s, key);
	label = mew_session_text(s, label ? label : "");
	if (!key || !label)
		return NULL;
	c = &s->cases[s->n_cases];
	*c = (struct mew_pcase){
		.key = key, .label = label, .reason = "", .verdict = "ok", .hint = ""};
	nothing_measured(c);
	p->cap_values[s->n_cases++] = 0;
	return c;
}

void mew_session_drop_case(struct mew_session *s)
{
	struct mew_pcase *c = &s->cases[--s->n_cases];

	free(c->values);
	free(c->counters);
	mew_shape_done(&c->shape);
}

struct mew_pvalue *mew_case_value(struct mew_session *s, struct mew_pcase *c, uint32_t stack,
				  int whole)
{
	struct mew_session_private *p = s->private_;
	size_t index = (size_t)(c - s->cases);
	uint64_t *at;
	bool is_new;

	if (c->n_values >= UINT32_MAX ||
	    MEW_ARRAY_PUSH(c->values, c->n_values, p->cap_values[index]))
		return NULL;
	at = mew_map_add(&p->values, value_key(index, stack, whole), c->n_values, &is_new);
	if (!at)
		return NULL;
	if (is_new)
		c->values[c->n_values++] = (struct mew_pvalue){.stack = stack, .whole = !!whole};
	return &c->values[*at];
}

int mew_case_counter(struct mew_session *s, struct mew_pcase *c, const char *name, double value,
		     int kind)
{
	struct mew_pcounter *counters;
	const char *kept = mew_session_text(s, name);

	if (!kept)
		return -ENOMEM;
	counters = realloc(c->counters, (c->n_counters + 1) * sizeof(*counters));
	if (!counters)
		return -ENOMEM;
	c->counters = counters;
	counters[c->n_counters++] = (struct mew_pcounter){kept, value, kind};
	return 0;
}

int mew_pfunction_compare(const struct mew_pfunction *a, const struct mew_pfunction *b)
{
	int order = strcmp(a->name, b->name);

	if (!order)
		order = strcmp(a->module, b->module);
	if (!order)
		order = strcmp(a->file, b->file);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

const char *mew_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int mew_pfunction_describe(const struct mew_pfunction *f, struct mew_buffer *out)
{
	mew_buffer_puts(out, f->name);
	if (*f->file && f->line)
		mew_buffer_printf(out, " (%s:%u)", mew_base_name(f->file), f->line);
	else if (*f->file)
		mew_buffer_printf(out, " (%s)", mew_base_name(f->file));
	else if (*f->module && *f->name != '[')
		mew_buffer_printf(out, " (%s)", mew_base_name(f->module));
	return out->error;
}

static const char *described(struct mew_session *s, uint32_t function)
{
	struct mew_buffer b = MEW_BUFFER_INIT;
	const char *kept = NULL;

	if (!mew_pfunction_describe(&s->functions[function], &b))
		kept = mew_session_text(s, b.data);
	mew_buffer_done(&b);
	return kept;
}

double mew_time_share(const struct mew_cpu_row *row, double part_s)
{
	double all_s = row->user_time_s;

	if (!isnan(row->kernel_time_s))
		all_s += row->kernel_time_s;
	if (!isnan(row->off_cpu_time_s))
		all_s += row->off_cpu_time_s;
	return all_s > 0 ? part_s / all_s : NAN;
}

/*
 * Half the width of the 95 % interval of a share p seen in n samples (Wilson's, which does not
 * vanish when p is 0 or 1).
 */
double mew_share_half_width(double p, uint64_t n)
{
	const double z = 1.959964;
	double m = (double)n;

	if (!n)
		return NAN;
	return z / (1 + z * z / m) * sqrt(p * (1 - p) / m + z * z / (4 * m * m));
}

/* The function with the largest sum; of equal ones the first by name. MEW_NO_FUNCTION: all are 0.
 */
static uint32_t largest(const struct mew_session *s, const double *sums)
{
	uint32_t best = MEW_NO_FUNCTION, i;

	for (i = 0; i < s->n_functions; i++) {
		if (!(sums[i] > 0))
			continue;
		if (best == MEW_NO_FUNCTION || sums[i] > sums[best] ||
		    (sums[i] == sums[best] &&
		     mew_pfunction_compare(&s->functions[i], &s->functions[best]) < 0))
			best = i;
	}
	return best;
}

/* The function with most samples, in sums that are all 0. */
static uint32_t most_sampled(const struct mew_session *s, const struct mew_pcase *c, double *sums)
{
	for (size_t i = 0; i < c->n_values; i++) {
		const struct mew_pvalue *v = &c->values[i];

		if (v->stack)
			sums[s->stacks[v->stack].function] += (double)v->samples;
	}
	return largest(s, sums);
}

static int summarise_cpu(struct mew_session *s, struct mew_pcase *c, double *sums)
{
	const char *top = mew_session_text(s, "<no samples>");
	double user = 0, self = 0;
	uint64_t samples = 0;
	uint32_t best;
	size_t i;

	for (i = 0; i < c->n_values; i++) {
		const struct mew_pvalue *v = &c->values[i];

		user += v->weight_s;
		samples += v->samples;
		if (v->stack)
			sums[s->stacks[v->stack].function] += v->weight_s;
	}
	best = largest(s, sums);
	if (best != MEW_NO_FUNCTION)
		self = sums[best];
	else /* occurrences in a time too short to be told have no weight */
		best = most_sampled(s, c, sums);
	if (best != MEW_NO_FUNCTION)
		top = described(s, best);
	if (!top)
		return -ENOMEM;
	c->cpu.top_function = top;
	c->cpu.top_self_s = self;
	c->cpu.user_time_s = user;
	c->cpu.top_share = user > 0 ? self / user : NAN;
	c->cpu.top_share_half_width = user > 0 ? mew_share_half_width(self / user, samples) : NAN;
	return 0;
}

static int summarise_heap(struct mew_session *s, struct mew_pcase *c, double *sums)
{
	const char *top = mew_session_text(s, "-");
	double bytes = 0;
	int64_t live = 0;
	uint32_t best;
	size_t i;

	for (i = 0; i < c->n_values; i++) {
		const struct mew_pvalue *v = &c->values[i];
		struct mew_blame blame = mew_stack_blame(s, v->stack);

		live += v->peak_bytes;
		bytes += (double)v->bytes;
		if (blame.function != MEW_NO_FUNCTION)
			sums[blame.function] += (double)v->bytes;
	}
	best = largest(s, sums);
	if (best != MEW_NO_FUNCTION)
		top = described(s, best);
	if (!top)
		return -ENOMEM;
	c->heap.top_allocator = top;
	c->heap.top_allocator_share = best != MEW_NO_FUNCTION ? sums[best] / bytes : NAN;
	c->heap.total_bytes = live;
	return 0;
}

int mew_case_summarise(struct mew_session *s, struct mew_pcase *c)
{
	double *sums = calloc(s->n_functions + 1, sizeof(*sums));
	int err;

	if (!sums)
		return -ENOMEM;
	err = s->kind == MEW_SESSION_CPU ? summarise_cpu(s, c, sums) : summarise_heap(s, c, sums);
	free(sums);
	return err;
}
