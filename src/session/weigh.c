/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "session/weigh.h"

static int in_kernel(const struct mew_collect *c, const struct mew_collect_hit *h)
{
	return c->nodes[h->node].group == MEW_COLLECT_KERNEL;
}

/* An occurrence takes no time of its own: all have the same part of the loop's user time. */
static void weigh_occurrences(struct mew_collect *c, const struct mew_account *a,
			      mew_weigh_loop_fn in_loop, void *arg, struct mew_account_weights *w)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < c->n_hits; i++)
		if (!in_loop || in_loop(arg, c->hits[i].thread))
			samples += c->hits[i].samples;
	w->unsampled_user_s = samples ? 0 : a->user_s;
	for (size_t i = 0; i < c->n_hits && samples; i++)
		c->hits[i].weight_s = a->user_s * (double)c->hits[i].samples / (double)samples;
}

void mew_weigh(struct mew_collect *c, const struct mew_event *event, const struct mew_account *a,
	       mew_weigh_loop_fn in_loop, void *arg, struct mew_account_weights *ret)
{
	struct mew_account_samples s = {
		.of_user = !event->attr.exclude_user,
		.of_kernel = !event->attr.exclude_kernel && event->kind != MEW_EVENT_OTHER,
		.are_ticks = event->kind == MEW_EVENT_CLOCK,
	};

	for (size_t i = 0; i < c->n_hits; i++) {
		const struct mew_collect_hit *h = &c->hits[i];

		if (!in_loop || in_loop(arg, h->thread))
			*(in_kernel(c, h) ? &s.kernel : &s.user) += h->weight_s;
	}
	mew_account_weigh(a, &s, ret);
	if (event->kind == MEW_EVENT_OTHER) {
		weigh_occurrences(c, a, in_loop, arg, ret);
		return;
	}
	for (size_t i = 0; i < c->n_hits; i++)
		c->hits[i].weight_s *=
			in_kernel(c, &c->hits[i]) ? ret->kernel_factor : ret->user_factor;
}

void mew_weigh_row(const struct mew_account_weights *w, struct mew_cpu_row *row)
{
	row->kernel_time_s = w->kernel_s;
	row->user_time_s += w->unsampled_user_s - w->sampled_kernel_s;
}
