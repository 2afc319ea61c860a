/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/plan.h"

/* Warm-up: enough of either, and of elapsed time never more than a tenth of ELAPSED_MAX_S. */
#define WARM_S 0.01
enum { WARM_ITERATIONS = 1000 };

/* A round of loop time; short enough for several pairs, long against what starting one costs. */
#define ROUND_S 0.075
#define ROUND_ELAPSED_S 0.5 /* with its pauses */
/* A round starts the period anew, so what is shorter than one has no sample at all. */
#define ROUND_PERIODS 8
enum { ROUND_START = 1000 };
/* A round that came out much shorter than planned grows by this much at most at once. */
enum { ROUND_GROWTH = 100 };

/* Enough. Five pairs give the spread and the median something to stand on. */
enum { SAMPLES_ENOUGH = 1000, ITERATIONS_ENOUGH = 30, PAIRS_ENOUGH = 5 };
#define SAMPLED_MAX_S 5.0
#define ELAPSED_MAX_S 10.0

/* Iterations that are given are done in chunks; one of less than this measures its own borders. */
enum { CHUNKS_MAX = 16 };
#define CHUNK_S 0.005

#define INTERVAL_START_S 1e-4
#define INTERVAL_MAX_S 1e-2
#define START_SPAN 4
#define SLOW_LIMIT 0.05
#define SLOW_GOAL 0.045
#define JITTER 0.1

static double at_most(double value, double limit)
{
	return value < limit ? value : limit;
}

static double at_least(double value, double limit)
{
	return value > limit ? value : limit;
}

/* The shortest of the intervals 1, 1.5, 2, 3, 5, 7 x 10^k that is not below s. */
static double round_interval(double s)
{
	static const double steps[] = {1, 1.5, 2, 3, 5, 7, 10};
	double unit = INTERVAL_START_S;
	size_t i;

	while (s > unit * 10 * (1 + 1e-9))
		unit *= 10;
	for (i = 0; i < 6; i++)
		if (s <= unit * steps[i] * (1 + 1e-9))
			break;
	return at_most(unit * steps[i], INTERVAL_MAX_S);
}

void mew_plan_init(struct mew_plan *p, const struct mew_plan_options *options)
{
	memset(p, 0, sizeof(*p));
	p->options = *options;
	if (!p->options.n_threads)
		p->options.n_threads = 1;
	p->interval_s = options->interval_s > 0 ? options->interval_s
			: options->start_s > 0  ? round_interval(options->start_s)
						: INTERVAL_START_S;
	/* A start that was measured is not far off: noise must not drive it away. */
	p->interval_max_s = options->start_s > 0
				    ? at_most(START_SPAN * p->interval_s, INTERVAL_MAX_S)
				    : INTERVAL_MAX_S;
	p->random = options->seed;
}

