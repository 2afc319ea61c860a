/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>

#include "profile/account.h"

/*
 * The clock starts a period anew when a round enables it, so of clock_all / period ticks only whole
 * ones are delivered, and what follows the last of them is lost. The factor that makes up for it is
 * taken over all rounds: rounds too short for a single tick are then covered by the longer ones.
 */
void mew_account_add(struct mew_account *a, const struct mew_account_round *r)
{
	/* There were as many ticks as came, at least. */
	double most_s = r->clock_all_s - (double)r->ticks * r->period_s;
	double lost_s = fmax(0, fmin(r->unticked_s, most_s)), clock_s = r->clock_all_s - lost_s;
	/* A count of exactly n periods must not lose its last tick to rounding. */
	double expected = r->period_s > 0 ? floor(clock_s / r->period_s + 1e-9) : 0;

	a->unticked_s += lost_s;
	a->wall_s += r->wall_s;
	a->off_s += r->off_s;
	a->sum.count_s += r->count_s - lost_s;
	a->sum.clock_all_s += clock_s;
	a->sum.expected_s += expected * r->period_s;
	a->sum.delivered_s += (double)r->ticks * r->period_s;
	a->sum.expected_s2 += expected * r->period_s * r->period_s;
	/* what follows the last tick of each is anything up to a period */
	a->sum.period_s2 += r->period_s * r->period_s * (1 + (double)r->n_more_ends / 12);
}

/*
 * Each expected tick falls into user mode outside pauses or elsewhere: binomial. The end of a round
 * adds one tick that may or may not have been in time.
 */
static double user_error(const struct mew_account *a)
{
	double p = a->sum.expected_s > 0 ? a->sum.delivered_s / a->sum.expected_s : 0;

	if (p > 1)
		p = 1;
	return a->weight_scale * sqrt(a->sum.expected_s2 * p * (1 - p) + a->sum.period_s2);
}

void mew_account_finish(struct mew_account *a)
{
	a->weight_scale = 1;
	if (a->sum.expected_s > 0)
		a->weight_scale = a->sum.clock_all_s / a->sum.expected_s;
	a->user_s = a->weight_scale * a->sum.delivered_s;
	a->kernel_s = a->sum.count_s - a->user_s;
	a->kernel_error_s = user_error(a);
	if (fabs(a->kernel_s) < 2 * a->kernel_error_s || a->sum.expected_s <= 0) {
		a->user_s = a->sum.count_s;
		a->kernel_s = 0;
		if (a->sum.delivered_s > 0)
			a->weight_scale = a->user_s / a->sum.delivered_s;
	} else if (a->kernel_s < 0) {
		/* More ticks than the clock has run: stays visible as unexplained. */
		a->kernel_s = 0;
	}
	a->unexplained_s = a->wall_s - a->user_s - a->kernel_s - a->off_s;
}

/* All samples are of one mode, with time_s for them, or are not told apart. */
static void weigh_alike(const struct mew_account_samples *s, double time_s,
			struct mew_account_weights *w)
{
	double samples = s->user + s->kernel;

	if (samples > 0)
		w->user_factor = w->kernel_factor = time_s / samples;
}

static void weigh_kernel(const struct mew_account *a, const struct mew_account_samples *s,
			 struct mew_account_weights *w)
{
	w->kernel_s = s->are_ticks ? a->user_s : a->kernel_s;
	w->user_s = w->unsampled_user_s = s->are_ticks ? a->kernel_s : a->user_s;
	weigh_alike(s, w->kernel_s, w);
	if (s->user + s->kernel > 0)
		w->sampled_kernel_s = w->kernel_s;
}

static void weigh_both(const struct mew_account *a, const struct mew_account_samples *s,
		       struct mew_account_weights *w)
{
	if (s->are_ticks || !(a->kernel_s > 0)) {
		weigh_alike(s, a->user_s, w);
		w->kernel_s = w->sampled_kernel_s = w->kernel_factor * s->kernel;
		w->user_s = a->user_s - w->kernel_s;
		w->unexplained_s += a->kernel_s;
		return;
	}
	if (s->user > 0)
		w->user_factor = a->user_s / s->user;
	else
		w->unsampled_user_s = a->user_s;
	if (s->kernel > 0) {
		w->kernel_factor = a->kernel_s / s->kernel;
		w->sampled_kernel_s = a->kernel_s;
	}
}

void mew_account_weigh(const struct mew_account *a, const struct mew_account_samples *s,
		       struct mew_account_weights *ret)
{
	struct mew_account_weights w = {
		.user_factor = 1,
		.kernel_factor = 1,
		.user_s = a->user_s,
		.kernel_s = a->kernel_s,
		.unexplained_s = a->unexplained_s,
	};

	if (s->of_user && s->of_kernel)
		weigh_both(a, s, &w);
	else if (s->of_kernel)
		weigh_kernel(a, s, &w);
	else if (a->user_s > 0)
		weigh_alike(s, a->user_s, &w);
	if (!s->of_kernel && s->user + s->kernel <= 0)
		w.unsampled_user_s = a->user_s;
	*ret = w;
}