/* splitmix64 */
static uint64_t next_random(struct mew_plan *p)
{
	uint64_t x = p->random += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t jittered_ns(struct mew_plan *p)
{
	double u = (double)(next_random(p) >> 11) * 0x1p-53; /* [0, 1) */
	double ns = p->interval_s * 1e9 * (1 + JITTER * (2 * u - 1));

	return ns < 1 ? 1 : (uint64_t)(ns + 0.5);
}

static struct mew_plan_round give(struct mew_plan *p, enum mew_round_kind kind, uint64_t iterations)
{
	int discard = p->round.discard;

	p->round = (struct mew_plan_round){.kind = kind, .iterations = iterations ? iterations : 1};
	if (kind == MEW_ROUND_SAMPLED)
		p->round.period_ns = jittered_ns(p);
	if (kind == MEW_ROUND_PLAIN)
		p->round.discard = discard;
	return p->round;
}

/* Iterations of each thread for a round of the usual length. */
static uint64_t round_size(const struct mew_plan *p)
{
	double round_s = at_least(ROUND_S, ROUND_PERIODS * p->interval_s);
	double elapsed_s = at_least(ROUND_ELAPSED_S, round_s);
	double n = at_most(round_s / p->iteration_s, elapsed_s / p->elapsed_iteration_s);

	if (n < 1)
		return 1;
	if (n >= 1e15)
		return (uint64_t)1e15;
	return n < ROUND_START ? (uint64_t)n : (uint64_t)(n / ROUND_START) * ROUND_START;
}

/* The same, with what time is left; 0: none, but for the first pair, which is always done. */
static uint64_t pair_size(const struct mew_plan *p)
{
	double n = (double)round_size(p);

	n = at_most(n, (SAMPLED_MAX_S - p->sampled_wall_s) / p->iteration_s);
	n = at_most(n, (ELAPSED_MAX_S - p->elapsed_s) / (2 * p->elapsed_iteration_s));
	if (n < 1)
		return !p->n_ratios;
	return (uint64_t)n;
}

static uint64_t chunk_size(const struct mew_plan *p)
{
	uint64_t n = p->options.iterations, k = p->n_chunks, size = n / k;

	return size + (p->chunk < n % k);
}

static void begin_chunks(struct mew_plan *p)
{
	double chunk_s = at_least(CHUNK_S, ROUND_PERIODS * p->interval_s);
	double n = p->least_iteration_s * (double)p->options.iterations / chunk_s;

	p->n_chunks = n >= CHUNKS_MAX ? CHUNKS_MAX : n < 1 ? 1 : (uint64_t)n;
	if (p->n_chunks > p->options.iterations)
		p->n_chunks = p->options.iterations;
}

/* Iterations that the warm-up still wants; 0: it is over. */
static uint64_t warm_up_more(const struct mew_plan *p)
{
	uint64_t limit = WARM_ITERATIONS, n;
	double time;

	if (p->options.iterations && p->options.iterations / 10 < limit)
		limit = p->options.iterations / 10;
	if (p->warm_iterations >= limit)
		return 0;
	time = at_most((WARM_S - p->warm_elapsed_s) / p->iteration_s,
		       (ELAPSED_MAX_S / 10 - p->warm_elapsed_s) / p->elapsed_iteration_s);
	if (time < 1)
		return 0;
	/* Step by step: the first iteration is the slowest. */
	n = limit - p->warm_iterations;
	if (n > 9 * p->warm_iterations)
		n = 9 * p->warm_iterations;
	return (double)n < time ? n : (uint64_t)time;
}

static struct mew_plan_round after_warm_up(struct mew_plan *p, double elapsed_s)
{
	uint64_t n;

	if (!p->warm_iterations || p->iteration_s < p->least_iteration_s)
		p->least_iteration_s = p->iteration_s;
	p->warm_iterations += p->round.iterations;
	p->warm_elapsed_s += elapsed_s;
	n = warm_up_more(p);
	if (n)
		return give(p, MEW_ROUND_WARM_UP, n);
	if (p->options.iterations) {
		begin_chunks(p);
		return give(p, MEW_ROUND_PLAIN, chunk_size(p));
	}
	n = pair_size(p);
	return give(p, MEW_ROUND_PLAIN, n < ROUND_START ? n : ROUND_START);
}

static struct mew_plan_round after_plain(struct mew_plan *p, const struct mew_plan_facts *f)
{
	uint64_t n = p->round.iterations, wanted;

	if (!p->options.iterations && !p->n_plain) {
		/* A starting size that is over at once is no measurement: grow first. */
		wanted = pair_size(p);
		if (wanted >= 2 * n)
			return give(p, MEW_ROUND_PLAIN,
				    wanted / n > ROUND_GROWTH ? n * ROUND_GROWTH : wanted);
	}
	p->plain_s += (double)f->loop_ns / 1e9;
	p->plain_iterations += f->iterations;
	if (p->n_plain < MEW_PLAN_PAIRS)
		p->plain[p->n_plain++] = p->iteration_s;
	return give(p, MEW_ROUND_SAMPLED, n);
}

static void add_sampled(struct mew_plan_sampled *sum, const struct mew_plan_facts *f,
			double plain_s)
{
	sum->sampled_s += (double)f->loop_ns / 1e9;
	sum->plain_s += plain_s;
	sum->iterations += f->iterations;
	sum->ticks += f->ticks;
	sum->samples += f->samples;
}

static double tick_cost(const struct mew_plan_sampled *sum)
{
	return sum->ticks ? (sum->sampled_s - sum->plain_s) / (double)sum->ticks : NAN;
}

/* Lengthens the interval when its ticks slow the loop too much. Whether it did. */
static bool adapt_interval(struct mew_plan *p)
{
	const struct mew_plan_sampled *sum = &p->at_interval;
	double slow = sum->plain_s > 0 ? sum->sampled_s / sum->plain_s - 1 : 0;
	double cost = tick_cost(sum), wanted;

	if (p->options.interval_s > 0 || !sum->ticks || slow <= SLOW_LIMIT ||
	    p->interval_s >= p->interval_max_s * (1 - 1e-9))
		return false;
	/* A tick costs c in each interval i: the loop takes i for i - c of its own. */
	wanted = round_interval(cost * (1 + 1 / SLOW_GOAL));
	if (wanted <= p->interval_s * (1 + 1e-9))
		wanted = round_interval(p->interval_s * 1.2);
	p->interval_s = at_most(wanted, p->interval_max_s);
	p->at_interval = (struct mew_plan_sampled){0};
	return true;
}

/* Whether what was sampled can be thrown away; else its weights keep the figures right. */
static bool is_cheap(const struct mew_plan *p)
{
	return p->n_discards < MEW_PLAN_DISCARDS && p->sampled_wall_s < SAMPLED_MAX_S / 5 &&
	       p->elapsed_s < ELAPSED_MAX_S / 5;
}

static void discard_sampled(struct mew_plan *p)
{
	p->sampled = (struct mew_plan_sampled){0};
	p->n_ratios = 0;
	p->n_discards++;
	p->round.discard = 1;
}

static bool is_enough(const struct mew_plan *p)
{
	if (p->n_plain >= MEW_PLAN_PAIRS || p->sampled_wall_s >= SAMPLED_MAX_S ||
	    p->elapsed_s >= ELAPSED_MAX_S)
		return true;
	return p->sampled.samples >= SAMPLES_ENOUGH && p->sampled.iterations >= ITERATIONS_ENOUGH &&
	       p->n_ratios >= PAIRS_ENOUGH;
}

static struct mew_plan_round after_sampled(struct mew_plan *p, const struct mew_plan_facts *f)
{
	double plain = p->plain[p->n_plain - 1];
	bool stop;

	add_sampled(&p->sampled, f, plain * (double)f->iterations);
	add_sampled(&p->at_interval, f, plain * (double)f->iterations);
	p->sampled_wall_s += (double)f->wall_ns / 1e9;
	if (p->n_ratios < MEW_PLAN_PAIRS)
		p->ratio[p->n_ratios++] = p->iteration_s / plain;
	if (p->options.iterations) {
		/* Exactly so many: nothing is thrown away, each tick has its own weight. */
		adapt_interval(p);
		p->chunk++;
		if (p->chunk >= p->n_chunks)
			return give(p, MEW_ROUND_STOP, 1);
		return give(p, MEW_ROUND_PLAIN, chunk_size(p));
	}
	if (f->useless && is_cheap(p)) {
		discard_sampled(p);
		return give(p, MEW_ROUND_PLAIN, pair_size(p));
	}
	stop = is_enough(p) || !pair_size(p);
	if (!stop && adapt_interval(p) && is_cheap(p))
		discard_sampled(p);
	return stop ? give(p, MEW_ROUND_STOP, 1) : give(p, MEW_ROUND_PLAIN, pair_size(p));
}

struct mew_plan_round mew_plan_next(struct mew_plan *p, const struct mew_plan_facts *f)
{
	double elapsed_s;

	if (!f)
		return give(p, MEW_ROUND_WARM_UP, 1);
	if (f->left_early || !f->iterations || p->round.kind == MEW_ROUND_STOP ||
	    f->kind != p->round.kind)
		return give(p, MEW_ROUND_STOP, 1);
	elapsed_s = ((double)f->wall_ns + (double)f->paused_ns / p->options.n_threads) / 1e9;
	p->elapsed_s += elapsed_s;
	/* A clock that did not move says less than its own step. */
	p->iteration_s = ((double)f->loop_ns + 1) / 1e9 / (double)f->iterations;
	p->elapsed_iteration_s = (elapsed_s + 1e-9) / (double)p->round.iterations;
	switch (f->kind) {
	case MEW_ROUND_WARM_UP:
		return after_warm_up(p, elapsed_s);
	case MEW_ROUND_PLAIN:
		return after_plain(p, f);
	case MEW_ROUND_SAMPLED:
		return after_sampled(p, f);
	default:
		return give(p, MEW_ROUND_STOP, 1);
	}
}

/* Student's t: 95 % of its distribution with df degrees of freedom lie within this. */
static double t95(unsigned df)
{
	static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
				   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
				   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
				   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

	return df <= 30 ? t[df - 1] : 1.96;
}

static double spread(const double *x, unsigned n)
{
	double mean = 0, squares = 0;
	unsigned i;

	if (n < 2)
		return NAN;
	for (i = 0; i < n; i++)
		mean += x[i] / n;
	for (i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return t95(n - 1) * sqrt(squares / (n - 1) / n) / mean;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The two rounds of a pair run one after the other, so their ratio is free of a slow drift, and the
 * median of the ratios of a single disturbed round; a ratio of totals is free of neither.
 */
static double median(const double *x, unsigned n)
{
	double sorted[MEW_PLAN_PAIRS];

	if (!n)
		return NAN;
	memcpy(sorted, x, n * sizeof(*x));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return (sorted[n / 2] + sorted[(n - 1) / 2]) / 2;
}

struct mew_plan_result mew_plan_result(const struct mew_plan *p)
{
	return (struct mew_plan_result){
		.time_per_iteration_s =
			p->plain_iterations ? p->plain_s / (double)p->plain_iterations : NAN,
		.time_spread = spread(p->plain, p->n_plain),
		.slowdown = median(p->ratio, p->n_ratios),
		.tick_cost_s = tick_cost(&p->sampled),
		.interval_s = p->interval_s,
		.sampled_iterations = p->sampled.iterations,
		.plain_iterations = p->plain_iterations,
		.n_pairs = p->n_ratios,
	};
}
